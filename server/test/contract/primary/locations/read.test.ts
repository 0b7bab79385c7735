import { beforeAll, describe, expect, it } from 'vitest'
import { type TestOrg, useApp } from '../../../support/app.ts'
import type { Client, Reply } from '../../../support/client.ts'
import {
  type LocationJson,
  expectNoChange,
  create,
  expectValidationError,
  expectErrorStatus,
  remove,
  useDatabase,
} from '../../../support/master-data.ts'

const context = useApp()
const database = useDatabase(context)

let org: TestOrg
let client: Client
let other: TestOrg
let outsider: Client
let hall: LocationJson
let dock: LocationJson

beforeAll(async () => {
  org = await context.app.newOrg()
  client = org.full
  other = await context.app.newOrg()
  outsider = other.full
  hall = await create(client, 'locations', { external_key: 'HALL', name: 'Hall' })
  dock = await create(client, 'locations', { external_key: 'DOCK', name: 'Dock', parent_id: hall.id })
})

describe('reading a location', () => {
  it('answers the record as it was created, and timestamps with three fractional digits', async () => {
    const reply = await client.get(`/api/v1/locations/${dock.id}`)
    expect(reply.status).toBe(200)
    expect(reply.json).toEqual({ data: dock })
    for (const hmacTag of [dock.valid_from, dock.created_at, dock.updated_at])
      expect(hmacTag).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  })

  it('answers HEAD with the headers of GET and no body', async () => {
    const [get, head] = [
      await client.get(`/api/v1/locations/${dock.id}`),
      await client.send('HEAD', `/api/v1/locations/${dock.id}`),
    ]
    expect(head.status).toBe(200)
    expect(head.text).toBe('')
    expect(head.headers['content-type']).toBe(get.headers['content-type'])
    expect(head.headers['content-length']).toBe(get.headers['content-length'])
  })

  it.each([
    ['is not valid yet', { valid_from: '2999-01-01T00:00:00Z' }],
    ['has expired', { valid_from: '2001-01-01T00:00:00Z', valid_to: '2001-01-02T00:00:00Z' }],
    ['is inactive', { is_active: false }],
  ])('finds a location that %s (D15)', async (_what, body) => {
    const made = await create(client, 'locations', { name: 'Shut', ...body })
    expect((await client.get(`/api/v1/locations/${made.id}`)).json).toEqual({ data: made })
  })

  it('needs locations:read and nothing else', async () => {
    expect((await org.client('locations:read').get(`/api/v1/locations/${dock.id}`)).status).toBe(200)
    const rejected = await org
      .client('assets:read', 'locations:write', 'tracking:read')
      .get(`/api/v1/locations/${dock.id}`)
    expectErrorStatus(rejected, 403)
    expect(rejected.json.error.detail).toBe('Missing required scope: locations:read')
  })
})

it('distinguishes a location of another organization from a location that does not exist (D24)', async () => {
  for (let turn = 0; turn < 100; turn++) {
    const theirs = await create(outsider, 'locations', { name: 'Theirs' })
    expectErrorStatus(await client.get(`/api/v1/locations/${theirs.id}`), 403)
  }
})

type Send = (who: Client, id: number | string) => Promise<Reply>

const patchHeaders = { 'content-type': 'application/merge-patch+json' }
const jsonHeaders = { 'content-type': 'application/json' }
const path = (id: number | string): string => `/api/v1/locations/${id}`

const operations: [string, Send][] = [
  ['GET', (who, id) => who.get(path(id))],
  ['PATCH', (who, id) => who.patch(path(id), { name: 'new' })],
  ['PATCH with a bad body', (who, id) => who.send('PATCH', path(id), { raw: '{', headers: patchHeaders })],
  ['DELETE', (who, id) => who.delete(path(id))],
  ['rename', (who, id) => who.post(`${path(id)}/rename`, { external_key: 'NEW' })],
  ['rename with a bad body', (who, id) => who.send('POST', `${path(id)}/rename`, { raw: '[]', headers: jsonHeaders })],
  ['tag attach', (who, id) => who.post(`${path(id)}/tags`, { tag_type: 'rfid', value: 'T' })],
  ['tag attach with a bad body', (who, id) => who.post(`${path(id)}/tags`, { value: 5 })],
  ['tag detach', (who, id) => who.delete(`${path(id)}/tags/1`)],
  ['ancestors', (who, id) => who.get(`${path(id)}/ancestors`)],
  ['children', (who, id) => who.get(`${path(id)}/children`)],
  ['descendants', (who, id) => who.get(`${path(id)}/descendants`)],
]

describe.each(operations)('%s by id', (operation, send) => {
  it('is 403 on a live location of another organization, 404 for a tag of it, and changes nothing [D24]', async () => {
    const status = operation === 'tag detach' ? 404 : 403
    expectErrorStatus(await expectNoChange(database.sql, org, () => send(outsider, dock.id)), status)
  })

  it('is 404 on an id that does not exist, up to the largest id (D24)', async () => {
    for (const id of [1, 123456789, 9007199254740991]) expectErrorStatus(await send(client, id), 404)
  })

  it('is 404 on a deleted location, for its own organization and for others (D24)', async () => {
    const gone = await create(client, 'locations', { name: 'Gone' })
    await remove(client, 'locations', gone.id)
    expectErrorStatus(await expectNoChange(database.sql, org, () => send(client, gone.id)), 404)
    expectErrorStatus(await expectNoChange(database.sql, org, () => send(outsider, gone.id)), 404)
  })

  it('is 404 on the id of an asset of any organization (D24)', async () => {
    const asset = await create(client, 'assets', { name: 'Asset' })
    expectErrorStatus(await expectNoChange(database.sql, org, () => send(client, asset.id)), 404)
    expectErrorStatus(await expectNoChange(database.sql, org, () => send(outsider, asset.id)), 404)
  })

  it.each(['0', '-1', '-9007199254740992'])('is 400 too_small on the id %s', async (id) => {
    expectValidationError(await send(client, id), ['location_id', 'too_small', { min: 1 }])
  })

  it.each(['9007199254740992', '99999999999999999999999'])('is 400 too_large on the id %s', async (id) => {
    expectValidationError(await send(client, id), ['location_id', 'too_large', { max: 9007199254740991 }])
  })

  it.each(['abc', 'current', '1.5', '1e3', '0x10', '+5', '05', '%205', '5%20', 'DOCK', 'Infinity', '%ZZ', '٣'])(
    'is 400 on %s in place of an id',
    async (id) => {
      expectValidationError(await send(client, id), ['location_id', 'invalid_value'])
    },
  )
})

describe('the order of checks on one location (D6)', () => {
  it('reports a query parameter before a bad id, and a bad id before anything about the body', async () => {
    const query = await client.send('PATCH', '/api/v1/locations/0?colour=red', { raw: '{', headers: patchHeaders })
    expectValidationError(query, ['colour', 'unknown_field'])
    const id = await client.send('PATCH', '/api/v1/locations/0', { raw: '{', headers: patchHeaders })
    expectValidationError(id, ['location_id', 'too_small', { min: 1 }])
  })

  it('reports a missing scope before a query parameter', async () => {
    const reply = await org.client('assets:read').get('/api/v1/locations/0?colour=red')
    expectErrorStatus(reply, 403)
  })

  it('treats a trailing slash as an unknown path', async () => {
    expectErrorStatus(await client.get(`/api/v1/locations/${dock.id}/`), 404)
    expectErrorStatus(await client.get('/api/v1/locations/'), 404)
  })
})
