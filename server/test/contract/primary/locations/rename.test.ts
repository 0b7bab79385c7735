import { beforeAll, describe, expect, it } from 'vitest'
import { type TestOrg, useApp } from '../../../support/app.ts'
import type { Client, Reply } from '../../../support/client.ts'
import {
  type LocationJson,
  type FieldError,
  expectNoChange,
  create,
  expectValidationError,
  expectErrorStatus,
  remove,
  useDatabase,
} from '../../../support/master-data.ts'

let millis = Date.parse('2031-03-04T05:06:07.890Z')
const context = useApp({ clock: { millis: () => millis } })
const database = useDatabase(context)

let org: TestOrg
let client: Client

beforeAll(async () => {
  org = await context.app.newOrg()
  client = org.full
})

const rename = (id: number, body: unknown): Promise<Reply> => client.post(`/api/v1/locations/${id}/rename`, body)
const read = async (id: number): Promise<LocationJson> => (await client.get(`/api/v1/locations/${id}`)).json.data
const make = (body: object): Promise<LocationJson> => create(client, 'locations', { name: 'x', ...body })

describe('renaming a location', () => {
  it('answers the location under its new key with the count, and advances updated_at (D20)', async () => {
    const dock = await make({ description: 'kept', is_active: false, tags: [{ tag_type: 'rfid', value: 'KEPT' }] })
    millis += 7
    const reply = await rename(dock.id, { external_key: 'DOCK/4 % ü' })
    expect(reply.status).toBe(200)
    const renamed = { ...dock, external_key: 'DOCK/4 % ü', updated_at: new Date(millis).toISOString() }
    expect(reply.json).toEqual({ data: { ...renamed, descendant_count_affected: 0 } })
    expect(await read(dock.id)).toEqual(renamed)
  })

  it('advances updated_at strictly, also within one millisecond (D21)', async () => {
    const dock = await make({ external_key: 'FAST-0' })
    for (let turn = 1; turn <= 3; turn++) {
      const reply = await rename(dock.id, { external_key: `FAST-${turn}` })
      expect(Date.parse(reply.json.data.updated_at)).toBe(Date.parse(dock.updated_at) + turn)
    }
  })

  it('counts live descendants at every level, including inactive and expired ones and excluding deleted ones (D20)', async () => {
    const top = await make({ external_key: 'COUNT' })
    const left = await make({ parent_id: top.id, is_active: false })
    const right = await make({ parent_id: top.id })
    await make({ parent_id: left.id, valid_from: '2001-01-01T00:00:00Z', valid_to: '2001-01-02T00:00:00Z' })
    const deep = await make({ parent_id: right.id, valid_from: '2999-01-01T00:00:00Z' })
    await make({ parent_id: deep.id })
    for (const over of [top, right, deep]) await remove(client, 'locations', (await make({ parent_id: over.id })).id)
    await make({ name: 'beside it' })
    expect((await rename(top.id, { external_key: 'COUNT-2' })).json.data.descendant_count_affected).toBe(5)
    expect((await rename(right.id, { external_key: 'RIGHT' })).json.data.descendant_count_affected).toBe(2)
    expect((await rename(deep.id, { external_key: 'DEEP' })).json.data.descendant_count_affected).toBe(1)
  })

  it('counts 0 and changes nothing when the key is the one it has, updated_at included (D20)', async () => {
    const dock = await make({ external_key: 'SAME' })
    await make({ parent_id: dock.id })
    millis += 10
    const reply = await expectNoChange(database.sql, org, () => rename(dock.id, { external_key: 'SAME' }))
    expect(reply.status).toBe(200)
    expect(reply.json).toEqual({ data: { ...dock, descendant_count_affected: 0 } })
  })

  it('does not change the rows of descendants, and children show the new parent key (D20)', async () => {
    const top = await make({ external_key: 'OLD-TOP' })
    const child = await make({ external_key: 'CHILD', parent_id: top.id })
    const grandchild = await make({ external_key: 'GRANDCHILD', parent_id: child.id })
    const below = () => database.sql`select l::text as row from locations l
      where org_id = ${org.orgId} and id in (${child.id}, ${grandchild.id}) order by id`
    const before = await below()
    millis += 10
    expect((await rename(top.id, { external_key: 'NEW-TOP' })).json.data.descendant_count_affected).toBe(2)
    expect([...(await below())]).toEqual([...before])
    expect(await read(child.id)).toEqual({ ...child, parent_external_key: 'NEW-TOP' })
    expect(await read(grandchild.id)).toEqual(grandchild)
    const listed = await client.get('/api/v1/locations', { parent_external_key: 'NEW-TOP' })
    expect(listed.json.data).toEqual([{ ...child, parent_external_key: 'NEW-TOP' }])
    expect((await client.get('/api/v1/locations', { parent_external_key: 'OLD-TOP' })).json.data).toEqual([])
  })

  it('frees the old key at once and takes the new one', async () => {
    const dock = await make({ external_key: 'FORMER' })
    expect((await rename(dock.id, { external_key: 'LATTER' })).status).toBe(200)
    expectErrorStatus(await client.post('/api/v1/locations', { name: 'x', external_key: 'LATTER' }), 409)
    expectValidationError(await client.post('/api/v1/locations', { name: 'x', parent_external_key: 'FORMER' }), [
      'parent_external_key',
      'fk_not_found',
    ])
    await make({ external_key: 'FORMER', parent_external_key: 'LATTER' })
    expectErrorStatus(await rename(dock.id, { external_key: 'FORMER' }), 409)
  })

  it('accepts a key that differs only in case, or that a deleted or foreign location has', async () => {
    const dock = await make({ external_key: 'CASE' })
    expect((await rename(dock.id, { external_key: 'case' })).json.data.external_key).toBe('case')
    const gone = await make({ external_key: 'FREED' })
    await remove(client, 'locations', gone.id)
    expect((await rename(dock.id, { external_key: 'FREED' })).status).toBe(200)
    await create((await context.app.newOrg()).full, 'locations', { name: 'x', external_key: 'THEIRS' })
    expect((await rename(dock.id, { external_key: 'THEIRS' })).status).toBe(200)
  })

  it('makes generated keys skip a key chosen by rename (D18)', async () => {
    const mine = (await context.app.newOrg()).full
    const first = await create(mine, 'locations', { name: 'x' })
    expect((await mine.post(`/api/v1/locations/${first.id}/rename`, { external_key: 'LOC-002' })).status).toBe(200)
    expect((await create(mine, 'locations', { name: 'x' })).external_key).toBe('LOC-003')
  })
})

