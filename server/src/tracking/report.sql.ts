import type { Db } from '../db/database.ts'
import { paginate, withGenericPlan } from '../db/plan-cache.ts'
import { type Sql, join, sql } from '../db/sql.ts'
import { type Instant, fromDatabase } from '../kernel/instant.ts'
import type { Page, PageRequest, SortTerm } from '../kernel/page.ts'
import { isEffective, likePattern, outsideWindow } from '../records/list.sql.ts'
import { isObservedWithin } from './time-bounds.sql.ts'

export interface AssetPosition {
  assetId: number
  assetKey: string
  locationId: number | null
  locationKey: string | null
  assetDeletedAt: Instant | null
  lastSeenAt: Instant
}

type ReportSortField = 'asset_last_seen' | 'asset_external_key' | 'location_external_key'

export interface ReportRequest extends PageRequest {
  assetIds?: readonly number[] | undefined
  assetKeys?: readonly string[] | undefined
  locationIds?: readonly number[] | undefined
  locationKeys?: readonly string[] | undefined
  includeDescendants?: boolean | undefined
  includeDeleted?: boolean | undefined
  q?: string | undefined
  /** Reports the locations at that instant instead of the current ones. */
  at?: Instant | undefined
  /** The instant at which the assets must be valid, also with `at`. */
  now: Instant
  sort: readonly SortTerm<ReportSortField>[]
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

const sortColumns: Record<ReportSortField, Sql> = {
  asset_last_seen: sql`last_seen_at`,
  asset_external_key: sql`asset_external_key`,
  location_external_key: sql`location_external_key`,
}

/** The tie-breaker has the opposite direction of the time, like the index that serves the first page. */
function orderBy(sort: ReportRequest['sort']): Sql {
  const terms = sort.map((term) => sql`${sortColumns[term.field]}${term.descending ? sql` desc` : sql` asc`}`)
  const last = sort.at(-1)
  return join(
    [...terms, last?.field === 'asset_last_seen' && !last.descending ? sql`asset_id desc` : sql`asset_id`],
    sql`, `,
  )
}

/** The current positions, or those at an instant according to the history. */
function positionsAt(orgId: number, at: Instant | undefined): Sql {
  if (at === undefined)
    return sql`select p.asset_id, p.location_id, p.last_seen_at from asset_positions p where p.org_id = ${orgId}`
  return sql`
    select p.asset_id, m.location_id, m.observed_at as last_seen_at
    from asset_positions p cross join lateral (
      select h.location_id, h.observed_at from asset_minutes h
      where h.org_id = ${orgId} and h.asset_id = p.asset_id and ${join(isObservedWithin(sql`h`, { to: at }), sql` and `)}
      order by h.minute desc limit 1
    ) m
    where p.org_id = ${orgId}`
}

/** The requested locations and, on request, their descendants. */
export function requestedLocations(
  orgId: number,
  request: Pick<ReportRequest, 'locationIds' | 'locationKeys' | 'includeDescendants'>,
): Sql {
  const matches =
    request.locationIds === undefined
      ? sql`l.external_key = any(${request.locationKeys ?? []}::text[])`
      : sql`l.id = any(${request.locationIds}::bigint[])`
  const roots = sql`select l.id from locations l where l.org_id = ${orgId} and l.deleted_at is null and ${matches}`
  if (!request.includeDescendants) return roots
  return sql`
    with recursive below as (
      ${roots}
      union
      select c.id from below join locations c on c.org_id = ${orgId} and c.parent_id = below.id and c.deleted_at is null
    )
    select below.id from below`
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

export async function assetLocations(db: Db, orgId: number, request: ReportRequest): Promise<Page<AssetPosition>> {
  const filterConditions = filters(orgId, request)
  const isUnfiltered = filterConditions.length === 0 && request.at === undefined
  const liveness = request.includeDeleted ? [] : [sql`a.deleted_at is null`]
  const conditions = [...liveness, isEffective(sql`a`, request.now), ...filterConditions]
  const rows = sql`
    select p.asset_id, a.external_key as asset_external_key, l.id as location_id,
      l.external_key as location_external_key, a.deleted_at as asset_deleted_at, p.last_seen_at
    from (${positionsAt(orgId, request.at)}) p
    join assets a on a.org_id = ${orgId} and a.id = p.asset_id
    left join locations l on l.org_id = ${orgId} and l.id = p.location_id and l.deleted_at is null
    where ${join(conditions, sql` and `)}`
  const order = orderBy(request.sort)
  // The materialized CTE finds the matches before the sort; otherwise the planner scans the index of the sort order and
  // tests every row.
  const list = isUnfiltered
    ? sql`total as (${countedTotal(orgId, request, liveness)}),
      page as (${paginate(sql`${rows} order by ${order}`, request)})`
    : sql`matches as materialized (${rows}),
      total as (select count(*) as total from matches),
      page as (${paginate(sql`select * from matches order by ${order}`, request)})`
  const statement = sql`with ${list} select total.total, page.* from total left join page on true order by ${order}`
  const reportRows = await db.query<ReportRow>(
    request.q || request.at !== undefined ? statement : withGenericPlan(statement),
  )
  return {
    rows: reportRows.flatMap((row) => (row.asset_id === null ? [] : [assetPositionOf(row, row.asset_id)])),
    total: reportRows[0]?.total ?? 0,
  }
}

const assetPositionOf = (row: ReportRow, assetId: number): AssetPosition => ({
  assetId,
  assetKey: row.asset_external_key,
  locationId: row.location_id,
  locationKey: row.location_external_key,
  assetDeletedAt: row.asset_deleted_at === null ? null : fromDatabase(row.asset_deleted_at),
  lastSeenAt: fromDatabase(row.last_seen_at),
})
