import { beforeAll, describe, expect, it } from 'vitest'
import { type SiteLocation, Site, type SiteAsset, expectApiError, newTag, useTracking } from '../../support/tracking.ts'

const context = useTracking('2026-05-04T12:00:00Z')

const at = (clock: string): string => `2026-05-04T${clock}Z`
const path = '/api/v1/reports/asset-locations'

let site: Site
let [dock, hall, shelf] = [] as unknown as [SiteLocation, SiteLocation, SiteLocation]
let [ant, bee, cat, dog, gone] = [] as unknown as SiteAsset[] as [SiteAsset, SiteAsset, SiteAsset, SiteAsset, SiteAsset]

/** The asset keys of a page in the order of the response. */
const keys = async (
  query: string | Record<string, string | number | boolean | (string | number)[]>,
): Promise<string[]> => {
  const reply = await site.api.get(path, query)
  expect(reply.status).toBe(200)
  return reply.json.data.map((row: { asset_external_key: string }) => row.asset_external_key)
}

beforeAll(async () => {
  site = await Site.open(context.app, 'Dock', 'Hall')
  ;[dock, hall] = site.locations as [SiteLocation, SiteLocation]
  shelf = await site.createLocation('Shelf', { parent_id: hall.id })
  const { token } = await site.createReader({ scanPoints: [{ antenna: 1, locationId: shelf.id }] })
  ant = await site.createAsset('Ant', { description: 'a hidden word' })
  bee = await site.createAsset('Bee')
  cat = await site.createAsset('Cat 100%_\\')
  dog = await site.createAsset('Dog')
  gone = await site.createAsset('Gone')
  await site.createAsset('Never scanned')
  await site.sendReads(
    { tag: ant.tag, antenna: 1, observed_at: at('10:00:01') },
    { tag: bee.tag, antenna: 2, observed_at: at('10:00:04') },
    { tag: dog.tag, antenna: 3, observed_at: at('10:00:02') },
    { tag: gone.tag, antenna: 1, observed_at: at('10:00:05') },
  )
  expect((await site.post([{ tag: cat.tag, observed_at: at('10:00:03.123999') }], token)).status).toBe(202)
  expect((await site.api.delete(`/api/v1/assets/${gone.id}`)).status).toBe(204)
})

describe('the asset-locations report', () => {
  it('has one row per scanned asset, latest first, and none for an asset never scanned', async () => {
    const row = (asset: SiteAsset, location: SiteLocation | null, clock: string) => ({
      asset_id: asset.id,
      asset_external_key: asset.key,
      location_id: location?.id ?? null,
      location_external_key: location?.key ?? null,
      asset_deleted_at: null,
      asset_last_seen: at(clock),
    })
    const reply = await site.api.get(path)
    expect(reply.status).toBe(200)
    expect(reply.json).toEqual({
      data: [
        row(bee, hall, '10:00:04.000'),
        row(cat, shelf, '10:00:03.123'),
        row(dog, null, '10:00:02.000'),
        row(ant, dock, '10:00:01.000'),
      ],
      limit: 50,
      offset: 0,
      total_count: 4,
    })
  })

  it('adds deleted assets with include_deleted, with the instant of their deletion and where they were', async () => {
    const reply = await site.api.get(path, { include_deleted: true })
    expect(reply.json.total_count).toBe(5)
    expect(reply.json.data[0]).toEqual({
      asset_id: gone.id,
      asset_external_key: 'GONE',
      location_id: dock.id,
      location_external_key: 'DOCK',
      asset_deleted_at: at('12:00:00.001'),
      asset_last_seen: at('10:00:05.000'),
    })
    expect(await keys({ include_deleted: false })).not.toContain('GONE')
  })

  it('contains no data of other organizations', async () => {
    const outsider = await Site.open(context.app, 'Dock')
    expect(await outsider.assetLocations({ include_deleted: true })).toEqual({})
    expect(await outsider.assetLocations({ asset_id: ant.id })).toEqual({})
    expect(await outsider.assetLocations({ location_id: dock.id })).toEqual({})
  })
})

