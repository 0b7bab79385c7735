import { beforeAll, describe, expect, it } from 'vitest'
import { type TestOrg, useApp } from '../../server/test/support/app.ts'
import {
  type Asset,
  BadRequestError,
  ConflictError,
  ForbiddenError,
  type Lastseen,
  NotFoundError,
  ValidationError,
} from '../src/index.ts'
import { newClient, rejection } from './support/clients.ts'

const context = useApp()
let org: TestOrg
let client: Lastseen

beforeAll(async () => {
  org = await context.app.newOrg()
  ;({ client } = await newClient(org))
})

describe('assets', () => {
  it('are created, read, changed, renamed, tagged and deleted', async () => {
    const tag = { tag_type: 'rfid', value: 'E2801170' }
    const created = await client.assets.create({ name: 'Pallet jack', metadata: { owner: 'dock 3' }, tags: [tag] })
    expect(created).toMatchObject({ external_key: 'ASSET-0001', is_active: true, tags: [tag] })
    expect(await client.assets.get(created.id)).toEqual(created)

    const patched = await client.assets.patch(created.id, { description: 'blue', metadata: { owner: null, bay: 4 } })
    expect(patched).toMatchObject({ name: 'Pallet jack', description: 'blue', metadata: { bay: 4 } })

    const renamed = await client.assets.rename(created.id, 'JACK/7 %')
    expect(renamed).toMatchObject({ external_key: 'JACK/7 %', descendant_count_affected: 0 })

    const attached = await client.assets.attachTag(created.id, { tag_type: 'barcode', value: '4006381333931' })
    await client.assets.detachTag(created.id, created.tags[0]!.id)
    expect((await client.assets.get(created.id)).tags).toEqual([attached])

    expect(await client.assets.delete(created.id)).toBeUndefined()
    expect(await rejection(client.assets.get(created.id))).toBeInstanceOf(NotFoundError)
  })

  it('are found by key, whether they are valid now or not', async () => {
    const later = await client.assets.create({ external_key: 'A/B', name: 'Later', valid_from: '2999-01-01T00:00:00Z' })
    const dot = await client.assets.create({ external_key: '.', name: 'Dot' })
    expect((await client.assets.list({ external_key: ['A/B'] })).data).toEqual([])
    expect(await client.assets.findByKey('A/B')).toEqual(later)
    expect(await client.assets.findByKey('.')).toEqual(dot)
    expect(await client.assets.findByKey('..')).toBeNull()
    expect(await client.assets.findByKey('unknown')).toBeNull()
  })

  it('have a history after an inventory save', async () => {
    const hall = await client.locations.create({ external_key: 'HISTORY-HALL', name: 'Hall' })
    const asset = await client.assets.create({ external_key: 'SEEN', name: 'Seen' })
    const saved = await client.saveInventory({ location_identifier: 'HISTORY-HALL', asset_identifiers: ['SEEN'] })
    expect(saved).toMatchObject({ count: 1, location_id: hall.id })
    const { data } = await client.assets.history(asset.id)
    expect(data).toMatchObject([{ location_external_key: 'HISTORY-HALL', duration_seconds: null }])
    const rows = []
    for await (const row of client.assets.iterateHistory(asset.id)) rows.push(row)
    expect(rows).toEqual(data)
    const report = []
    for await (const row of client.reports.iterateAssetLocations({ asset_external_key: ['SEEN'] })) report.push(row)
    expect(report).toMatchObject([{ asset_id: asset.id, location_id: hall.id }])
    expect((await client.locations.history(hall.id)).data).toMatchObject([{ asset_external_key: 'SEEN' }])
  })
})

describe('locations', () => {
  it('form a tree', async () => {
    const hall = await client.locations.create({ external_key: 'HALL', name: 'Hall' })
    const shelf = await client.locations.create({ external_key: 'SHELF', name: 'Shelf', parent_external_key: 'HALL' })
    const keys = async (page: Promise<{ data: { external_key: string }[] }>) =>
      (await page).data.map((location) => location.external_key)
    expect(await keys(client.locations.children(hall.id))).toEqual(['SHELF'])
    expect(await keys(client.locations.descendants(hall.id))).toEqual(['SHELF'])
    expect(await keys(client.locations.ancestors(shelf.id))).toEqual(['HALL'])
    expect(await keys(client.locations.list({ parent_id: [hall.id] }))).toEqual(['SHELF'])
    expect(await rejection(client.locations.delete(hall.id))).toBeInstanceOf(ConflictError)

    const renamed = await client.locations.rename(hall.id, 'HALL-A')
    expect(renamed.descendant_count_affected).toBe(1)
    const tag = await client.locations.attachTag(shelf.id, { tag_type: 'ble', value: 'AA:BB' })
    await client.locations.detachTag(shelf.id, tag.id)
    expect(await client.locations.patch(shelf.id, { parent_id: null })).toMatchObject({ parent_external_key: null })
    await client.locations.delete(hall.id)
    expect(await client.locations.findByKey('HALL-A')).toBeNull()
    expect(await client.locations.findByKey('SHELF')).toMatchObject({ id: shelf.id })
  })
})

