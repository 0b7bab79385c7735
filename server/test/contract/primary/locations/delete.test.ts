import { beforeAll, describe, expect, it } from 'vitest'
import { type TestOrg, useApp } from '../../../support/app.ts'
import type { Client } from '../../../support/client.ts'
import {
  type LocationJson,
  expectNoChange,
  create,
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

const make = (body: object = {}): Promise<LocationJson> => create(client, 'locations', { name: 'x', ...body })
const path = (location: LocationJson): string => `/api/v1/locations/${location.id}`

/** Stores the location as the one where the asset was last seen. */
async function setLastLocation(assetId: number, location: LocationJson | null): Promise<void> {
  await database.sql`
    insert into asset_positions (org_id, asset_id, location_id, last_seen_at)
    values (${org.orgId}, ${assetId}, ${location?.id ?? null}, now())
    on conflict (org_id, asset_id) do update set location_id = excluded.location_id`
}

async function expectGuarded(location: LocationJson): Promise<void> {
  expectErrorStatus(await expectNoChange(database.sql, org, () => client.delete(path(location))), 409)
  expect((await client.get(path(location))).json.data).toEqual(location)
}

describe('deleting a location', () => {
  it('answers 204 without a body, and the location is 404 from then on', async () => {
    const dock = await make()
    const reply = await client.delete(path(dock))
    expect(reply.status).toBe(204)
    expect(reply.text).toBe('')
    expect(reply.headers['content-type']).toBeUndefined()
    expectErrorStatus(await client.get(path(dock)), 404)
  })

  it('is 404 the second time', async () => {
    const dock = await make()
    await remove(client, 'locations', dock.id)
    expectErrorStatus(await expectNoChange(database.sql, org, () => client.delete(path(dock))), 404)
  })

  it('keeps the row with deleted_at set and updated_at advanced, and shows it with include_deleted (D21)', async () => {
    const hall = await make()
    const dock = await make({ external_key: 'KEPT', description: 'kept', parent_id: hall.id, is_active: false })
    millis += 9
    await remove(client, 'locations', dock.id)
    const at = new Date(millis).toISOString()
    const listed = await client.get('/api/v1/locations', { external_key: 'KEPT', include_deleted: true })
    expect(listed.json.data).toEqual([{ ...dock, deleted_at: at, updated_at: at }])
    expect((await client.get('/api/v1/locations', { external_key: 'KEPT' })).json.data).toEqual([])
  })

  it('advances updated_at also within the millisecond of the last write (D21)', async () => {
    const dock = await make({ external_key: 'QUICK' })
    await remove(client, 'locations', dock.id)
    const listed = await client.get('/api/v1/locations', { external_key: 'QUICK', include_deleted: true })
    expect(Date.parse(listed.json.data[0].updated_at)).toBe(Date.parse(dock.updated_at) + 1)
  })

  it('frees its tags in the same transaction (D22)', async () => {
    const dock = await make({ tags: [{ tag_type: 'rfid', value: 'FREED' }] })
    await remove(client, 'locations', dock.id)
    const next = await make({ tags: [{ tag_type: 'rfid', value: 'freed' }] })
    expect(next.tags).toEqual([{ id: expect.any(Number), tag_type: 'rfid', value: 'freed' }])
    const [row] = await database.sql`
      select count(*)::int as count from tags where org_id = ${org.orgId} and location_id = ${dock.id}`
    expect(row!['count']).toBe(0)
  })

  it('needs no Content-Type and ignores a body (D8)', async () => {
    const [bare, odd] = [await make(), await make()]
    expect((await client.send('DELETE', path(bare), {})).status).toBe(204)
    const headers = { 'content-type': 'text/plain' }
    expect((await client.send('DELETE', path(odd), { raw: '{"name":', headers })).status).toBe(204)
  })

  it('needs locations:write', async () => {
    const dock = await make()
    const reader = org.client('locations:read', 'assets:write')
    const reply = await expectNoChange(database.sql, org, () => reader.delete(path(dock)))
    expectErrorStatus(reply, 403)
    expect(reply.json.error.detail).toBe('Missing required scope: locations:write')
  })
})

describe('deleting a location is 409', () => {
  it.each([
    ['is active and in its window', {}],
    ['is inactive', { is_active: false }],
    ['is not valid yet', { valid_from: '2999-01-01T00:00:00Z' }],
    ['has expired', { valid_from: '2001-01-01T00:00:00Z', valid_to: '2001-01-02T00:00:00Z' }],
  ])('while it has a live child that %s, and 204 once the child is deleted', async (_what, body) => {
    const hall = await make()
    const child = await make({ parent_id: hall.id, ...body })
    await expectGuarded(hall)
    await remove(client, 'locations', child.id)
    await remove(client, 'locations', hall.id)
  })

  it('at every level of a chain but the lowest, so a tree is deleted from its leaves up', async () => {
    const chain = [await make()]
    for (let level = 1; level < 5; level++) chain.push(await make({ parent_id: chain.at(-1)!.id }))
    for (const upper of chain.slice(0, -1)) await expectGuarded(upper)
    for (const lowest of chain.reverse()) await remove(client, 'locations', lowest.id)
  })

  it('until a child is moved elsewhere', async () => {
    const [hall, yard] = [await make(), await make()]
    const child = await make({ parent_id: hall.id })
    await expectGuarded(hall)
    expect((await client.patch(path(child), { parent_id: yard.id })).status).toBe(200)
    await remove(client, 'locations', hall.id)
    await expectGuarded(yard)
  })

  it.each([
    ['active', {}],
    ['inactive', { is_active: false }],
    ['expired', { valid_from: '2001-01-01T00:00:00Z', valid_to: '2001-01-02T00:00:00Z' }],
  ])('while an %s asset is located in it, and 204 once the asset is deleted', async (_what, body) => {
    const dock = await make()
    const asset = await create(client, 'assets', { name: 'x', ...body })
    await setLastLocation(asset.id, dock)
    await expectGuarded(dock)
    await remove(client, 'assets', asset.id)
    await remove(client, 'locations', dock.id)
  })

  it('until the last of its assets has been seen elsewhere', async () => {
    const [dock, yard] = [await make(), await make()]
    const assets = [await create(client, 'assets', { name: 'a' }), await create(client, 'assets', { name: 'b' })]
    for (const asset of assets) await setLastLocation(asset.id, dock)
    await setLastLocation(assets[0]!.id, yard)
    await expectGuarded(dock)
    await setLastLocation(assets[1]!.id, null)
    await remove(client, 'locations', dock.id)
  })

  it('only for assets located directly in it: assets of a child block the child', async () => {
    const hall = await make()
    const dock = await make({ parent_id: hall.id })
    const asset = await create(client, 'assets', { name: 'x' })
    await setLastLocation(asset.id, dock)
    await expectGuarded(dock)
    expect((await client.patch(path(dock), { parent_id: null })).status).toBe(200)
    await remove(client, 'locations', hall.id)
  })
})

it('but not because of deleted children', async () => {
  const hall = await make()
  for (let turn = 0; turn < 3; turn++) await remove(client, 'locations', (await make({ parent_id: hall.id })).id)
  await remove(client, 'locations', hall.id)
})
