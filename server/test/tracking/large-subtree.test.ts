import { beforeAll, describe, expect, it } from 'vitest'
import type { Db } from '../../src/db/database.ts'
import { type Sql, render } from '../../src/db/sql.ts'
import type { Page } from '../../src/kernel/page.ts'
import { listAssetsAtLocations } from '../../src/tracking/report/assets-at-location.sql.ts'
import { listAssetsByLastSeen } from '../../src/tracking/report/assets-by-last-seen.sql.ts'
import { positionBatch } from '../../src/tracking/history/export.sql.ts'
import { listLocationEvents } from '../../src/tracking/history/location-events.sql.ts'
import { assetLocations } from '../../src/tracking/report/report.sql.ts'
import { listNeverSeenAssets } from '../../src/tracking/report/unseen-assets.sql.ts'
import { type SiteAsset, type SiteLocation, Site, database, instant, useTracking } from '../support/tracking.ts'

const context = useTracking('2026-05-04T12:00:00Z')
const now = instant('2026-05-04T12:00:00Z')
const everyAsset = 1_000_000

let site: Site
let [campus, hall, shelf, rack, yard, gone] = [] as unknown as SiteLocation[]
const assets: SiteAsset[] = []

/** Every asset is seen at a few locations, in an order that differs from asset to asset. */
async function recordStays(): Promise<void> {
  const route = [shelf!, hall!, yard!, rack!, shelf!, campus!, yard!]
  for (const [index, asset] of assets.slice(0, -2).entries())
    for (let step = 0; step <= index % 5; step++)
      await site.recordSighting(
        route[(index + step) % route.length]!,
        [asset],
        `2026-05-04T${10 + (step % 2)}:${String((index * 7 + step * 13) % 60).padStart(2, '0')}:00Z`,
      )
}

beforeAll(async () => {
  site = await Site.open(context.app)
  campus = await site.createLocation('Campus')
  hall = await site.createLocation('Hall', { parent_id: campus.id })
  shelf = await site.createLocation('Shelf', { parent_id: hall.id })
  rack = await site.createLocation('Rack', { parent_id: hall.id })
  yard = await site.createLocation('Yard')
  gone = await site.createLocation('Gone', { parent_id: campus.id })
  for (let index = 0; index < 26; index++) assets.push(await site.createAsset(`Box ${(index * 11) % 26}`))
  await recordStays()
  await site.recordSighting(gone, [assets[3]!], '2026-05-04T11:59:00Z')
  for (const asset of [assets[1]!, assets[3]!, assets[4]!]) await site.api.delete(`/api/v1/assets/${asset.id}`)
  expect((await site.api.delete(`/api/v1/locations/${gone.id}`)).status).toBe(204)
  await database(context.app)`
    update assets set valid_to = '2026-05-04T11:00:00Z', valid_from = '2026-05-01T00:00:00Z'
    where org_id = ${site.org.orgId} and id in (${assets[5]!.id}, ${assets[6]!.id})`
  await database(context.app)`
    update assets set valid_from = '2026-06-01T00:00:00Z' where org_id = ${site.org.orgId} and id = ${assets[7]!.id}`
})

/** The pages of a list and the texts of the statements that select them. */
async function allPages<Row>(list: (db: Db, offset: number) => Promise<Page<Row>>) {
  const [rows, totals, texts] = [[] as Row[], new Set<number>(), new Set<string>()]
  const { read } = context.app.context.db
  let text = ''
  const db = {
    query: <Found extends object>(statement: Sql): Promise<Found[]> => {
      text = render(statement).text
      return read.query<Found>(statement)
    },
  }
  for (let offset = 0; ; offset += 3) {
    const page = await list(db, offset)
    texts.add(text)
    totals.add(page.total)
    rows.push(...page.rows)
    if (page.rows.length === 0) return { listed: { rows, totals: [...totals] }, texts }
  }
}

/** Lists by two statements; they must be different statements with the same result. */
async function expectSame<Row>(list: (db: Db, offset: number, isLarge: boolean) => Promise<Page<Row>>): Promise<void> {
  const large = await allPages((db, offset) => list(db, offset, true))
  const small = await allPages((db, offset) => list(db, offset, false))
  expect(large.listed).toEqual(small.listed)
  expect(large.listed.totals).toEqual([large.listed.rows.length])
  expect(large.listed.rows.length).toBeGreaterThan(3)
  for (const text of large.texts) expect(small.texts).not.toContain(text)
}

