import type { Db } from '../db/database.ts'
import { paginate, withGenericPlan } from '../db/plan-cache.ts'
import { type Sql, join, sql } from '../db/sql.ts'
import { type Instant, fromDatabase } from '../kernel/instant.ts'
import type { Page } from '../kernel/page.ts'
import { isEffective, likePattern, outsideWindow } from '../records/list.sql.ts'
import { type PastReportRequest, defaultLimits, latestMinute, pastReport } from './report-at.sql.ts'
import { type ReportRequest, orderBy, requestedLocations } from './report-request.sql.ts'

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

/** The current positions, or those at an instant according to the history. */
function positionsAt(orgId: number, at: Instant | undefined): Sql {
  if (at === undefined)
    return sql`select p.asset_id, p.location_id, p.last_seen_at from asset_positions p where p.org_id = ${orgId}`
  return sql`
    select p.asset_id, m.location_id, m.observed_at as last_seen_at
    from asset_positions p cross join lateral (${latestMinute(orgId, at)}) m
    where p.org_id = ${orgId}`
}

/** The search text without the description, which the report does not search. */
const withoutDescription = sql`(split_part(a.search_text, chr(1), 1) || chr(1) || split_part(a.search_text, chr(1), 2)
  || chr(1) || regexp_replace(a.search_text, '^([^' || chr(1) || ']*' || chr(1) || '){2}[^' || chr(1) || ']*', ''))`

function filters(orgId: number, request: ReportRequest): Sql[] {
  const all: Sql[] = []
  if (request.assetIds !== undefined) all.push(sql`a.id = any(${request.assetIds}::bigint[])`)
  if (request.assetKeys !== undefined) all.push(sql`a.external_key = any(${request.assetKeys}::text[])`)
  if (request.locationIds !== undefined || request.locationKeys !== undefined)
    all.push(sql`p.location_id in (${requestedLocations(orgId, request)})`)
  if (request.q) {
    const pattern = likePattern(request.q)
    all.push(sql`a.search_text like ${pattern} and ${withoutDescription} like ${pattern}`)
  }
  return all
}

/**
 * The total of an unfiltered report: the counted positions minus those of the few assets outside their period of validity.
 * `offset 0` makes the planner look up the position of each by its key; otherwise it scans all positions.
 */
function countedTotal(orgId: number, { now, includeDeleted }: ReportRequest, liveness: readonly Sql[]): Sql {
  const { notYetValid, expired } = outsideWindow(sql`a`, now)
  const countOf = (condition: Sql): Sql => sql`
    select count(*) from assets a cross join lateral (
      select from asset_positions p where p.org_id = ${orgId} and p.asset_id = a.id offset 0
    ) p
    where ${join([sql`a.org_id = ${orgId}`, ...liveness, condition], sql` and `)}`
  return sql`
    select (
      (select coalesce(sum(${includeDeleted ? sql`active + deleted_active` : sql`active`}), 0) from record_counts
        where org_id = ${orgId} and kind = 'position')
      - (${countOf(notYetValid)}) - (${countOf(expired)})
    )::bigint as total`
}

export async function assetLocations(
  db: Db,
  orgId: number,
  request: ReportRequest,
  limits = defaultLimits,
): Promise<Page<AssetPosition>> {
  const { at } = request
  const filterConditions = filters(orgId, request)
  const statement =
    at === undefined || filterConditions.length > 0
      ? listStatement(orgId, request, filterConditions)
      : pastStatement(orgId, { ...request, at, limits })
  const reportRows = await db.query<ReportRow>(request.q || at !== undefined ? statement : withGenericPlan(statement))
  return {
    rows: reportRows.flatMap((row) => (row.asset_id === null ? [] : [assetPositionOf(row, row.asset_id)])),
    total: reportRows[0]?.total ?? 0,
  }
}

const columns = sql`p.asset_id, a.external_key as asset_external_key, l.id as location_id,
  l.external_key as location_external_key, a.deleted_at as asset_deleted_at`

/** The current report, or a filtered one at a past instant. */
function listStatement(orgId: number, request: ReportRequest, filterConditions: readonly Sql[]): Sql {
  const liveness = request.includeDeleted ? [] : [sql`a.deleted_at is null`]
  const conditions = [...liveness, isEffective(sql`a`, request.now), ...filterConditions]
  const rows = sql`
    select ${columns}, p.last_seen_at
    from (${positionsAt(orgId, request.at)}) p
    join assets a on a.org_id = ${orgId} and a.id = p.asset_id
    left join locations l on l.org_id = ${orgId} and l.id = p.location_id and l.deleted_at is null
    where ${join(conditions, sql` and `)}`
  const order = orderBy(request.sort)
  // The materialized CTE finds the matches before the sort; otherwise the planner scans the index of the sort order and
  // tests every row.
  const list =
    filterConditions.length === 0
      ? sql`total as (${countedTotal(orgId, request, liveness)}),
        page as (${paginate(sql`${rows} order by ${order}`, request)})`
      : sql`matches as materialized (${rows}),
        total as (select count(*) as total from matches),
        page as (${paginate(sql`select * from matches order by ${order}`, request)})`
  return sql`with ${list} select total.total, page.* from total left join page on true order by ${order}`
}

function pastStatement(orgId: number, request: PastReportRequest): Sql {
  return sql`
    with ${pastReport(orgId, request)},
    page as (
      select ${columns}, m.observed_at as last_seen_at
      from ids join asset_positions p on p.org_id = ${orgId} and p.asset_id = ids.asset_id
      join assets a on a.org_id = ${orgId} and a.id = ids.asset_id
      cross join lateral (${latestMinute(orgId, request.at)}) m
      left join locations l on l.org_id = ${orgId} and l.id = m.location_id and l.deleted_at is null
    )
    select total.total, page.* from total left join page on true order by ${orderBy(request.sort)}`
}

const assetPositionOf = (row: ReportRow, assetId: number): AssetPosition => ({
  assetId,
  assetKey: row.asset_external_key,
  locationId: row.location_id,
  locationKey: row.location_external_key,
  assetDeletedAt: row.asset_deleted_at === null ? null : fromDatabase(row.asset_deleted_at),
  lastSeenAt: fromDatabase(row.last_seen_at),
})
