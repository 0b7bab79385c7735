import { describe, expect, it } from 'vitest'
import { type TestOrg, useApp } from '../support/app.ts'
import type { Client, Reply } from '../support/client.ts'
import { type LocationJson, create, expectErrorStatus, useDatabase, useSecondProcess } from '../support/master-data.ts'
import { raceRounds } from '../support/rounds.ts'

const context = useApp()
const throughSecond = useSecondProcess(context)
const database = useDatabase(context)
const rounds = raceRounds(100)
const path = '/api/v1/locations'

const move = (client: Client, mover: LocationJson, under: LocationJson, byKey: boolean): Promise<Reply> =>
  client.patch(`${path}/${mover.id}`, byKey ? { parent_external_key: under.external_key } : { parent_id: under.id })

/** Live locations without a path to a root: they exist exactly when there is a cycle. */
async function countUnrooted(org: TestOrg): Promise<number> {
  const [row] = await database.sql<{ count: number }[]>`
    with recursive anchored as (
      select id from locations where org_id = ${org.orgId} and parent_id is null
      union all
      select l.id from anchored a join locations l on l.org_id = ${org.orgId} and l.parent_id = a.id
    )
    select count(*)::int as count from locations
    where org_id = ${org.orgId} and id not in (select id from anchored)`
  return row!.count
}

describe('two locations that are moved under each other at once', () => {
  it.each([
    ['by id', false],
    ['by key', true],
  ])(
    '%s never form a cycle: one move is accepted and the other is 409 (D23)',
    async (_what, byKey) => {
      const org = await context.app.newOrg()
      const client = org.full
      const other = throughSecond(org).full
      for (let round = 0; round < rounds; round++) {
        const a = await create(client, 'locations', { name: 'a' })
        const b = await create(client, 'locations', { name: 'b' })
        const replies = await Promise.all([move(client, a, b, byKey), move(other, b, a, byKey)])
        const [winner, loser] = replies.sort((one, other) => one.status - other.status)
        expect(winner.status).toBe(200)
        expectErrorStatus(loser, 409)
      }
      expect(await countUnrooted(org)).toBe(0)
    },
    120_000,
  )

  it('with several levels in between never form a cycle either', async () => {
    const org = await context.app.newOrg()
    const client = org.full
    const other = throughSecond(org).full
    const chain = async (name: string): Promise<LocationJson[]> => {
      const links = [await create(client, 'locations', { name })]
      for (let level = 1; level < 4; level++)
        links.push(await create(client, 'locations', { name, parent_id: links.at(-1)!.id }))
      return links
    }
    const [left, right] = [await chain('left'), await chain('right')]
    for (let round = 0; round < rounds / 4; round++) {
      const byKey = round % 2 === 0
      const replies = await Promise.all([
        move(client, left[0]!, right[3]!, byKey),
        move(other, right[0]!, left[3]!, !byKey),
      ])
      expect(replies.map((reply) => reply.status).sort()).toEqual([200, 409])
      for (const top of [left[0]!, right[0]!])
        expect((await client.patch(`${path}/${top.id}`, { parent_id: null })).status).toBe(200)
    }
    expect(await countUnrooted(org)).toBe(0)
  }, 120_000)

  it('in a ring of three allow at most two moves', async () => {
    const org = await context.app.newOrg()
    const client = org.full
    const other = throughSecond(org).full
    for (let round = 0; round < rounds / 4; round++) {
      const ring = []
      for (const name of ['a', 'b', 'c']) ring.push(await create(client, 'locations', { name }))
      const [a, b, c] = ring as [LocationJson, LocationJson, LocationJson]
      const replies = await Promise.all([move(client, a, b, false), move(other, b, c, true), move(client, c, a, false)])
      expect(replies.map((reply) => reply.status).sort()).toEqual([200, 200, 409])
    }
    expect(await countUnrooted(org)).toBe(0)
  }, 120_000)

  it('are moved while others rename and change them and add children, without a deadlock', async () => {
    const org = await context.app.newOrg()
    const client = org.full
    const other = throughSecond(org).full
    const a = await create(client, 'locations', { name: 'a' })
    const b = await create(client, 'locations', { name: 'b' })
    for (let round = 0; round < rounds / 4; round++) {
      const [first, second, ...rest] = await Promise.all([
        move(client, a, b, false),
        move(other, b, a, false),
        client.patch(`${path}/${a.id}`, { name: `a ${round}` }),
        other.post(`${path}/${b.id}/rename`, { external_key: `b ${round}` }),
        client.post(path, { name: 'child', parent_id: a.id }),
        other.patch(`${path}/${b.id}`, { parent_id: null }),
      ])
      for (const reply of [first, second]) expect([200, 409]).toContain(reply.status)
      expect(rest.map((reply) => reply.status)).toEqual([200, 200, 201, 200])
    }
    expect(await countUnrooted(org)).toBe(0)
  }, 120_000)
})
