import { beforeAll, describe, expect, it } from 'vitest'
import { Site, type SiteAsset, expectApiError, useTracking } from '../../support/tracking.ts'

const context = useTracking('2026-05-04T12:00:00Z')

const at = (clock: string): string => `2026-05-04T${clock}Z`
const path = '/api/v1/reports/asset-locations'

let site: Site
let [pallet, crate] = [] as unknown as [SiteAsset, SiteAsset]

beforeAll(async () => {
  site = await Site.open(context.app, 'Dock', 'Hall')
  pallet = await site.createAsset('Pallet')
  crate = await site.createAsset('Crate')
  await site.createAsset('Never')
  await site.sendReads(
    { tag: pallet.tag, antenna: 1, observed_at: at('10:00:30') },
    { tag: pallet.tag, antenna: 2, observed_at: at('10:10:15.500') },
    { tag: pallet.tag, antenna: 7, observed_at: at('10:20:00') },
    { tag: pallet.tag, antenna: 1, observed_at: at('10:30:00') },
    { tag: crate.tag, antenna: 2, observed_at: at('10:10:00') },
  )
})

describe('the report at an instant', () => {
  it.each([
    ['before anything was seen', '10:00:29.999999', {}],
    ['at the very observation', '10:00:30', { PALLET: ['DOCK', at('10:00:30.000')] }],
    ['between two minutes', '10:09:59', { PALLET: ['DOCK', at('10:00:30.000')] }],
    [
      'within the minute but before its observation',
      '10:10:15.499999',
      { PALLET: ['DOCK', at('10:00:30.000')], CRATE: ['HALL', at('10:10:00.000')] },
    ],
    ['at its observation', '10:10:15.5', { PALLET: ['HALL', at('10:10:15.500')], CRATE: ['HALL', at('10:10:00.000')] }],
    [
      'after a scan without a location',
      '10:25:00',
      { PALLET: [null, at('10:20:00.000')], CRATE: ['HALL', at('10:10:00.000')] },
    ],
    ['after everything', '11:00:00', { PALLET: ['DOCK', at('10:30:00.000')], CRATE: ['HALL', at('10:10:00.000')] }],
  ])('shows where every asset was %s (D34)', async (_, clock, expected) => {
    expect(await site.assetLocations({ at: at(clock) })).toEqual(expected)
  })

  it.each([
    ['location_external_key', ['CRATE', 'PALLET']],
    ['-location_external_key', ['PALLET', 'CRATE']],
  ])('treats an asset at no location as having the last key when sorted by %s', async (sort, expected) => {
    const reply = await site.api.get(path, { at: at('10:25:00'), sort })
    expect(reply.json.data.map((row: { asset_external_key: string }) => row.asset_external_key)).toEqual(expected)
  })

  it('is the current report when the instant is in the future', async () => {
    const later = await site.api.get(path, { at: '2999-01-01T00:00:00Z' })
    expect(later.json).toEqual((await site.api.get(path)).json)
  })

  it('is empty before the first observation', async () => {
    expect(await site.assetLocations({ at: '0001-01-01T00:00:00Z' })).toEqual({})
  })

  it('accepts a numeric offset and up to nine fractional digits', async () => {
    expect(await site.assetLocations({ at: '2026-05-04T12:00:30.123456789+02:00' })).toEqual({
      PALLET: ['DOCK', at('10:00:30.000')],
    })
  })

  it('filters by the location at that time, not by the current one', async () => {
    const then = at('10:15:00')
    expect(await site.assetLocations({ at: then, location_external_key: 'DOCK' })).toEqual({})
    expect(Object.keys(await site.assetLocations({ at: then, location_id: site.locations[1]!.id })).toSorted()).toEqual(
      ['CRATE', 'PALLET'],
    )
    expect(Object.keys(await site.assetLocations({ at: then, q: 'crat' }))).toEqual(['CRATE'])
    expect(Object.keys(await site.assetLocations({ at: then, asset_id: pallet.id }))).toEqual(['PALLET'])
  })

  it('sorts and pages like the current report', async () => {
    const query = { at: at('10:15:00'), limit: 1 }
    const pages = await Promise.all([0, 1, 2].map((offset) => site.api.get(path, { ...query, offset })))
    expect(pages.map((page) => [page.json.total_count, page.json.data[0]?.asset_external_key])).toEqual([
      [2, 'PALLET'],
      [2, 'CRATE'],
      [2, undefined],
    ])
    const sorted = await site.api.get(path, { ...query, sort: 'asset_external_key' })
    expect(sorted.json.data[0].asset_external_key).toBe('CRATE')
  })

  it('includes a late read', async () => {
    await site.sendReads({ tag: crate.tag, antenna: 1, observed_at: at('09:00:00') })
    expect(await site.assetLocations({ at: at('09:30:00') })).toEqual({ CRATE: ['DOCK', at('09:00:00.000')] })
  })

  it('shows deleted assets only with include_deleted', async () => {
    const other = await Site.open(context.app, 'Dock')
    const gone = await other.createAsset('Gone')
    await other.sendReads({ tag: gone.tag, observed_at: at('10:00:00') })
    await other.api.delete(`/api/v1/assets/${gone.id}`)
    expect(await other.assetLocations({ at: at('10:30:00') })).toEqual({})
    expect(await other.assetLocations({ at: at('10:30:00'), include_deleted: true })).toEqual({
      GONE: ['DOCK', at('10:00:00.000')],
    })
  })

  it('has every order of the report, with and without deleted assets [D25]', async () => {
    const other = await Site.open(context.app, 'Dock', 'Hall')
    const [ant, bee, cow] = [
      await other.createAsset('Ant'),
      await other.createAsset('Bee'),
      await other.createAsset('Cow'),
    ]
    await other.sendReads(
      { tag: ant.tag, antenna: 2, observed_at: at('10:00:00') },
      { tag: bee.tag, antenna: 1, observed_at: at('10:05:00') },
      { tag: cow.tag, antenna: 1, observed_at: at('10:02:00') },
    )
    await other.api.delete(`/api/v1/assets/${cow.id}`)
    const keys = async (sort: string, includeDeleted: boolean): Promise<string[]> => {
      const query = { at: at('11:00:00'), sort, include_deleted: includeDeleted }
      const rows = (await other.api.get(path, query)).json.data as { asset_external_key: string }[]
      return rows.map((row) => row.asset_external_key)
    }
    for (const [sort, live, all] of [
      ['-asset_last_seen', ['BEE', 'ANT'], ['BEE', 'COW', 'ANT']],
      ['asset_last_seen', ['ANT', 'BEE'], ['ANT', 'COW', 'BEE']],
      ['asset_external_key', ['ANT', 'BEE'], ['ANT', 'BEE', 'COW']],
      ['-asset_external_key', ['BEE', 'ANT'], ['COW', 'BEE', 'ANT']],
      ['location_external_key,asset_external_key', ['BEE', 'ANT'], ['BEE', 'COW', 'ANT']],
    ] as const)
      expect([sort, await keys(sort, false), await keys(sort, true)]).toEqual([sort, live, all])
  })

  it('includes an operator’s save', async () => {
    const other = await Site.open(context.app, 'Dock', 'Hall')
    const box = await other.createAsset('Box')
    await other.sendReads({ tag: box.tag, observed_at: at('10:00:10') })
    await other.recordSighting(other.locations[1]!, [box], at('10:00:40'))
    expect(await other.assetLocations({ at: at('10:00:39') })).toEqual({})
    expect(await other.assetLocations({ at: at('10:00:40') })).toEqual({ BOX: ['HALL', at('10:00:40.000')] })
  })

  it.each(['', 'now', '2026-05-04', '2026-05-04T10:00:00', '2026-05-04T10:00:00.1234567890Z', '2026-13-01T00:00:00Z'])(
    'rejects at=%s',
    async (text) => {
      const reply = await site.api.get(path, { at: text })
      expectApiError(reply, 400, 'validation_error', [{ field: 'at', code: 'invalid_value' }])
      expect(reply.json.error.detail).toBe('Invalid at timestamp; expected RFC 3339')
    },
  )
})
