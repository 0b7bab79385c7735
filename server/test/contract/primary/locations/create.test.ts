import { beforeAll, describe, expect, it } from 'vitest'
import { type TestOrg, useApp } from '../../../support/app.ts'
import type { Client } from '../../../support/client.ts'
import { expectNoChange, create, expectErrorStatus, remove, useDatabase } from '../../../support/master-data.ts'

const now = '2031-03-04T05:06:07.890Z'
const context = useApp({ clock: { millis: () => Date.parse(now) } })
const database = useDatabase(context)

const locationKeys = [
  'id',
  'external_key',
  'name',
  'description',
  'parent_id',
  'parent_external_key',
  'is_active',
  'valid_from',
  'valid_to',
  'created_at',
  'updated_at',
  'deleted_at',
  'tags',
]

let org: TestOrg
let client: Client

beforeAll(async () => {
  org = await context.app.newOrg()
  client = org.full
})

describe('a created location', () => {
  it('has exactly the thirteen fields of the table, null where unset, and is valid from now on (D11)', async () => {
    const reply = await (await context.app.newOrg()).full.post('/api/v1/locations', { name: 'Dock 3' })
    expect(reply.status).toBe(201)
    expect(Object.keys(reply.json)).toEqual(['data'])
    expect(Object.keys(reply.json.data).sort()).toEqual([...locationKeys].sort())
    expect(reply.json.data).toEqual({
      id: expect.any(Number),
      external_key: 'LOC-001',
      name: 'Dock 3',
      description: null,
      parent_id: null,
      parent_external_key: null,
      is_active: true,
      valid_from: now,
      valid_to: null,
      created_at: now,
      updated_at: now,
      deleted_at: null,
      tags: [],
    })
    expect(Number.isSafeInteger(reply.json.data.id)).toBe(true)
    expect(reply.json.data.id).toBeGreaterThan(0)
  })

  it('stores every field as sent and returns the same on read', async () => {
    const hall = await create(client, 'locations', { external_key: 'HALL-1', name: 'Hall' })
    const reply = await client.post('/api/v1/locations', {
      external_key: 'Dock/3 % ü 🚚',
      name: '  Dock 3  ',
      description: 'first line\n\tsecond line\r\n',
      parent_id: hall.id,
      is_active: false,
      valid_from: '2031-01-01T02:00:00.1239+02:00',
      valid_to: '2032-01-01T00:00:00Z',
      tags: [{ tag_type: 'barcode', value: 'D3' }],
    })
    expect(reply.status).toBe(201)
    expect(reply.json.data).toEqual({
      id: expect.any(Number),
      external_key: 'Dock/3 % ü 🚚',
      name: '  Dock 3  ',
      description: 'first line\n\tsecond line\r\n',
      parent_id: hall.id,
      parent_external_key: 'HALL-1',
      is_active: false,
      valid_from: '2031-01-01T00:00:00.123Z',
      valid_to: '2032-01-01T00:00:00.000Z',
      created_at: now,
      updated_at: now,
      deleted_at: null,
      tags: [{ id: expect.any(Number), tag_type: 'barcode', value: 'D3' }],
    })
    const read = await client.get(`/api/v1/locations/${reply.json.data.id}`)
    expect(read.json).toEqual(reply.json)
  })

  it('is the target of the Location header (D19)', async () => {
    const reply = await client.post('/api/v1/locations', { name: 'Pointed to' })
    expect(reply.headers['location']).toBe(`/api/v1/locations/${reply.json.data.id}`)
    expect((await client.get(reply.headers['location']!)).json).toEqual(reply.json)
  })

  it.each([
    ['an empty description, which is a value like any other', { description: '' }, { description: '' }],
    ['a null description', { description: null }, { description: null }],
    ['a null valid_to', { valid_to: null }, { valid_to: null }],
    ['no tags in an empty list', { tags: [] }, { tags: [] }],
    ['a name of 255 characters, counted in code points', { name: '🚚'.repeat(255) }, { name: '🚚'.repeat(255) }],
    ['a description of 1024 characters', { description: '🚚'.repeat(1024) }, { description: '🚚'.repeat(1024) }],
    ['a key of 255 characters', { external_key: '🔑'.repeat(255) }, { external_key: '🔑'.repeat(255) }],
    [
      'a neighbour of a sentinel date',
      { valid_from: '1970-01-01T00:00:00.001Z' },
      { valid_from: '1970-01-01T00:00:00.001Z' },
    ],
    [
      'a window of one microsecond',
      { valid_from: '2030-01-01T00:00:00.000001Z', valid_to: '2030-01-01T00:00:00.000002Z' },
      { valid_from: '2030-01-01T00:00:00.000Z', valid_to: '2030-01-01T00:00:00.000Z' },
    ],
  ])('may have %s', async (_what, body, shown) => {
    const location = await create(client, 'locations', { name: 'Bounds', ...body })
    expect(location).toMatchObject(shown)
    expect((await client.get(`/api/v1/locations/${location.id}`)).json.data).toEqual(location)
  })
})