describe('pages', () => {
  it('contain every matching row once, with any page size', async () => {
    const { client: own } = await newClient(await context.app.newOrg())
    const wanted: string[] = []
    for (let index = 0; index < 23; index++) {
      const asset = await own.assets.create({ name: index % 3 === 0 ? 'Crate' : 'Pallet' })
      if (asset.name === 'Pallet') wanted.push(asset.external_key)
    }
    const collectKeys = async (assets: AsyncIterable<Asset>): Promise<string[]> => {
      const keys: string[] = []
      for await (const { external_key: key } of assets) keys.push(key)
      return keys
    }
    expect(wanted).toHaveLength(15)
    expect(await collectKeys(own.assets.iterate({ q: 'pallet' }))).toEqual(wanted)
    expect(await collectKeys(own.assets.iterate({ q: 'pallet', limit: 4 }))).toEqual(wanted)
    expect(await collectKeys(own.assets.iterate({ q: 'pallet', limit: 5, sort: '-external_key' }))).toEqual(
      wanted.toReversed(),
    )
    expect(await collectKeys(own.assets.iterate({ q: 'pallet', limit: 4, offset: 12 }))).toEqual(wanted.slice(12))
    expect(await collectKeys(own.assets.iterate({ external_key: [wanted[3]!, wanted[7]!] }))).toEqual([
      wanted[3],
      wanted[7],
    ])
    expect(await collectKeys(own.assets.iterate({ q: 'nothing like it' }))).toEqual([])
  })

  it('are read only as far as the caller iterates', async () => {
    const { client: own } = await newClient(await context.app.newOrg())
    for (const name of ['one', 'two', 'three']) await own.locations.create({ name })
    const seen: string[] = []
    for await (const { name } of own.locations.iterate({ limit: 1, sort: 'created_at' })) {
      seen.push(name)
      if (seen.length === 2) break
    }
    expect(seen).toEqual(['one', 'two'])
  })
})

describe('errors', () => {
  it('name the invalid fields and the request', async () => {
    const error = (await rejection(client.assets.create({ name: '' }))) as ValidationError
    expect(error).toBeInstanceOf(ValidationError)
    expect(error).toMatchObject({ status: 400, type: 'validation_error', name: 'ValidationError' })
    expect(error.fields).toMatchObject([{ field: 'name', code: 'too_short', params: { min_length: 1 } }])
    expect(error.requestId).toMatch(/^[0-9A-HJKMNP-TV-Z]{26}$/)
  })

  it('have one class per kind', async () => {
    const { client: other } = await newClient(await context.app.newOrg())
    const foreign = await other.assets.create({ name: 'Theirs', external_key: 'TAKEN' })
    const own = await client.assets.create({ name: 'Ours', external_key: 'TAKEN' })
    const duplicate = client.assets.create({ name: 'Ours', external_key: 'TAKEN' })
    expect(await rejection(duplicate)).toBeInstanceOf(ConflictError)
    expect(await rejection(client.assets.get(foreign.id))).toBeInstanceOf(ForbiddenError)
    expect(await rejection(client.assets.patch(own.id, [] as never))).toBeInstanceOf(BadRequestError)
  })
})

describe('the natural-key API', () => {
  it('is called by the names of its operations, with the same data and token', async () => {
    const { data } = await client.natural.request('assets.create', { body: { identifier: 'N/1', name: 'Drill' } })
    expect(await client.assets.get(data.surrogate_id)).toMatchObject({ external_key: 'N/1', name: 'Drill' })
    const changed = await client.natural.request('assets.update', {
      path: { identifier: 'N/1' },
      body: { name: 'Hammer drill' },
    })
    expect(changed.data.name).toBe('Hammer drill')
    const page = await client.natural.request('assets.list', { query: { q: 'hammer' } })
    expect(page.data.map(({ identifier }) => identifier)).toEqual(['N/1'])
    expect(await client.natural.request('assets.delete', { path: { identifier: 'N/1' } })).toBeUndefined()
  })
})
