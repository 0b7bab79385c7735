import { describe, expect, it } from 'vitest'
import { useApp } from '../support/app.ts'
import type { Client, Reply } from '../support/client.ts'
import {
  type LocationJson,
  create,
  expectValidationError,
  expectErrorStatus,
  remove,
  useDatabase,
  useSecondProcess,
} from '../support/master-data.ts'
import { raceRounds } from '../support/rounds.ts'

const context = useApp()
const throughSecond = useSecondProcess(context)
const database = useDatabase(context)
const rounds = raceRounds(100)
const path = '/api/v1/locations'

interface Contender {
  /** Creates the records for the race. */
  prepare?: (client: Client) => Promise<LocationJson>
  act: (client: Client, parent: LocationJson, ready: LocationJson | undefined) => Promise<Reply>
  accepted: number
  field: string
}

const contenders: [string, Contender][] = [
  [
    'a child is created by parent_id',
    { act: (client, { id }) => client.post(path, { name: 'child', parent_id: id }), accepted: 201, field: 'parent_id' },
  ],
  [
    'a child is created by parent_external_key',
    {
      act: (client, { external_key }) => client.post(path, { name: 'child', parent_external_key: external_key }),
      accepted: 201,
      field: 'parent_external_key',
    },
  ],
  [
    'a location is moved under it',
    {
      prepare: (client) => create(client, 'locations', { name: 'mover' }),
      act: (client, { id }, mover) => client.patch(`${path}/${mover!.id}`, { parent_id: id }),
      accepted: 200,
      field: 'parent_id',
    },
  ],
]

describe('a location that is deleted while', () => {
  it.each(contenders)(
    '%s is never deleted while it has a live child',
    async (_what, contender) => {
      const org = await context.app.newOrg()
      const client = org.full
      const other = throughSecond(org).full
      const outcomes = { deleted: 0, adopted: 0 }
      // A busy machine may end many rounds alike, and a race that always ends alike is none.
      const isOneSided = (): boolean => Math.min(outcomes.adopted, outcomes.deleted) === 0
      for (let round = 0; round < rounds || (isOneSided() && round < 10 * rounds); round++) {
        const parent = await create(client, 'locations', { name: 'parent' })
        const ready = await contender.prepare?.(client)
        const adopting = (): Promise<Reply> => contender.act(client, parent, ready)
        const deleting = (): Promise<Reply> => other.delete(`${path}/${parent.id}`)
        const inOrder = round % 2 === 0
        const [first, second] = await Promise.all(inOrder ? [adopting(), deleting()] : [deleting(), adopting()])
        const [adoption, deletion] = inOrder ? [first, second] : [second, first]
        if (adoption.status === contender.accepted) {
          outcomes.adopted++
          expectErrorStatus(deletion, 409)
          expect(adoption.json.data.parent_id).toBe(parent.id)
          expect((await client.get(`${path}/${parent.id}`)).status).toBe(200)
        } else {
          outcomes.deleted++
          expectValidationError(adoption, [contender.field, 'fk_not_found'])
          expect(deletion.status).toBe(204)
        }
      }
      const orphans = await database.sql`
      select child.id from locations child join locations parent on parent.org_id = child.org_id and parent.id = child.parent_id
      where child.org_id = ${org.orgId} and child.deleted_at is null and parent.deleted_at is not null`
      expect(orphans).toHaveLength(0)
      expect(isOneSided(), 'every round ended alike').toBe(false)
    },
    120_000,
  )

  it('several children are created concurrently is rejected unless it was first', async () => {
    const org = await context.app.newOrg()
    const client = org.full
    const other = throughSecond(org).full
    for (let round = 0; round < rounds / 4; round++) {
      const parent = await create(client, 'locations', { name: 'parent' })
      const births = [1, 2, 3].map(() => client.post(path, { name: 'child', parent_id: parent.id }))
      const [deletion, ...children] = await Promise.all([other.delete(`${path}/${parent.id}`), ...births])
      const born = children.filter((child) => child.status === 201)
      for (const child of children)
        if (child.status !== 201) expectValidationError(child, ['parent_id', 'fk_not_found'])
      if (born.length > 0) expectErrorStatus(deletion, 409)
      else expect(deletion.status).toBe(204)
      if (deletion.status === 409) expect(born).toHaveLength(3)
    }
  }, 120_000)

  it('its last child is deleted is deleted or kept consistently', async () => {
    const org = await context.app.newOrg()
    const client = org.full
    const other = throughSecond(org).full
    for (let round = 0; round < rounds / 4; round++) {
      const parent = await create(client, 'locations', { name: 'parent' })
      const child = await create(client, 'locations', { name: 'child', parent_id: parent.id })
      const [above, below] = await Promise.all([
        other.delete(`${path}/${parent.id}`),
        client.delete(`${path}/${child.id}`),
      ])
      expect(below.status).toBe(204)
      if (above.status !== 204) {
        expectErrorStatus(above, 409)
        await remove(client, 'locations', parent.id)
      }
    }
  }, 120_000)
})
