import { describe, expect, it } from 'vitest'
import { type TestOrg, useApp } from '../support/app.ts'
import type { Client, Reply } from '../support/client.ts'
import { type LocationJson, create, useDatabase, useSecondProcess } from '../support/master-data.ts'
import { raceRounds } from '../support/rounds.ts'

const context = useApp()
const throughSecond = useSecondProcess(context)
const database = useDatabase(context)
const rounds = raceRounds(60)
const path = '/api/v1/locations'

async function deepestLevel(org: TestOrg): Promise<number> {
  const [row] = await database.sql<{ deepest: number }[]>`
    with recursive down as (
      select id, 1 as level from locations where org_id = ${org.orgId} and parent_id is null and deleted_at is null
      union all
      select l.id, down.level + 1 from down
      join locations l on l.org_id = ${org.orgId} and l.parent_id = down.id and l.deleted_at is null
    )
    select max(level)::int as deepest from down`
  return row!.deepest
}

async function chainOf(client: Client, levels: number): Promise<LocationJson[]> {
  const links: LocationJson[] = []
  for (let level = 1; level <= levels; level++)
    links.push(await create(client, 'locations', { name: 'x', parent_id: links.at(-1)?.id ?? null }))
  return links
}

const move = (client: Client, id: number, parentId: number | null): Promise<Reply> =>
  client.patch(`${path}/${id}`, { parent_id: parentId })

describe('A tree of locations that grows from two sides at once', () => {
  it('never passes 64 levels: of a create below a location and its move down, one is 409 [D52]', async () => {
    const org = await context.app.newOrg()
    const [client, other] = [org.full, throughSecond(org).full]
    const chain = await chainOf(client, 63)
    for (let round = 0; round < rounds; round++) {
      const mover = await create(client, 'locations', { name: 'mover' })
      const replies = await Promise.all([
        client.post(path, { name: 'child', parent_id: mover.id }),
        move(other, mover.id, chain[62]!.id),
      ])
      const statuses = replies.map((reply) => reply.status)
      expect([
        [201, 409],
        [409, 200],
      ]).toContainEqual(statuses)
    }
    expect(await deepestLevel(org)).toBe(64)
  }, 120_000)

  it('never passes 64 levels: of two moves that only fit one without the other, one is 409 [D52]', async () => {
    const org = await context.app.newOrg()
    const [client, other] = [org.full, throughSecond(org).full]
    const chain = await chainOf(client, 62)
    for (let round = 0; round < rounds; round++) {
      const [upper, lower] = [await chainOf(client, 1), await chainOf(client, 2)]
      const replies = await Promise.all([
        move(client, upper[0]!.id, chain[61]!.id),
        move(other, lower[0]!.id, upper[0]!.id),
      ])
      expect(replies.map((reply) => reply.status).sort()).toEqual([200, 409])
    }
    expect(await deepestLevel(org)).toBeLessThanOrEqual(64)
  }, 120_000)
})
