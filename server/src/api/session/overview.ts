import { boolean, listOf, object, id } from '../../http/validation/fields.ts'
import {
  booleanParam,
  idsParam,
  integerParam,
  limit,
  offset,
  searchParam,
  sortParam,
} from '../../http/validation/parameters.ts'
import { type AnyRoute, ok, route } from '../../http/route.ts'
import { nullable } from '../../http/validation/schema.ts'
import { type Output, component, pageOf, envelope } from '../../http/openapi/response-schema.ts'
import { now } from '../../kernel/clock.ts'
import { formatMillis, instantFromMillis } from '../../kernel/instant.ts'
import type { BaseRecord, RecordDeps } from '../../records/record.ts'
import { toJsonText } from '../../kernel/json.ts'
import { inSlices } from '../../kernel/slices.ts'
import { listAssetsAtLocations } from '../../tracking/report/assets-at-location.sql.ts'
import { listAssetsByLastSeen } from '../../tracking/report/assets-by-last-seen.sql.ts'
import { type Overview, type OverviewCache, unseenAfterHours } from '../../tracking/report/overview-cache.ts'
import {
  type NeverSeenAsset,
  type UnseenAsset,
  listNeverSeenAssets,
  listUnseenAssets,
} from '../../tracking/report/unseen-assets.sql.ts'
import { listDb } from '../shared/list-db.ts'
import { timestamp } from '../shared/wire.ts'
import { singleLine, integer } from './fields.ts'

export interface OverviewDeps extends RecordDeps {
  overviews: OverviewCache
}

const OverviewOut = component(
  'Overview',
  {
    assets_total: integer,
    seen_total: integer,
    unseen_after_hours: integer,
    unseen_total: integer,
    locations: listOf(
      object({
        location_id: id,
        parent_id: nullable(id),
        name: singleLine,
        external_key: singleLine,
        here: integer,
        here_with_subtree: integer,
      }),
    ),
  },
  { assets_total: 0, seen_total: 0, unseen_after_hours: 24, unseen_total: 0, locations: [] },
)

type OverviewFields = Output<(typeof OverviewOut)['shape']>

const presentTotals = ({ totals }: Overview): Omit<OverviewFields, 'locations'> => ({
  assets_total: totals.assets,
  seen_total: totals.seen,
  unseen_after_hours: unseenAfterHours,
  unseen_total: totals.unseen,
})

const presentLocation = (location: Overview['locations'][number]): OverviewFields['locations'][number] => ({
  location_id: location.locationId,
  parent_id: location.parentId,
  name: location.name,
  external_key: location.externalKey,
  here: location.here,
  here_with_subtree: location.hereWithSubtree,
})

/** The response with all locations, which may have many MiB. It yields after each part. */
function* overviewText(overview: Overview): Generator<void, Buffer, void> {
  const parts = [Buffer.from(`{"data":${toJsonText(presentTotals(overview)).slice(0, -1)},"locations":[`)]
  const { locations } = overview
  for (let start = 0; start < locations.length; start += locationsPerPart) {
    const part = locations.slice(start, start + locationsPerPart).map((one) => toJsonText(presentLocation(one)))
    parts.push(Buffer.from((start === 0 ? '' : ',') + part.join(',')))
    yield
  }
  parts.push(Buffer.from(']}}'))
  return Buffer.concat(parts)
}

const locationsPerPart = 100

/** The serialized responses; requests that get the same counts share one. */
const overviewTexts = new WeakMap<Overview, Promise<Buffer>>()

function serializeOverview(overview: Overview): Promise<Buffer> {
  const text = overviewTexts.get(overview) ?? inSlices(overviewText(overview))
  overviewTexts.set(overview, text)
  return text
}

const UnseenOut = component(
  'UnseenAsset',
  {
    asset_id: id,
    external_key: singleLine,
    name: singleLine,
    location_id: nullable(id),
    location_name: nullable(singleLine),
    last_seen_at: timestamp,
  },
  {
    asset_id: 4503170118275611,
    external_key: 'ASSET-0001',
    name: 'Pallet jack 7',
    location_id: null,
    location_name: null,
    last_seen_at: '2026-05-04T08:15:02.120Z',
  },
)

const presentUnseen = (asset: UnseenAsset): Output<(typeof UnseenOut)['shape']> => ({
  asset_id: asset.assetId,
  external_key: asset.externalKey,
  name: asset.name,
  location_id: asset.locationId,
  location_name: asset.locationName,
  last_seen_at: formatMillis(asset.lastSeenAt),
})

const AssetAtLocationOut = component(
  'AssetAtLocation',
  { id: id, external_key: singleLine, name: singleLine, is_active: boolean, updated_at: timestamp, tag_count: integer },
  {
    id: 4503170118275611,
    external_key: 'ASSET-0001',
    name: 'Pallet jack 7',
    is_active: true,
    updated_at: '2026-05-04T08:15:30.250Z',
    tag_count: 1,
  },
)

const presentAssetAtLocation = (one: BaseRecord): Output<(typeof AssetAtLocationOut)['shape']> => ({
  id: one.id,
  external_key: one.externalKey,
  name: one.name,
  is_active: one.isActive,
  updated_at: formatMillis(one.updatedAt),
  tag_count: one.tags.length,
})

