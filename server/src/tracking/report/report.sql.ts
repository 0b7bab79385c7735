import type { Db } from '../../db/database.ts'
import { withGenericPlan, withPlanPerExecution } from '../../db/plan-cache.ts'
import { type Sql, join, sql } from '../../db/sql.ts'
import { type Instant, fromDatabase } from '../../kernel/instant.ts'
import { type Page, toPage } from '../../kernel/page.ts'
import { candidatesAt, hasDeparturesSince } from './departures.sql.ts'
import { isLargeSubtree } from './large-subtree.sql.ts'
import { type PastReportRequest, defaultLimits, latestMinute, pastReport, positionOf } from './report-at.sql.ts'
import { currentReport } from './report-now.sql.ts'
import {
  type ReportRequest,
  columns,
  hasAssetFilters,
  isByLocation,
  listed,
  locationOf,
  pageOfMatches,
  requestedLocations,
  selectPage,
} from './report-request.sql.ts'

export interface AssetPosition {
  assetId: number
  assetKey: string
  locationId: number | null
  locationKey: string | null
  assetDeletedAt: Instant | null
  lastSeenAt: Instant
}

interface ReportRow {
  total: number
  asset_id: number | null
  asset_external_key: string
  location_id: number | null
  location_external_key: string | null
  asset_deleted_at: string | null
  last_seen_at: string
}

/** Assets that are named are fewer than those of a location. */
const needsDepartures = (request: ReportRequest): boolean =>
  isByLocation(request)
    ? request.assetIds === undefined && request.assetKeys === undefined
    : request.sort[0]?.field === 'location_external_key'

export async function assetLocations(
  db: Db,
  orgId: number,
  request: ReportRequest,
  limits = defaultLimits,
): Promise<Page<AssetPosition>> {
  const { at } = request
  const isFiltered = isByLocation(request) || hasAssetFilters(request)
  const isLarge =
    at === undefined &&
    isByLocation(request) &&
    !hasAssetFilters(request) &&
    (await isLargeSubtree(db, orgId, request, limits.maxUnorderedAssets))
  const hasDepartures = at !== undefined && needsDepartures(request) && (await hasDeparturesSince(db, orgId, at))
  const statement =
    at === undefined
      ? currentReport(orgId, request, isLarge)
      : isFiltered
        ? filteredPastStatement(orgId, { ...request, at, hasDepartures })
        : pastStatement(orgId, { ...request, at, limits, hasDepartures })
  const planned = isByLocation(request)
    ? withPlanPerExecution(statement)
    : request.q || at !== undefined
      ? statement
      : withGenericPlan(statement)
  const rows = await db.query<ReportRow>(planned)
  return toPage(rows, (row) => (row.asset_id === null ? null : assetPositionOf(row, row.asset_id)))
}

/**
 * Evaluates the history of the assets that match the filters on assets, or of those that may have been at the requested
 * locations; only then the location is known.
 */
function filteredPastStatement(orgId: number, request: ReportRequest & { at: Instant; hasDepartures: boolean }): Sql {
  const { at, hasDepartures } = request
  const here = sql`select here.id from here`
  const isAtLocation = isByLocation(request) ? sql`m.location_id in (${here})` : sql`true`
  const isByCandidates = isByLocation(request) && hasDepartures
  const matches = isByCandidates
    ? sql`
      select ${columns}, m.observed_at as last_seen_at
      from (
        select c.asset_id, m.location_id, m.observed_at from (${candidatesAt(orgId, at, here)}) c
        ${positionOf(orgId)} cross join lateral (${latestMinute(orgId, at)}) m
        where ${isAtLocation} offset 0
      ) m
      join assets a on a.org_id = ${orgId} and a.id = m.asset_id
      ${locationOf(orgId, sql`m.location_id`)}
      where ${join(listed(request), sql` and `)}`
    : sql`
      select ${columns}, m.observed_at as last_seen_at
      from assets a
      join asset_positions p on p.org_id = ${orgId} and p.asset_id = a.id
      cross join lateral (${latestMinute(orgId, at)}) m
      ${locationOf(orgId, sql`m.location_id`)}
      where a.org_id = ${orgId} and ${join([...listed(request), isAtLocation], sql` and `)}`
  const locations = isByLocation(request) ? [sql`here as materialized (${requestedLocations(orgId, request)})`] : []
  return sql`with ${join([...locations, pageOfMatches(request, matches)], sql`, `)} ${selectPage(request)}`
}

function pastStatement(orgId: number, request: PastReportRequest): Sql {
  return sql`
    with ${pastReport(orgId, request)},
    page as (
      select ${columns}, m.observed_at as last_seen_at
      from ids c ${positionOf(orgId)}
      join assets a on a.org_id = ${orgId} and a.id = p.asset_id
      cross join lateral (${latestMinute(orgId, request.at)}) m
      ${locationOf(orgId, sql`m.location_id`)}
    )
    ${selectPage(request)}`
}

const assetPositionOf = (row: ReportRow, assetId: number): AssetPosition => ({
  assetId,
  assetKey: row.asset_external_key,
  locationId: row.location_id,
  locationKey: row.location_external_key,
  assetDeletedAt: row.asset_deleted_at === null ? null : fromDatabase(row.asset_deleted_at),
  lastSeenAt: fromDatabase(row.last_seen_at),
})
