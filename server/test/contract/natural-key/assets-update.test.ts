import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { TestOrg } from '../../support/app.ts'
import type { Client } from '../../support/client.ts'
import { expectApiError } from '../../support/error-response.ts'
import { type NaturalAsset, naturalPath, createNaturalAsset, createNaturalLocation } from '../../support/natural-key.ts'
import { useSnapshotDatabase } from '../../support/tenant-snapshot.ts'
import { useTracking } from '../../support/tracking.ts'

const context = useTracking('2026-05-04T08:00:00.000Z')
const database = useSnapshotDatabase(context)

let org: TestOrg
let full: Client
let before: NaturalAsset
beforeAll(async () => {
  org = await context.app.newOrg()
  full = org.full
  for (const key of ['DOCK', 'HALL']) await createNaturalLocation(full, key)
})

let count = 0
let key: string
beforeEach(async () => {
  context.clock.set('2026-05-04T08:00:00.000Z')
  key = `A-${++count}`
  before = await createNaturalAsset(full, {
    identifier: key,
    name: 'Jack',
    description: 'Blue',
    type: 'inventory',
    metadata: { owner: 'dock 3', size: { w: 1 } },
    valid_to: '2030-01-01T00:00:00Z',
    current_location: 'DOCK',
  })
  context.clock.set('2026-05-04T08:10:00.000Z')
})

const put = (body: object, identifier = key) => full.put(naturalPath('assets', identifier), body)
const later = '2026-05-04T08:10:00.000Z'

describe('PUT on an asset', () => {
  it.each([
    ['a name', { name: 'Jack II' }, { name: 'Jack II' }],
    ['a description', { description: '' }, { description: '' }],
    ['a type', { type: 'asset' }, { type: 'asset' }],
    ['an activity', { is_active: false }, { is_active: false }],
    ['a start', { valid_from: '2026-01-01T00:00:00Z' }, { valid_from: '2026-01-01T00:00:00.000Z' }],
    ['an end', { valid_to: '2031-01-01T00:00:00+01:00' }, { valid_to: '2030-12-31T23:00:00.000Z' }],
    ['metadata, which it replaces', { metadata: { size: { h: 2 } } }, { metadata: { size: { h: 2 } } }],
    ['nothing', {}, {}],
  ])('with %s changes only that and advances updated_at', async (_what, body, change) => {
    const reply = await put(body)
    expect(reply.status, reply.text).toBe(200)
    expect(reply.json.data).toEqual({ ...before, ...change, updated_at: later })
    expect((await full.get(naturalPath('assets', key))).json.data).toEqual(reply.json.data)
  })

  it('clears valid_to with null, and description, which is then left out [D36]', async () => {
    const reply = await put({ valid_to: null, description: null })
    const { description: _words, ...rest } = before
    expect(reply.json.data).toEqual({ ...rest, valid_to: null, updated_at: later })
  })

  it('may change the identifier; the asset is then found only by the new one (D36)', async () => {
    const reply = await put({ identifier: `${key}/new` })
    expect(reply.json.data).toEqual({ ...before, identifier: `${key}/new`, updated_at: later })
    expect((await full.get(naturalPath('assets', `${key}/new`))).json.data).toEqual(reply.json.data)
    expectApiError(await full.get(naturalPath('assets', key)), 'not_found')
    expect((await put({ identifier: key }, `${key}/new`)).status).toBe(200)
  })

  it('may contain the current identifier of the asset', async () => {
    expect((await put({ identifier: key, name: 'b' })).json.data.name).toBe('b')
  })

  it('is 409 when the new identifier is in use, with this API’s field name, and nothing changes (D36)', async () => {
    await createNaturalAsset(full, { identifier: `${key}-taken`, name: 'a' })
    const snapshot = await database.snapshot(org.orgId)
    const reply = await put({ identifier: `${key}-taken`, name: 'b', current_location: 'HALL' })
    expectApiError(reply, 'conflict', { detail: 'Asset with this identifier already exists' })
    expect(await database.snapshot(org.orgId)).toBe(snapshot)
  })

  it.each([
    ['an empty identifier', { identifier: '' }, 'identifier', 'too_short'],
    ['a null identifier', { identifier: null }, 'identifier', 'invalid_value'],
    ['a long identifier', { identifier: 'x'.repeat(256) }, 'identifier', 'too_long'],
    ['a null name', { name: null }, 'name', 'invalid_value'],
    ['a null type', { type: null }, 'type', 'invalid_value'],
    ['an unknown type', { type: 'car' }, 'type', 'invalid_value'],
    ['a null location', { current_location: null }, 'current_location', 'invalid_value'],
    ['an empty location', { current_location: '' }, 'current_location', 'too_short'],
    ['a location that is not there', { current_location: 'NOWHERE' }, 'current_location', 'fk_not_found'],
    ['null metadata', { metadata: null }, 'metadata', 'invalid_value'],
    ['a null start', { valid_from: null }, 'valid_from', 'invalid_value'],
    ['an end before the start', { valid_to: '2020-01-01T00:00:00Z' }, 'valid_to', 'invalid_value'],
    ['identifiers, which have operations of their own', { identifiers: [] }, 'identifiers', 'unknown_field'],
    ['the surrogate id', { surrogate_id: 1 }, 'surrogate_id', 'unknown_field'],
    ['a field of the other surface', { location_external_key: 'HALL' }, 'location_external_key', 'unknown_field'],
  ])('rejects %s and changes nothing (D36)', async (_what, body, field, code) => {
    const snapshot = await database.snapshot(org.orgId)
    const reply = await put({ ...body })
    expectApiError(reply, 'validation_error')
    expect(reply.json.error.fields.map((one: { field: string; code: string }) => [one.field, one.code])).toEqual([
      [field, code],
    ])
    expect(await database.snapshot(org.orgId)).toBe(snapshot)
  })

  it('is 404 for an unknown identifier, before errors in the body (D6)', async () => {
    expectApiError(await put({ name: 'a' }, 'NOBODY'), 'not_found', { detail: 'Asset not found' })
    expectApiError(await put({ colour: 'red' }, 'NOBODY'), 'not_found')
  })

  it('reports errors in the body before a conflict [D6]', async () => {
    await createNaturalAsset(full, { identifier: `${key}-used`, name: 'a' })
    const reply = await put({ identifier: `${key}-used`, valid_to: '2020-01-01T00:00:00Z' })
    expectApiError(reply, 'validation_error', { fields: [{ field: 'valid_to', code: 'invalid_value' }] })
  })

  it.each([
    ['a list', '[]', 'Request body could not be decoded as the expected type'],
    ['null', 'null', 'Request body could not be decoded as the expected type'],
    ['half an object', '{', 'Request body is not valid JSON'],
  ])('is bad_request for %s', async (_what, raw, detail) => {
    const headers = { 'content-type': 'application/json' }
    expectApiError(await full.send('PUT', naturalPath('assets', key), { raw, headers }), 'bad_request', { detail })
  })

  it('accepts application/json and no merge patch', async () => {
    const headers = { 'content-type': 'application/merge-patch+json' }
    const reply = await full.send('PUT', naturalPath('assets', key), { raw: '{}', headers })
    expectApiError(reply, 'unsupported_media_type', { detail: 'Content-Type must be application/json' })
  })
})

