import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type TestOrg, useApp } from '../../../support/app.ts'
import type { Client } from '../../../support/client.ts'
import { type Kind, type RecordJson, create, idsOf, remove, useDatabase } from '../../../support/master-data.ts'
import { propertyRuns } from '../../../support/rounds.ts'

const start = Date.parse('2031-03-04T05:06:07.890Z')
let millis = start
const context = useApp({ clock: { millis: () => millis } })
const database = useDatabase(context)
const kinds: [Kind][] = [['assets'], ['locations']]
const at = (offsetMs: number): string => new Date(start + offsetMs).toISOString()

const flags = [undefined, true, false]
const views = flags.flatMap((includeDeleted) => flags.map((isActive) => ({ includeDeleted, isActive })))

/** Compares every combination of the two flags, with and without a search, with a count of the rows. */
async function expectExact(org: TestOrg, client: Client, kind: Kind): Promise<void> {
  const { sql } = database
  const now = new Date(millis).toISOString()
  for (const { includeDeleted, isActive } of views) {
    const rows = await sql<{ id: number }[]>`
      select id from ${sql(kind)}
      where org_id = ${org.orgId} and valid_from <= ${now} and (valid_to is null or ${now} < valid_to)
        and (${includeDeleted ?? false} or deleted_at is null)
        and (${isActive ?? null}::boolean is null or is_active = ${isActive ?? null}::boolean)`
    const expected = rows.map((row) => row.id).sort((a, b) => a - b)
    const query: Record<string, string | boolean | number> = { limit: 200 }
    if (includeDeleted !== undefined) query['include_deleted'] = includeDeleted
    if (isActive !== undefined) query['is_active'] = isActive
    for (const more of [{}, { q: 'count' }]) {
      const reply = await client.get(`/api/v1/${kind}`, { ...query, ...more })
      expect(reply.status).toBe(200)
      const seen = { query, more, total: reply.json.total_count as number, ids: idsOf(reply).sort((a, b) => a - b) }
      expect(seen).toEqual({ query, more, total: expected.length, ids: expected })
    }
    const page = await client.get(`/api/v1/${kind}`, { ...query, limit: 1, offset: 1_000_000 })
    expect([page.json.total_count, page.json.data]).toEqual([expected.length, []])
  }
}

describe.each(kinds)('total_count of the list of %s', (kind) => {
  it('is exact after every kind of write and at every edge of a window', async () => {
    millis = start
    const org = await context.app.newOrg()
    const client = org.full
    const path = `/api/v1/${kind}`
    const make = (body: object = {}): Promise<RecordJson> => create(client, kind, { name: 'count me', ...body })
    const check = (): Promise<void> => expectExact(org, client, kind)

    await check()
    const plain = await make()
    await check()
    const idle = await make({ is_active: false })
    await check()
    const short = await make({ valid_to: at(1000) })
    const idleShort = await make({ valid_to: at(1000), is_active: false })
    const early = await make({ valid_from: at(2000) })
    const between = await make({ valid_from: at(1000), valid_to: at(2000), is_active: false })
    await make({ valid_from: at(-2000), valid_to: at(-1000) })
    await check()
    await client.patch(`${path}/${plain.id}`, { is_active: false })
    await check()
    await client.patch(`${path}/${idle.id}`, { is_active: true })
    await client.patch(`${path}/${idle.id}`, { is_active: true })
    await check()
    for (const rejected of [
      await client.patch(`${path}/${idle.id}`, { is_active: false, name: '' }),
      await client.patch(`${path}/${idle.id}`, { is_active: false, updated_at: at(-1) }),
      await client.post(path, { name: 'count me', external_key: plain.external_key }),
      await client.post(path, { name: 'count me', valid_to: at(-1) }),
      await client.delete(`${path}/9007199254740991`),
    ])
      expect(rejected.status).toBeGreaterThanOrEqual(400)
    await check()
    for (const edge of [999, 1000, 1999, 2000, 2001]) {
      millis = start + edge
      await check()
    }
    for (const row of [plain, short, idleShort, early, between]) {
      await remove(client, kind, row.id)
      await check()
    }
    expect((await client.delete(`${path}/${plain.id}`)).status).toBe(404)
    await client.post(`${path}/${idle.id}/rename`, { external_key: 'renamed' })
    await client.post(`${path}/${idle.id}/tags`, { tag_type: 'rfid', value: 'T' })
    await client.patch(`${path}/${idle.id}`, { valid_to: at(3000) })
    await check()
    millis = start + 3000
    await check()
    await client.patch(`${path}/${idle.id}`, { valid_to: null })
    await check()
    await client.patch(`${path}/${idle.id}`, { valid_from: at(9000) })
    await check()
  })

  it('is exact after any series of writes', async () => {
    const offsets = fc.option(fc.integer({ min: -3, max: 12 }), { nil: undefined })
    const step = fc.oneof(
      {
        weight: 4,
        arbitrary: fc.record({
          do: fc.constant('create' as const),
          isActive: fc.boolean(),
          from: offsets,
          to: offsets,
        }),
      },
      { weight: 2, arbitrary: fc.record({ do: fc.constant('delete' as const), pick: fc.nat() }) },
      {
        weight: 3,
        arbitrary: fc.record({ do: fc.constant('switch' as const), pick: fc.nat(), isActive: fc.boolean() }),
      },
      {
        weight: 3,
        arbitrary: fc.record({ do: fc.constant('window' as const), pick: fc.nat(), from: offsets, to: offsets }),
      },
      {
        weight: 2,
        arbitrary: fc.record({ do: fc.constant('wait' as const), seconds: fc.integer({ min: 1, max: 4 }) }),
      },
    )
    const window = (from: number | undefined, to: number | undefined): object => ({
      ...(from === undefined ? {} : { valid_from: at(from * 1000) }),
      ...(to === undefined ? {} : { valid_to: at(to * 1000) }),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 14 }), async (steps) => {
        millis = start
        const org = await context.app.newOrg()
        const client = org.full
        const ids: number[] = []
        for (const one of steps) {
          const path = `/api/v1/${kind}/${'pick' in one ? (ids[one.pick % ids.length] ?? 1) : ''}`
          if (one.do === 'wait') millis += one.seconds * 1000
          else if (one.do === 'delete') await client.delete(path)
          else if (one.do === 'switch') await client.patch(path, { is_active: one.isActive })
          else if (one.do === 'window') await client.patch(path, window(one.from, one.to))
          else {
            const body = { name: 'count me', is_active: one.isActive, ...window(one.from, one.to) }
            const reply = await client.post(`/api/v1/${kind}`, body)
            if (reply.status === 201) ids.push(reply.json.data.id)
          }
        }
        await expectExact(org, client, kind)
      }),
      { numRuns: propertyRuns(15) },
    )
  })

  it('counts only rows of the organization', async () => {
    millis = start
    const [mine, theirs] = [await context.app.newOrg(), await context.app.newOrg()]
    const [me, them] = [mine.full, theirs.full]
    for (let turn = 0; turn < 3; turn++) await create(me, kind, { name: 'count me' })
    const row = await create(them, kind, { name: 'count me', is_active: false })
    await expectExact(mine, me, kind)
    await expectExact(theirs, them, kind)
    await remove(them, kind, row.id)
    expect((await me.get(`/api/v1/${kind}`)).json.total_count).toBe(3)
    expect((await them.get(`/api/v1/${kind}`)).json.total_count).toBe(0)
    expect((await them.get(`/api/v1/${kind}`, 'include_deleted=true')).json.total_count).toBe(1)
  })
})
