import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type TestOrg, useApp } from '../../../support/app.ts'
import type { Client, Reply } from '../../../support/client.ts'
import {
  type LocationJson,
  type FieldError,
  expectNoChange,
  create,
  expectValidationError,
  expectErrorStatus,
  useDatabase,
} from '../../../support/master-data.ts'

let millis = Date.parse('2031-03-04T05:06:07.890Z')
const context = useApp({ clock: { millis: () => millis } })
const database = useDatabase(context)

let org: TestOrg
let client: Client
let hall: LocationJson
let dock: LocationJson
let round = 0

beforeAll(async () => {
  org = await context.app.newOrg()
  client = org.full
  hall = await create(client, 'locations', { external_key: 'HALL', name: 'Hall' })
})

beforeEach(async () => {
  millis += 1000
  round += 1
  dock = await create(client, 'locations', {
    external_key: `DOCK-${round}`,
    name: 'Dock',
    description: 'old',
    parent_id: hall.id,
    valid_from: '2030-01-01T00:00:00Z',
    valid_to: '2040-01-01T00:00:00Z',
    tags: [
      { tag_type: 'rfid', value: `A-${round}` },
      { tag_type: 'barcode', value: `B-${round}` },
    ],
  })
})

const patch = (body: object): Promise<Reply> => client.patch(`/api/v1/locations/${dock.id}`, body)
const iso = (time: number): string => new Date(time).toISOString()

describe('changing a location', () => {
  const changes: [what: string, body: object, shown?: object][] = [
    ['an empty patch, which changes no settable field', {}, {}],
    ['its name', { name: 'New' }],
    ['its description', { description: 'new\nlines' }],
    ['its description to the empty text', { description: '' }],
    ['its description to nothing', { description: null }],
    ['its activity', { is_active: false }],
    ['its beginning', { valid_from: '2035-06-01T00:00:00.5+01:00' }, { valid_from: '2035-05-31T23:00:00.500Z' }],
    ['its end', { valid_to: '2050-01-01T00:00:00Z' }, { valid_to: '2050-01-01T00:00:00.000Z' }],
    ['its end to never', { valid_to: null }],
    ['its parent to the root', { parent_id: null }, { parent_id: null, parent_external_key: null }],
    [
      'several fields at once',
      { name: 'N', description: null, is_active: false, parent_external_key: null, valid_to: null },
      { name: 'N', description: null, is_active: false, parent_id: null, parent_external_key: null, valid_to: null },
    ],
  ]
  it.each(changes)('accepts %s, changes no other field and advances updated_at', async (_what, body, shown) => {
    millis += 5
    const reply = await patch(body)
    expect(reply.status).toBe(200)
    expect(reply.json).toEqual({ data: { ...dock, ...(shown ?? body), updated_at: iso(millis) } })
    expect((await client.get(`/api/v1/locations/${dock.id}`)).json).toEqual(reply.json)
  })

  it('advances updated_at at every accepted write, also within one millisecond (D21)', async () => {
    let last = Date.parse(dock.updated_at)
    for (const body of [{}, {}, { name: 'a' }, { name: 'a' }, { parent_id: null }]) {
      const reply = await patch(body)
      expect(Date.parse(reply.json.data.updated_at)).toBe(last + 1)
      last += 1
    }
  })

  it('accepts the whole record as it was read', async () => {
    const reply = await patch(dock)
    expect(reply.status).toBe(200)
    expect(reply.json.data).toEqual({ ...dock, updated_at: iso(millis + 1) })
  })

  it('compares server-managed timestamps by instant, so other notations are accepted', async () => {
    const respelled = dock.updated_at.replace('.890Z', '.890000000+00:00')
    const elsewhere = dock.created_at.replace('T05:', 'T07:').replace('Z', '+02:00')
    expect((await patch({ updated_at: respelled, created_at: elsewhere, deleted_at: null, id: dock.id })).status).toBe(
      200,
    )
  })

  it('accepts equal tags whatever their order', async () => {
    expect((await patch({ tags: [...dock.tags].reverse(), external_key: dock.external_key })).status).toBe(200)
  })
})

