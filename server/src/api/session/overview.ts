import { boolean, listOf, oneOf, record, id, text } from '../../http/validation/fields.ts'
import {
  booleanParam,
  idsParam,
  integerParam,
  limit,
  timestampParam,
  offset,
  searchParam,
  sortParam,
} from '../../http/validation/query.ts'
import { type AnyRoute, ok, route } from '../../http/route.ts'
import { nullable } from '../../http/validation/schema.ts'
import { type Output, component, embedded, pageOf, envelope, arrayOf } from '../../http/openapi/response-schema.ts'
import { now } from '../../kernel/clock.ts'
import { formatMillis, instantFromMillis } from '../../kernel/instant.ts'
import type { RecordCore, RecordDeps } from '../../records/record.ts'
import { type Hit, type TagHit, searchRecords, searchTags } from '../../records/search.sql.ts'
import { tagTypes } from '../../tags/tag.ts'
import { listAssetsAtLocations } from '../../tracking/assets-at-location.sql.ts'
import { type Resolved, resolveCodes } from '../../tracking/codes.sql.ts'
import { listMoves } from '../../tracking/moves.sql.ts'
import { type Overview, type OverviewCache, unseenAfterHours } from '../../tracking/overview-cache.ts'
import { type UnseenAsset, listUnseenAssets } from '../../tracking/unseen-assets.sql.ts'
import { json, line, timestamp, whole, wire } from './fields.ts'
import { MoveOut, presentMove } from './moves.ts'

export interface OverviewDeps extends RecordDeps {
  overviews: OverviewCache
}

const OverviewOut = component(
  'Overview',
  {
    assets_total: whole,
    seen_total: whole,
    quiet_after_hours: whole,
    quiet_total: whole,
    locations: listOf(
      record({
        location_id: id,
        parent_id: nullable(id),
        name: line,
        external_key: line,
        here: whole,
        here_with_subtree: whole,
      }),
    ),
    moves_per_hour: listOf(record({ hour: timestamp, moves: whole })),
  },
  { assets_total: 0, seen_total: 0, quiet_after_hours: 24, quiet_total: 0, locations: [], moves_per_hour: [] },
)

const presentOverview = ({ totals, places, movesPerHour }: Overview): Output<(typeof OverviewOut)['shape']> => ({
  assets_total: totals.assets,
  seen_total: totals.seen,
  quiet_after_hours: unseenAfterHours,
  quiet_total: totals.quiet,
  locations: places.map((location) => ({
    location_id: location.locationId,
    parent_id: location.parentId,
    name: location.name,
    external_key: location.externalKey,
    here: location.here,
    here_with_subtree: location.hereWithSubtree,
  })),
  moves_per_hour: movesPerHour.map(({ hour, moves }) => ({ hour: formatMillis(hour), moves })),
})