describe('current_location on PUT', () => {
  const history = async () => (await full.get(naturalPath('assets', key, '/history'))).json.data

  it('records a sighting now when it differs from the current location (D36)', async () => {
    const reply = await put({ current_location: 'HALL' })
    expect(reply.json.data).toEqual({ ...before, current_location: 'HALL', updated_at: later })
    expect(await history()).toEqual([
      { timestamp: later, location: 'HALL', duration_seconds: 600 },
      { timestamp: '2026-05-04T08:00:00.000Z', location: 'DOCK' },
    ])
  })

  it('records nothing when the asset is already at the location (D36)', async () => {
    const reply = await put({ current_location: 'DOCK', name: 'b' })
    expect(reply.json.data).toEqual({ ...before, name: 'b', updated_at: later })
    expect(await history()).toEqual([{ timestamp: '2026-05-04T08:00:00.000Z', location: 'DOCK' }])
  })

  it('wins the minute, as an operator’s save does', async () => {
    await put({ current_location: 'HALL' })
    context.clock.set('2026-05-04T08:10:30.000Z')
    await put({ current_location: 'DOCK' })
    expect(await history()).toEqual([
      { timestamp: '2026-05-04T08:10:30.000Z', location: 'DOCK', duration_seconds: 630 },
      { timestamp: '2026-05-04T08:00:00.000Z', location: 'DOCK' },
    ])
    const moves = await database.sql`select from_location_name as origin, to_location_name as target from moves
      where asset_external_key = ${key} order by occurred_at`
    expect(moves.map((move) => [move['origin'], move['target']])).toEqual([
      [null, 'DOCK'],
      ['DOCK', 'HALL'],
      ['HALL', 'DOCK'],
    ])
  })

  it('is left out once the location is deleted, and can then be set again', async () => {
    await createNaturalLocation(full, `GONE-${key}`)
    await put({ current_location: `GONE-${key}` })
    await database.sql`update locations set deleted_at = now() where external_key = ${`GONE-${key}`}`
    expect((await full.get(naturalPath('assets', key))).json.data).not.toHaveProperty('current_location')
    expect((await put({ current_location: 'HALL' })).json.data.current_location).toBe('HALL')
  })

  it('prevents the deletion of the location, and is rejected while the location is being deleted', async () => {
    await createNaturalLocation(full, `RACE-${key}`)
    const [placed, deleted] = await Promise.all([
      put({ current_location: `RACE-${key}` }),
      full.delete(naturalPath('locations', `RACE-${key}`)),
    ])
    const outcomes = [
      [200, 409],
      [400, 204],
    ]
    expect(outcomes).toContainEqual([placed.status, deleted.status])
  })
})