describe('a location key', () => {
  it('is generated as LOC-001, LOC-002 and so on, separately for each organization and from assets (D18)', async () => {
    const one = (await context.app.newOrg()).full
    const other = (await context.app.newOrg()).full
    const made = []
    for (const who of [one, one, other, one]) made.push((await create(who, 'locations', { name: 'x' })).external_key)
    expect(made).toEqual(['LOC-001', 'LOC-002', 'LOC-001', 'LOC-003'])
    expect((await create(one, 'assets', { name: 'x' })).external_key).toBe('ASSET-0001')
  })

  it('is never generated twice: keys in use are skipped instead of answering 409 (D18)', async () => {
    const mine = (await context.app.newOrg()).full
    for (const key of ['LOC-001', 'LOC-002', 'LOC-004'])
      await create(mine, 'locations', { external_key: key, name: 'x' })
    expect((await create(mine, 'locations', { name: 'x' })).external_key).toBe('LOC-003')
    expect((await create(mine, 'locations', { name: 'x' })).external_key).toBe('LOC-005')
  })

  it('widens past its padding when it is generated (D18)', async () => {
    const mine = await context.app.newOrg()
    const principal = mine.full
    await create(principal, 'locations', { name: 'x' })
    await database.sql`update key_counters set last = 998 where org_id = ${mine.orgId} and kind = 'location'`
    expect((await create(principal, 'locations', { name: 'x' })).external_key).toBe('LOC-999')
    expect((await create(principal, 'locations', { name: 'x' })).external_key).toBe('LOC-1000')
  })

  it('is rejected with 409 while a live location has it, and nothing is written', async () => {
    await create(client, 'locations', { external_key: 'TAKEN', name: 'holder' })
    const body = { external_key: 'TAKEN', name: 'second', tags: [{ tag_type: 'rfid', value: 'FRESH' }] }
    expectErrorStatus(await expectNoChange(database.sql, org, () => client.post('/api/v1/locations', body)), 409)
  })

  it('is compared exactly: case, spaces and Unicode composition make different keys (D13)', async () => {
    for (const key of ['Bay', 'bay', 'bay ', ' bay', 'b\u00e4y', 'ba\u0308y'])
      expect((await create(client, 'locations', { external_key: key, name: 'x' })).external_key).toBe(key)
  })

  it('is free again as soon as its location is deleted, and free in every other organization', async () => {
    const first = await create(client, 'locations', { external_key: 'AGAIN', name: 'x' })
    await create((await context.app.newOrg()).full, 'locations', { external_key: 'AGAIN', name: 'x' })
    await remove(client, 'locations', first.id)
    const second = await create(client, 'locations', { external_key: 'AGAIN', name: 'x' })
    expect(second.id).not.toBe(first.id)
  })
})