const QuietOut = component(
  'QuietAsset',
  {
    asset_id: id,
    external_key: line,
    name: line,
    location_id: nullable(id),
    location_name: nullable(line),
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

const presentQuiet = (asset: UnseenAsset): Output<(typeof QuietOut)['shape']> => ({
  asset_id: asset.assetId,
  external_key: asset.externalKey,
  name: asset.name,
  location_id: asset.locationId,
  location_name: asset.locationName,
  last_seen_at: formatMillis(asset.lastSeenAt),
})

const AssetAtLocationOut = component(
  'AssetAtLocation',
  { id: id, external_key: line, name: line, is_active: boolean, updated_at: timestamp, tag_count: whole },
  {
    id: 4503170118275611,
    external_key: 'ASSET-0001',
    name: 'Pallet jack 7',
    is_active: true,
    updated_at: '2026-05-04T08:15:30.250Z',
    tag_count: 1,
  },
)

const presentAssetAtLocation = (one: RecordCore): Output<(typeof AssetAtLocationOut)['shape']> => ({
  id: one.id,
  external_key: one.externalKey,
  name: one.name,
  is_active: one.isActive,
  updated_at: formatMillis(one.updatedAt),
  tag_count: one.tags.length,
})

const HitOut = component(
  'SearchHit',
  { id: id, external_key: line, name: line },
  { id: 4503170118275611, external_key: 'ASSET-0001', name: 'Pallet jack 7' },
)

const TagHitOut = component(
  'SearchTagHit',
  {
    id: id,
    tag_type: oneOf(tagTypes),
    value: line,
    asset_id: nullable(id),
    location_id: nullable(id),
    holder_key: line,
    holder_name: line,
  },
  {
    id: 6021874402113355,
    tag_type: 'rfid',
    value: 'E28011700000020A1B2C3D4E',
    asset_id: 4503170118275611,
    location_id: null,
    holder_key: 'ASSET-0001',
    holder_name: 'Pallet jack 7',
  },
)

const SearchOut = component(
  'SearchResult',
  { assets: listOf(embedded(HitOut)), locations: listOf(embedded(HitOut)), tags: listOf(embedded(TagHitOut)) },
  { assets: [], locations: [], tags: [] },
)

const presentHit = (hit: Hit): Output<(typeof HitOut)['shape']> => ({
  id: hit.id,
  external_key: hit.externalKey,
  name: hit.name,
})

const presentTagHit = (hit: TagHit): Output<(typeof TagHitOut)['shape']> => ({
  id: hit.id,
  tag_type: hit.type,
  value: hit.value,
  asset_id: hit.assetId,
  location_id: hit.locationId,
  holder_key: hit.holderKey,
  holder_name: hit.holderName,
})

const code = text({ min: 1, max: 255 })

const CodeOut = component(
  'ResolvedCode',
  {
    code,
    kind: nullable(oneOf(['asset', 'location'])),
    id: nullable(id),
    external_key: nullable(line),
    name: nullable(line),
    location_id: nullable(id),
    location_name: nullable(line),
    last_seen_at: nullable(timestamp),
  },
  {
    code: '4006381333931',
    kind: null,
    id: null,
    external_key: null,
    name: null,
    location_id: null,
    location_name: null,
    last_seen_at: null,
  },
)

const presentCode = (resolved: Resolved): Output<(typeof CodeOut)['shape']> => ({
  code: resolved.code,
  kind: resolved.kind,
  id: resolved.id,
  external_key: resolved.externalKey,
  name: resolved.name,
  location_id: resolved.locationId,
  location_name: resolved.locationName,
  last_seen_at: wire(resolved.lastSeenAt),
})

export const overviewComponents = [
  OverviewOut,
  MoveOut,
  QuietOut,
  AssetAtLocationOut,
  HitOut,
  TagHitOut,
  SearchOut,
  CodeOut,
]

const codesBody = json('CodesResolve', { codes: listOf(code, { max: 1000 }) }, { codes: ['4006381333931'] })

/** Overview, moves, unseen assets and search, for every role. */
export function overviewRoutes(deps: OverviewDeps): AnyRoute[] {
  const common = { group: 'Looking', method: 'GET', access: 'session', scopes: ['tracking:read'] } as const
  return [
    route({
      ...common,
      id: 'overview',
      path: '/overview',
      summary: 'Count the assets at each location',
      success: { status: 200, description: 'Counts', schema: envelope(OverviewOut) },
      async handle({ principal }) {
        return ok({ data: presentOverview(await deps.overviews.of(principal.orgId)) })
      },
    }),
    route({
      ...common,
      id: 'moves.list',
      path: '/moves',
      summary: 'List moves, newest first',
      query: {
        parameters: {
          limit,
          offset,
          asset_id: idsParam,
          location_id: idsParam,
          from: timestampParam,
          to: timestampParam,
        },
      },
      success: { status: 200, description: 'A page of moves', schema: pageOf(MoveOut) },
      async handle({ principal, query }) {
        const { limit: most, offset: skipped, asset_id: assetIds, location_id: locationIds, from, to } = query
        const request = { limit: most, offset: skipped, assetIds, locationIds, from, to }
        const page = await listMoves(deps.db.read, principal.orgId, request)
        return ok({ data: page.rows.map(presentMove), limit: most, offset: skipped, total_count: page.total })
      },
    }),
    route({
      ...common,
      id: 'assets.quiet',
      path: '/quiet-assets',
      summary: 'List assets that have not been seen for a while, longest unseen first',
      query: { parameters: { limit, offset, hours: integerParam(1, 87_600, unseenAfterHours) } },
      success: { status: 200, description: 'A page of assets', schema: pageOf(QuietOut) },
      async handle({ principal, query: { hours, ...request } }) {
        const since = instantFromMillis(deps.clock.millis() - hours * 3_600_000)
        const page = await listUnseenAssets(deps.db.read, principal.orgId, since, request)
        return ok({ data: page.rows.map(presentQuiet), ...request, total_count: page.total })
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
        const page = await listAssetsAtLocations(deps.db.read, orgId, locationIds, request)
        const data = page.rows.map(presentAssetAtLocation)
        return ok({ data, limit: most, offset: skipped, total_count: page.total })
      },
    }),
    route({
      ...common,
      id: 'search',
      path: '/search',
      scopes: ['assets:read', 'locations:read'],
      summary: 'Search assets, locations and tags',
      query: { parameters: { q: { ...searchParam, fallback: '' }, limit: integerParam(1, 50, 8) } },
      success: { status: 200, description: 'The best matches', schema: envelope(SearchOut) },
      async handle({ principal: { orgId }, query: { q, limit: most } }) {
        const [assets, locations, tags] = await Promise.all([
          searchRecords(deps.db.read, orgId, 'asset', q, most),
          searchRecords(deps.db.read, orgId, 'location', q, most),
          searchTags(deps.db.read, orgId, q, most),
        ])
        const records = { assets: assets.map(presentHit), locations: locations.map(presentHit) }
        return ok({ data: { ...records, tags: tags.map(presentTagHit) } })
      },
    }),
    route({
      ...common,
      id: 'codes.resolve',
      method: 'POST',
      path: '/codes/resolve',
      summary: 'Resolve scanned codes to assets and locations',
      description: 'A code matches a tag of any type first, then the key of an asset, then the key of a location.',
      body: codesBody,
      success: {
        status: 200,
        description: 'One entry per code, in the same order',
        schema: arrayOf(CodeOut),
      },
      async handle({ principal, body }) {
        return ok({ data: (await resolveCodes(deps.db.read, principal.orgId, body.codes)).map(presentCode) })
      },
    }),
  ]
}