const maxUnorderedAssets = (isLarge: boolean): number => (isLarge ? 0 : everyAsset)

describe('A subtree with a large share of the assets is listed like a small one', () => {
  it.each(['asset_last_seen', 'asset_external_key', 'location_external_key'] as const)(
    'in the report by %s, with and without deleted assets',
    async (field) => {
      for (const descending of [true, false])
        for (const includeDeleted of [true, false])
          await expectSame((db, offset, isLarge) => {
            const request = { sort: [{ field, descending }], locationIds: [campus!.id], includeDescendants: true }
            const page = { limit: 3, offset, now, includeDeleted }
            return assetLocations(
              db,
              site.org.orgId,
              { ...page, ...request },
              { maxUnorderedAssets: maxUnorderedAssets(isLarge), slice: 1000 },
            )
          })
    },
  )

  it.each(['external_key', 'name', 'created_at', 'updated_at'] as const)(
    'in the list of assets by %s',
    async (field) => {
      for (const descending of [true, false])
        await expectSame((db, offset, isLarge) => {
          const request = { limit: 3, offset, filter: {}, sort: [{ field, descending }], now }
          return listAssetsAtLocations(db, site.org.orgId, [campus!.id, yard!.id], request, maxUnorderedAssets(isLarge))
        })
    },
  )

  it('in the list of assets by their last sighting', async () => {
    for (const descending of [true, false])
      await expectSame((db, offset, isLarge) => {
        const request = { limit: 3, offset, filter: {}, now, descending, locationIds: [hall!.id, yard!.id] }
        return listAssetsByLastSeen(db, site.org.orgId, request, maxUnorderedAssets(isLarge))
      })
  })

  it('in its arrivals and departures, of all time and within bounds', async () => {
    const bounds = [{}, { from: instant('2026-05-04T10:20:00Z') }, { to: instant('2026-05-04T11:30:00Z') }]
    for (const location of [campus!, hall!])
      for (const within of bounds)
        await expectSame((db, offset, isLarge) => {
          const request = { limit: 3, offset, includeDescendants: true, ...within }
          return listLocationEvents(db, site.org.orgId, location.id, request, isLarge ? 10 : everyAsset)
        })
  })
})

it('The export of the positions at a location reads the assets there only', async () => {
  const { read } = context.app.context.db
  const atYard = { locationIds: [yard!.id] }
  const all = await positionBatch(read, site.org.orgId, {}, 0, 200)
  const there = all.filter(({ locationKey }) => locationKey === yard!.key)
  expect(there.length).toBeGreaterThan(1)
  expect(await positionBatch(read, site.org.orgId, atYard, 0, 200)).toEqual(there)
  expect(await positionBatch(read, site.org.orgId, atYard, there[0]!.assetId, 1)).toEqual([there[1]])
})

it('Assets that were never seen are listed in the same order wherever they are found', async () => {
  const late = await site.createAsset('Zebra')
  const listOf = async (tested?: number) => {
    const page = (db: Db, offset: number) => listNeverSeenAssets(db, site.org.orgId, { limit: 3, offset }, tested)
    return (await allPages(page)).listed
  }
  const { rows, totals } = await listOf()
  expect(rows.map(({ externalKey }) => externalKey)).toContain(late.key)
  expect(rows).toEqual(rows.toSorted((a, b) => (a.externalKey < b.externalKey ? -1 : 1)))
  expect(totals).toEqual([3])
  expect(await listOf(1)).toEqual({ rows, totals })
})

it('The descendants of a location are the same on pages of any size', async () => {
  const deep = await Site.open(context.app)
  const top = await deep.createLocation('Top')
  const parents = [top]
  // Keys in which a character sorts before the slash of a path.
  for (let index = 0; index < 20; index++)
    parents.push(
      await deep.createLocation(`${'ab'[index % 2]}${'!-z'[index % 3]}${index}`, {
        parent_id: parents[Math.floor(index / 3)]!.id,
      }),
    )
  const keys = async (query: { limit: number; offset?: number }): Promise<string[]> => {
    const { json } = await deep.api.get(`/api/v1/locations/${top.id}/descendants`, query)
    expect(json.total_count).toBe(20)
    return json.data.map((one: { external_key: string }) => one.external_key)
  }
  const all = await keys({ limit: 200 })
  expect(new Set(all).size).toBe(20)
  for (const limit of [1, 3, 7]) {
    const paged = []
    for (let offset = 0; offset < 20; offset += limit) paged.push(...(await keys({ limit, offset })))
    expect(paged).toEqual(all)
  }
})
