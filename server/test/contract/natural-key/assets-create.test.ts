import { beforeEach, describe, expect, it } from 'vitest'
import { type TestOrg, useApp } from '../../support/app.ts'
import type { Client } from '../../support/client.ts'
import { expectApiError } from '../../support/error-response.ts'
import { naturalPath, createNaturalAsset, createNaturalLocation, naturalBase } from '../../support/natural-key.ts'
import { useSnapshotDatabase } from '../../support/tenant-snapshot.ts'

const now = '2026-05-04T08:15:02.123Z'
const context = useApp({ clock: { millis: () => Date.parse(now) } })
const database = useSnapshotDatabase(context)

let org: TestOrg
let full: Client
beforeEach(async () => {
  org = await context.app.newOrg()
  full = org.full
})

describe('Creating an asset by its natural key', () => {
  it('answers 201 with exactly the fields that are set (D36)', async () => {
    const reply = await full.post(`${naturalBase}/assets`, { identifier: 'PJ-7', name: 'Pallet jack 7' })
    expect(reply.status).toBe(201)
    expect(reply.json).toEqual({
      data: {
        surrogate_id: expect.any(Number),
        identifier: 'PJ-7',
        name: 'Pallet jack 7',
        type: 'asset',
        is_active: true,
        metadata: {},
        valid_from: now,
        valid_to: null,
        identifiers: [],
        created_at: now,
        updated_at: now,
      },
    })
  })

  it('points to the new asset on its own base, percent-encoded (D19)', async () => {
    const reply = await full.post(`${naturalBase}/assets`, { identifier: 'A/B %ä', name: 'a' })
    expect(reply.headers['location']).toBe('/natural/api/v1/assets/A%2FB%20%25%C3%A4')
    const read = await full.get(reply.headers['location']!)
    expect(read.json).toEqual(reply.json)
  })

  it('accepts every field of the schema', async () => {
    await createNaturalLocation(full, 'DOCK-3')
    const body = {
      identifier: 'P-1',
      name: 'Ada',
      description: 'Night shift\nDock 3',
      type: 'person',
      current_location: 'DOCK-3',
      is_active: false,
      metadata: { badge: { colour: 'red' }, levels: [1, 2] },
      valid_from: '2026-01-01T02:00:00+02:00',
      valid_to: '2027-01-01T00:00:00Z',
      identifiers: [
        { type: 'ble', value: 'AA:BB:CC:DD:EE:FF' },
        { type: 'barcode', value: '4006381333931' },
      ],
    }
    const made = await createNaturalAsset(full, body)
    expect(made).toEqual({
      ...body,
      surrogate_id: expect.any(Number),
      valid_from: '2026-01-01T00:00:00.000Z',
      valid_to: '2027-01-01T00:00:00.000Z',
      identifiers: body.identifiers.map((one) => ({ ...one, id: expect.any(Number), is_active: true })),
      created_at: now,
      updated_at: now,
    })
    expect((await full.get(naturalPath('assets', 'P-1'))).json.data).toEqual(made)
  })

  it('generates an identifier when there is none, from the same counter as the other API (D18)', async () => {
    const first = await createNaturalAsset(full, { name: 'a' })
    const other = await full.post('/api/v1/assets', { name: 'b' })
    const third = await createNaturalAsset(full, { name: 'c' })
    expect([first.identifier, other.json.data.external_key, third.identifier]).toEqual([
      'ASSET-0001',
      'ASSET-0002',
      'ASSET-0003',
    ])
  })

  it('treats an identifier without a type as rfid (D36)', async () => {
    const made = await createNaturalAsset(full, { name: 'a', identifiers: [{ value: 'E1' }] })
    expect(made.identifiers).toEqual([{ id: expect.any(Number), type: 'rfid', value: 'E1', is_active: true }])
  })

  it('records the location as an operator’s save now, in one transaction with the creation (D36)', async () => {
    await createNaturalLocation(full, 'DOCK-3')
    const made = await createNaturalAsset(full, { identifier: 'A', name: 'a', current_location: 'DOCK-3' })
    expect(made.current_location).toBe('DOCK-3')
    const history = await full.get(naturalPath('assets', 'A', '/history'))
    expect(history.json.data).toEqual([{ timestamp: now, location: 'DOCK-3' }])
    const moves =
      await database.sql`select asset_external_key as asset, from_location_id as origin, to_location_name as target
      from moves where org_id = ${String(org.orgId)}`
    expect([...moves]).toEqual([{ asset: 'A', origin: null, target: 'DOCK-3' }])
  })

  it.each([
    ['a missing name', {}, [{ field: 'name', code: 'required' }]],
    ['an empty name', { name: '' }, [{ field: 'name', code: 'too_short', params: { min_length: 1 } }]],
    [
      'a long identifier',
      { name: 'a', identifier: 'x'.repeat(256) },
      [{ field: 'identifier', code: 'too_long', params: { max_length: 255 } }],
    ],
    [
      'an empty identifier',
      { name: 'a', identifier: '' },
      [{ field: 'identifier', code: 'too_short', params: { min_length: 1 } }],
    ],
    ['an unknown type', { name: 'a', type: 'vehicle' }, [{ field: 'type', code: 'invalid_value' }]],
    ['the other surface’s key', { name: 'a', external_key: 'x' }, [{ field: 'external_key', code: 'unknown_field' }]],
    ['the other surface’s tags', { name: 'a', tags: [] }, [{ field: 'tags', code: 'unknown_field' }]],
    [
      'what the server manages',
      { name: 'a', surrogate_id: 5, created_at: now },
      [
        { field: 'created_at', code: 'unknown_field' },
        { field: 'surrogate_id', code: 'unknown_field' },
      ],
    ],
    [
      'a location that is not there',
      { identifier: 'N', name: 'a', current_location: 'NOWHERE' },
      [{ field: 'current_location', code: 'fk_not_found' }],
    ],
    [
      'a null location',
      { name: 'a', current_location: null },
      [
        {
          field: 'current_location',
          code: 'invalid_value',
          params: { expected_type: 'string', received_type: 'null' },
        },
      ],
    ],
    [
      'a null start',
      { name: 'a', valid_from: null },
      [{ field: 'valid_from', code: 'invalid_value', params: { expected_type: 'string', received_type: 'null' } }],
    ],
    [
      'an end before the start',
      { name: 'a', valid_from: '2026-02-01T00:00:00Z', valid_to: '2026-01-01T00:00:00Z' },
      [{ field: 'valid_to', code: 'invalid_value' }],
    ],
    [
      'a sentinel date',
      { name: 'a', valid_to: '1970-01-01T00:00:00Z' },
      [{ field: 'valid_to', code: 'invalid_value' }],
    ],
    [
      'an identifier without a value',
      { name: 'a', identifiers: [{ type: 'rfid' }] },
      [{ field: 'identifiers[0].value', code: 'required' }],
    ],
    [
      'an identifier of an unknown type',
      { name: 'a', identifiers: [{ type: 'qr', value: 'x' }] },
      [{ field: 'identifiers[0].type', code: 'invalid_value' }],
    ],
    [
      'several wrong fields, in the order of the table',
      { identifier: '', name: '', type: 'x', metadata: {}, valid_to: 'soon' },
      [
        { field: 'identifier', code: 'too_short', params: { min_length: 1 } },
        { field: 'name', code: 'too_short', params: { min_length: 1 } },
        { field: 'type', code: 'invalid_value' },
        { field: 'valid_to', code: 'invalid_value' },
      ],
    ],
    [
      'the first value of a wrong type and none behind it',
      { name: 1, description: 2, is_active: 'yes' },
      [{ field: 'name', code: 'invalid_value', params: { expected_type: 'string', received_type: 'integer' } }],
    ],
    [
      'an end at the start',
      { name: 'a', valid_from: '2026-02-01T00:00:00Z', valid_to: '2026-02-01T00:00:00Z' },
      [{ field: 'valid_to', code: 'invalid_value' }],
    ],
  ])('rejects %s and changes nothing (D7, D14, D36)', async (_what, body, fields) => {
    const before = await database.snapshot(org.orgId)
    const reply = await full.post(`${naturalBase}/assets`, body)
    expectApiError(reply, 'validation_error', { fields })
    expect(await database.snapshot(org.orgId)).toBe(before)
  })

  it('is 400 for a location that was deleted, or that only another organization has [D36]', async () => {
    await createNaturalLocation(full, 'GONE')
    await full.delete(naturalPath('locations', 'GONE'))
    await createNaturalLocation((await context.app.newOrg()).full, 'FOREIGN')
    for (const key of ['GONE', 'FOREIGN']) {
      const reply = await full.post(`${naturalBase}/assets`, { name: 'a', current_location: key })
      expectApiError(reply, 'validation_error', { fields: [{ field: 'current_location', code: 'fk_not_found' }] })
    }
  })

  it('is 409 for an identifier in use, with this API’s field name, and nothing is recorded', async () => {
    await createNaturalLocation(full, 'DOCK-3')
    await full.post('/api/v1/assets', { external_key: 'A', name: 'a' })
    const before = await database.snapshot(org.orgId)
    const reply = await full.post(`${naturalBase}/assets`, { identifier: 'A', name: 'b', current_location: 'DOCK-3' })
    expectApiError(reply, 'conflict', { detail: 'Asset with this identifier already exists' })
    expect(await database.snapshot(org.orgId)).toBe(before)
  })

  it('is 409 for a tag in use, and nothing is recorded or created', async () => {
    await createNaturalLocation(full, 'DOCK-3', { identifiers: [{ value: 'e1' }] })
    const before = await database.snapshot(org.orgId)
    const body = { name: 'b', identifier: 'B', current_location: 'DOCK-3', identifiers: [{ value: 'E1' }] }
    expectApiError(await full.post(`${naturalBase}/assets`, body), 'conflict')
    expect(await database.snapshot(org.orgId)).toBe(before)
  })

  it('reports errors in the body before a conflict (D6)', async () => {
    await createNaturalAsset(full, { identifier: 'A', name: 'a' })
    const reply = await full.post(`${naturalBase}/assets`, { identifier: 'A', name: 'b', current_location: 'NOWHERE' })
    expectApiError(reply, 'validation_error', { fields: [{ field: 'current_location', code: 'fk_not_found' }] })
  })
})
