import { type Sql, join, sql } from '../db/sql.ts'
import type { Instant } from '../kernel/instant.ts'
import type { PageRequest, SortTerm } from '../kernel/page.ts'

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

const sortColumns: Record<ReportSortField, Sql> = {
  asset_last_seen: sql`last_seen_at`,
  asset_external_key: sql`asset_external_key`,
  location_external_key: sql`location_external_key`,
}

/** The tie-breaker has the opposite direction of the time, like the index that serves the first page. */
export function orderBy(sort: ReportRequest['sort']): Sql {
  const terms = sort.map((term) => sql`${sortColumns[term.field]}${term.descending ? sql` desc` : sql` asc`}`)
  const last = sort.at(-1)
  return join(
    [...terms, last?.field === 'asset_last_seen' && !last.descending ? sql`asset_id desc` : sql`asset_id`],
    sql`, `,
  )
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