const NeverSeenOut = component(
  'NeverSeenAsset',
  { asset_id: id, external_key: singleLine, name: singleLine, created_at: timestamp },
  {
    asset_id: 4503170118275611,
    external_key: 'ASSET-0001',
    name: 'Pallet jack 7',
    created_at: '2026-05-04T08:15:02.120Z',
  },
)

const presentNeverSeen = (asset: NeverSeenAsset): Output<(typeof NeverSeenOut)['shape']> => ({
  asset_id: asset.assetId,
  external_key: asset.externalKey,
  name: asset.name,
  created_at: formatMillis(asset.createdAt),
})

export const overviewComponents = [OverviewOut, UnseenOut, NeverSeenOut, AssetAtLocationOut]

/** The overview, unseen assets and assets at a location, for every role. */
export function overviewRoutes(deps: OverviewDeps): AnyRoute[] {
  const common = { group: 'Overview and search', method: 'GET', access: 'session', scopes: ['tracking:read'] } as const
  return [
    route({
      ...common,
      id: 'overview',
      path: '/overview',
      summary: 'Count the assets at each location',
      success: { status: 200, description: 'Counts', schema: envelope(OverviewOut) },
      async handle({ principal }) {
        return ok(await serializeOverview(await deps.overviews.of(principal.orgId)))
      },
    }),
    route({
      ...common,
      id: 'assets.unseen',
      path: '/unseen-assets',
      summary: 'List assets that have not been seen for a while, longest unseen first',
      query: { parameters: { limit, offset, hours: integerParam(1, 87_600, unseenAfterHours) } },
      success: { status: 200, description: 'A page of assets', schema: pageOf(UnseenOut) },
      async handle({ principal: { orgId }, query: { hours, ...request } }) {
        const since = instantFromMillis(deps.clock.millis() - hours * 3_600_000)
        const page = await listUnseenAssets(deps.db.searches(orgId), orgId, since, request)
        return ok({ data: page.rows.map(presentUnseen), ...request, total_count: page.total })
      },
    }),
    route({
      ...common,
      id: 'assets.never-seen',
      path: '/never-seen-assets',
      summary: 'List assets that have never been seen',
      query: { parameters: { limit, offset } },
      success: { status: 200, description: 'A page of assets', schema: pageOf(NeverSeenOut) },
      async handle({ principal: { orgId }, query }) {
        const page = await listNeverSeenAssets(deps.db.replica(orgId), orgId, query)
        return ok({ data: page.rows.map(presentNeverSeen), ...query, total_count: page.total })
      },
    }),
    route({
      ...common,
      id: 'assets.at-location',
      path: '/assets-at-location',
      scopes: ['assets:read', 'tracking:read'],
      summary: 'List the assets that were last seen at one of the locations or below it',
      query: {
        parameters: {
          limit,
          offset,
          q: searchParam,
          location_id: idsParam,
          is_active: booleanParam,
          sort: sortParam(
            ['external_key', 'name', 'created_at', 'updated_at'],
            [{ field: 'external_key', descending: false }],
          ),
        },
      },
      success: { status: 200, description: 'A page of assets', schema: pageOf(AssetAtLocationOut) },
      async handle({ principal: { orgId }, query }) {
        const { limit: most, offset: skipped, location_id: locationIds = [], q, is_active: isActive, sort } = query
        const request = { limit: most, offset: skipped, filter: { q, isActive }, sort, now: now(deps.clock) }
        const page = await listAssetsAtLocations(deps.db.searches(orgId), orgId, locationIds, request)
        const data = page.rows.map(presentAssetAtLocation)
        return ok({ data, limit: most, offset: skipped, total_count: page.total })
      },
    }),
    route({
      ...common,
      id: 'assets.by-last-seen',
      path: '/assets-by-last-seen',
      scopes: ['assets:read', 'tracking:read'],
      summary: 'List assets in the order in which they were last seen',
      description:
        'The latest come first; with `sort=last_seen_at` the longest unseen. Assets that were never seen are at the end.',
      query: {
        parameters: {
          limit,
          offset,
          q: searchParam,
          location_id: idsParam,
          is_active: booleanParam,
          sort: sortParam(['last_seen_at'], [{ field: 'last_seen_at', descending: true }]),
        },
      },
      success: { status: 200, description: 'A page of assets', schema: pageOf(AssetAtLocationOut) },
      async handle({ principal: { orgId }, query }) {
        const { limit: most, offset: skipped, location_id: locationIds, q, is_active: isActive, sort } = query
        const descending = sort.every((term) => term.descending)
        const request = { limit: most, offset: skipped, filter: { q, isActive }, now: now(deps.clock) }
        const db = listDb(deps, orgId, request, locationIds !== undefined)
        const page = await listAssetsByLastSeen(db, orgId, { ...request, descending, locationIds })
        const data = page.rows.map(presentAssetAtLocation)
        return ok({ data, limit: most, offset: skipped, total_count: page.total })
      },
    }),
  ]
}