describe('changing a location rejects', () => {
  const type = (expected_type: string, received_type: string): Record<string, string> => ({
    expected_type,
    received_type,
  })
  const cases: [what: string, body: () => object, ...problems: FieldError[]][] = [
    ['metadata, which locations do not have', () => ({ metadata: { a: 1 } }), ['metadata', 'unknown_field']],
    [
      'unknown keys, all of them, sorted (D7)',
      () => ({ b: 1, name: 'x', a: 1 }),
      ['a', 'unknown_field'],
      ['b', 'unknown_field'],
    ],
    ['a null name', () => ({ name: null }), ['name', 'invalid_value']],
    ['an empty name', () => ({ name: '' }), ['name', 'too_short', { min_length: 1 }]],
    ['a name of 256 characters', () => ({ name: 'n'.repeat(256) }), ['name', 'too_long']],
    ['a list as name', () => ({ name: ['x'] }), ['name', 'invalid_value', type('string', 'array')]],
    ['a description of 1025 characters', () => ({ description: 'd'.repeat(1025) }), ['description', 'too_long']],
    ['a null is_active', () => ({ is_active: null }), ['is_active', 'invalid_value']],
    ['a number as is_active', () => ({ is_active: 1 }), ['is_active', 'invalid_value', type('boolean', 'integer')]],
    ['a null valid_from', () => ({ valid_from: null }), ['valid_from', 'invalid_value']],
    ['a sentinel date', () => ({ valid_to: '0001-01-01T00:00:00Z' }), ['valid_to', 'invalid_value']],
    [
      'a beginning at the stored end (D15)',
      () => ({ valid_from: '2040-01-01T00:00:00Z' }),
      ['valid_to', 'invalid_value'],
    ],
    [
      'an end before the stored beginning (D15)',
      () => ({ valid_to: '2029-12-31T23:59:59Z' }),
      ['valid_to', 'invalid_value'],
    ],
    ['a stale updated_at', () => ({ updated_at: iso(millis - 1), name: 'x' }), ['updated_at', 'read_only']],
    ['an updated_at that is no date', () => ({ updated_at: 'soon' }), ['updated_at', 'read_only']],
    ['another id', () => ({ id: dock.id + 1 }), ['id', 'read_only']],
    ['another created_at', () => ({ created_at: '2030-01-01T00:00:00Z' }), ['created_at', 'read_only']],
    ['a deleted_at', () => ({ deleted_at: '2031-01-01T00:00:00Z' }), ['deleted_at', 'read_only']],
    ['another external_key', () => ({ external_key: 'OTHER' }), ['external_key', 'invalid_context']],
    ['other tags', () => ({ tags: [] }), ['tags', 'invalid_context']],
    ['fewer tags', () => ({ tags: dock.tags.slice(0, 1) }), ['tags', 'invalid_context']],
    ['one tag twice instead of two tags', () => ({ tags: [dock.tags[0], dock.tags[0]] }), ['tags', 'invalid_context']],
    [
      'a child count, which is not a field',
      () => ({ descendant_count_affected: 0 }),
      ['descendant_count_affected', 'unknown_field'],
    ],
  ]
  it.each(cases)('%s', async (_what, body, ...problems) => {
    expectValidationError(await expectNoChange(database.sql, org, () => patch(body())), ...problems)
  })

  it.each(['2031-01-01', '2031/01/01', ''])('%j as a date, naming the format', async (text) => {
    for (const field of ['valid_from', 'valid_to']) {
      const reply = await expectNoChange(database.sql, org, () => patch({ [field]: text }))
      expectValidationError(reply, [field, 'invalid_value'])
      expect(reply.json.error.detail).toBe(`${field} must be an RFC 3339 timestamp`)
    }
  })

  it('a stale updated_at with an unchanged parent', async () => {
    const body = { updated_at: iso(millis - 1), parent_id: null }
    expectValidationError(await expectNoChange(database.sql, org, () => patch(body)), ['updated_at', 'read_only'])
  })

  it.each([
    ['null', 'Request body must be a JSON object (RFC 7396)'],
    ['[]', 'Request body could not be decoded as the expected type'],
    ['5', 'Request body could not be decoded as the expected type'],
    ['{"name"', 'Request body is not valid JSON'],
  ])('the body %s', async (raw, detail) => {
    const headers = { 'content-type': 'application/merge-patch+json' }
    const send = (): Promise<Reply> => client.send('PATCH', `/api/v1/locations/${dock.id}`, { raw, headers })
    const reply = await expectNoChange(database.sql, org, send)
    expectErrorStatus(reply, 400)
    expect(reply.json.error.detail).toBe(detail)
  })

  it.each([
    ['application/json', 'PATCH', '', 'Content-Type must be application/merge-patch+json on PATCH operations'],
    ['application/merge-patch+json', 'POST', '/rename', 'Content-Type must be application/json'],
    ['application/merge-patch+json', 'POST', '/tags', 'Content-Type must be application/json'],
  ])('%s on %s …%s with 415', async (type, method, suffix, detail) => {
    const target = `/api/v1/locations/${dock.id}${suffix}`
    const headers = { 'content-type': type }
    const reply = await expectNoChange(database.sql, org, () => client.send(method, target, { raw: '{}', headers }))
    expect(reply.status).toBe(415)
    expect(reply.json.error).toMatchObject({ type: 'unsupported_media_type', detail })
  })

  it('a caller without locations:write', async () => {
    const reader = org.client('locations:read', 'assets:write')
    const reply = await expectNoChange(database.sql, org, () => reader.patch(`/api/v1/locations/${dock.id}`, {}))
    expectErrorStatus(reply, 403)
    expect(reply.json.error.detail).toBe('Missing required scope: locations:write')
  })
})

it('shows a renamed parent by its new key, and rejects the old key together with the right id', async () => {
  const reply = await client.post(`/api/v1/locations/${hall.id}/rename`, { external_key: 'HALL-B' })
  expect(reply.status).toBe(200)
  expectValidationError(await patch({ parent_id: hall.id, parent_external_key: 'HALL' }), [
    'parent_external_key',
    'fk_not_found',
  ])
  const accepted = await patch({ parent_id: hall.id, parent_external_key: 'HALL-B' })
  expect(accepted.json.data).toMatchObject({ parent_id: hall.id, parent_external_key: 'HALL-B' })
})
