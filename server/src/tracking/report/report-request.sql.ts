import { paginate } from '../../db/plan-cache.ts'
import { type Sql, join, sql } from '../../db/sql.ts'
import type { Instant } from '../../kernel/instant.ts'
import type { PageRequest, SortTerm } from '../../kernel/page.ts'
import { isEffective } from '../../records/list.sql.ts'
import { foldCase } from '../../records/record.ts'
import { contains } from '../../records/search-term.sql.ts'

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

export type RequestedLocations = Pick<ReportRequest, 'locationIds' | 'locationKeys' | 'includeDescendants'>

/** The requested locations and, on request, their descendants. */
export function requestedLocations(orgId: number, request: RequestedLocations): Sql {
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

/** The report finds the term in the asset `a`. */
export const isFound = (term: string): Sql =>
  sql`(${contains(sql`a`, term)} and strpos(${withoutDescription}, ${foldCase(term)}) > 0)`

/** Conditions on the asset `a`. */
function assetFilters(request: ReportRequest): Sql[] {
  const all: Sql[] = []
  if (request.assetIds !== undefined) all.push(sql`a.id = any(${request.assetIds}::bigint[])`)
  if (request.assetKeys !== undefined) all.push(sql`a.external_key = any(${request.assetKeys}::text[])`)
  if (request.q) all.push(isFound(request.q))
  return all
}

export const hasAssetFilters = (request: ReportRequest): boolean => assetFilters(request).length > 0

export const isByLocation = ({ locationIds, locationKeys }: ReportRequest): boolean =>
  locationIds !== undefined || locationKeys !== undefined

export const columns = sql`a.id as asset_id, a.external_key as asset_external_key, l.id as location_id,
  l.external_key as location_external_key, a.deleted_at as asset_deleted_at`

export const locationOf = (orgId: number, id: Sql): Sql =>
  sql`left join locations l on l.org_id = ${orgId} and l.id = ${id} and l.deleted_at is null`

/** The conditions on the listed assets `a`. */
export const listed = (request: ReportRequest): Sql[] => [
  ...(request.includeDeleted ? [] : [sql`a.deleted_at is null`]),
  isEffective(sql`a`, request.now),
  ...assetFilters(request),
]

/**
 * The page and the total of the matches, which are materialized: otherwise the planner scans the index of the sort order and
 * tests every row.
 */
export const pageOfMatches = (request: ReportRequest, matches: Sql): Sql => sql`
  matches as materialized (${matches}),
  total as (select count(*) as total from matches),
  page as (${paginate(sql`select * from matches order by ${orderBy(request.sort)}`, request)})`

export const selectPage = (request: ReportRequest): Sql =>
  sql`select total.total, page.* from total left join page on true order by ${orderBy(request.sort)}`