describe('renaming a location rejects', () => {
  it('a key of a live location, with 409', async () => {
    const dock = await make({ external_key: 'ONE' })
    await make({ external_key: 'TWO', is_active: false })
    expectErrorStatus(await expectNoChange(database.sql, org, () => rename(dock.id, { external_key: 'TWO' })), 409)
  })

  const cases: [what: string, body: object, ...problems: FieldError[]][] = [
    ['a body without a key', {}, ['external_key', 'required']],
    ['a null key', { external_key: null }, ['external_key', 'invalid_value']],
    ['an empty key', { external_key: '' }, ['external_key', 'too_short', { min_length: 1 }]],
    ['a key of 256 characters', { external_key: 'k'.repeat(256) }, ['external_key', 'too_long']],
    ['a control character in the key', { external_key: 'a\tb' }, ['external_key', 'invalid_value']],
    [
      'a number as key',
      { external_key: 5 },
      ['external_key', 'invalid_value', { expected_type: 'string', received_type: 'integer' }],
    ],
    ['anything beside the key (D20)', { external_key: 'NEXT', name: 'x' }, ['name', 'unknown_field']],
    ['the key under another name (D20)', { new_external_key: 'NEXT' }, ['new_external_key', 'unknown_field']],
  ]
  it.each(cases)('%s', async (_what, body, ...problems) => {
    const dock = await make({})
    expectValidationError(await expectNoChange(database.sql, org, () => rename(dock.id, body)), ...problems)
  })

  it('a caller without locations:write', async () => {
    const dock = await make({})
    const reader = org.client('locations:read', 'assets:write')
    const reply = await reader.post(`/api/v1/locations/${dock.id}/rename`, { external_key: 'NEXT' })
    expectErrorStatus(reply, 403)
    expect(reply.json.error.detail).toBe('Missing required scope: locations:write')
  })
})