describe('filters of the report', () => {
  it.each([
    ['one asset_id', () => ({ asset_id: ant.id }), ['ANT']],
    ['several asset_id', () => ({ asset_id: [ant.id, bee.id] }), ['BEE', 'ANT']],
    ['an asset_id that names nothing', () => ({ asset_id: 77 }), []],
    ['several asset_external_key', () => ({ asset_external_key: ['ANT', 'DOG', 'NOBODY'] }), ['DOG', 'ANT']],
    ['an asset_external_key in another case', () => ({ asset_external_key: 'ant' }), []],
    ['one location_id', () => ({ location_id: hall.id }), ['BEE']],
    ['several location_id', () => ({ location_id: [hall.id, shelf.id] }), ['BEE', 'CAT 100%_\\']],
    ['several location_external_key', () => ({ location_external_key: ['DOCK', 'SHELF'] }), ['CAT 100%_\\', 'ANT']],
    ['a location_external_key that names nothing', () => ({ location_external_key: 'NOWHERE' }), []],
    [
      'an asset filter and a location filter',
      () => ({ asset_id: [ant.id, bee.id], location_external_key: 'DOCK' }),
      ['ANT'],
    ],
    ['a deleted asset without include_deleted', () => ({ asset_id: gone.id }), []],
    ['a deleted asset with include_deleted', () => ({ asset_id: gone.id, include_deleted: true }), ['GONE']],
    ['deleted assets at a location', () => ({ location_id: dock.id, include_deleted: true }), ['GONE', 'ANT']],
    [
      'everything below a location',
      () => ({ location_id: hall.id, include_descendants: true }),
      ['BEE', 'CAT 100%_\\'],
    ],
    [
      'everything below a key',
      () => ({ location_external_key: 'HALL', include_descendants: true }),
      ['BEE', 'CAT 100%_\\'],
    ],
    ['a location alone', () => ({ location_id: hall.id, include_descendants: false }), ['BEE']],
    ['nothing below a leaf', () => ({ location_id: shelf.id, include_descendants: true }), ['CAT 100%_\\']],
    [
      'include_descendants without a location',
      () => ({ include_descendants: true }),
      ['BEE', 'CAT 100%_\\', 'DOG', 'ANT'],
    ],
  ])('find %s', async (_, query, expected) => {
    const reply = await site.api.get(path, query())
    expect(reply.status).toBe(200)
    expect(reply.json.data.map((row: { asset_external_key: string }) => row.asset_external_key)).toEqual(expected)
    expect(reply.json.total_count).toBe(expected.length)
  })

  it.each([
    ['a part of the name', 'nt', ['ANT']],
    ['the name in another case', 'bEE', ['BEE']],
    ['a percent sign as itself', '0%', ['CAT 100%_\\']],
    ['an underscore as itself', '_', ['CAT 100%_\\']],
    ['a backslash as itself', '\\', ['CAT 100%_\\']],
    ['a wildcard that matches nothing', 'a%t', []],
    ['a deleted asset’s name', 'gone', []],
    ['a location’s name', 'hall', []],
    ['nothing at all', '', ['BEE', 'CAT 100%_\\', 'DOG', 'ANT']],
  ])('search %s (D26)', async (_, q, expected) => {
    expect(await keys({ q })).toEqual(expected)
  })

  it('search the external_key and live tag values, but not the description (D26)', async () => {
    const other = await Site.open(context.app, 'Dock')
    const value = newTag()
    const tags = [
      { tag_type: 'rfid', value },
      { tag_type: 'barcode', value: 'Shelf-42' },
    ]
    const box = await other.createAsset('Box', { external_key: 'KEY-7', description: 'fragile', tags })
    await other.sendReads({ tag: value, observed_at: at('10:00:00') })
    const found = async (q: string): Promise<number> => (await other.api.get(path, { q })).json.total_count
    expect(await found('key-7')).toBe(1)
    expect(await found(value.toLowerCase().slice(4))).toBe(1)
    expect(await found('ELF-4')).toBe(1)
    expect(await found('fragile')).toBe(0)
    expect(await found('x')).toBe(1)
    await other.api.patch(`/api/v1/assets/${box.id}`, { description: 'Shelf-43\nsecond line key' })
    expect(await found('shelf-43')).toBe(0)
    expect(await found('second')).toBe(0)
    const attached: { id: number; tag_type: string }[] = (await other.api.get(`/api/v1/assets/${box.id}`)).json.data
      .tags
    const barcode = attached.find((tag) => tag.tag_type === 'barcode')!
    await other.api.delete(`/api/v1/assets/${box.id}/tags/${barcode.id}`)
    expect(await found('elf-4')).toBe(0)
    expect(await found('key-7')).toBe(1)
  })

  it('do not match across two fields', async () => {
    expect(await keys({ q: 'antant' })).toEqual([])
    expect(await keys({ q: `ant${ant.tag.slice(0, 4)}` })).toEqual([])
  })

  it('find deleted assets by name with include_deleted, but not by their former tags', async () => {
    expect(await keys({ q: 'gone', include_deleted: true })).toEqual(['GONE'])
    expect(await keys({ q: gone.tag, include_deleted: true })).toEqual([])
  })

  it.each([
    [['asset_id', 'asset_external_key'], () => `asset_id=${ant.id}&asset_external_key=ANT`],
    [['asset_external_key', 'asset_id'], () => `asset_external_key=BEE&asset_id=${ant.id}`],
    [['location_id', 'location_external_key'], () => `location_id=${dock.id}&location_external_key=DOCK`],
    [['location_external_key', 'location_id'], () => `location_external_key=A&location_id=1&location_id=2`],
  ])('are ambiguous when given as %s, even when equal (D25)', async (fields, query) => {
    const problems = fields.map((field) => ({ field, code: 'ambiguous_fields' }))
    expectApiError(await site.api.get(path, query()), 400, 'validation_error', problems)
  })

  it.each([
    ['asset_id=0', 'asset_id', 'too_small', { min: 1 }],
    ['asset_id=9007199254740992', 'asset_id', 'too_large', { max: 9_007_199_254_740_991 }],
    ['asset_id=ANT', 'asset_id', 'invalid_value', undefined],
    ['location_id=', 'location_id', 'invalid_value', undefined],
    ['location_id=-3', 'location_id', 'too_small', { min: 1 }],
    ['asset_external_key=', 'asset_external_key', 'too_short', { min_length: 1 }],
    [`location_external_key=${'x'.repeat(256)}`, 'location_external_key', 'too_long', { max_length: 255 }],
    ['include_deleted=1', 'include_deleted', 'invalid_value', undefined],
    ['include_descendants=yes', 'include_descendants', 'invalid_value', undefined],
    ['q=a&q=b', 'q', 'invalid_value', undefined],
    ['q=%00', 'q', 'invalid_value', undefined],
    [`q=${'x'.repeat(256)}`, 'q', 'too_long', { max_length: 255 }],
    ['external_key=ANT', 'external_key', 'unknown_field', undefined],
    ['is_active=true', 'is_active', 'unknown_field', undefined],
    ['parent_id=1', 'parent_id', 'unknown_field', undefined],
    ['from=2026-05-04T10:00:00Z', 'from', 'unknown_field', undefined],
    ['limit=0', 'limit', 'too_small', { min: 1 }],
    ['limit=201', 'limit', 'too_large', { max: 200 }],
    ['offset=-1', 'offset', 'too_small', { min: 0 }],
    ['sort=asset_id', 'sort', 'invalid_value', undefined],
    ['sort=asset_last_seen,', 'sort', 'invalid_value', undefined],
    ['at=2026-05-04', 'at', 'invalid_value', undefined],
  ])('reject ?%s', async (query, field, code, params) => {
    const reply = await site.api.get(path, query)
    expectApiError(reply, 400, 'validation_error', [{ field, code, ...(params === undefined ? {} : { params }) }])
  })
})
