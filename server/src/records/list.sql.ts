import type { Db } from '../db/database.ts'
import { paginate, withGenericPlan } from '../db/plan-cache.ts'
import { type Sql, join, sql } from '../db/sql.ts'
import { type Instant, toDatabase } from '../kernel/instant.ts'
import type { PageRequest, SortTerm } from '../kernel/page.ts'
import { orderTagRows, tagColumns } from '../tags/tags.sql.ts'
import type { RecordKind } from './counts.sql.ts'
import type { RecordRow } from './load.sql.ts'
import { contains } from './search-term.sql.ts'

export type RecordSortField = 'external_key' | 'name' | 'created_at' | 'updated_at'

interface RecordFilter {
  externalKeys?: readonly string[] | undefined
  isActive?: boolean | undefined
  includeDeleted?: boolean | undefined
  q?: string | undefined
}

export interface ListRequest<Field extends string = RecordSortField> extends PageRequest {
  filter: RecordFilter
  sort: readonly SortTerm<Field>[]
  now: Instant
}

/** Restrictions of a list beyond the request's own filter. */
export interface Restriction {
  /** Selective conditions that every listed record meets. */
  include?: readonly Sql[]
  /** A selective condition; live records that meet it are omitted. Not combined with deleted records. */
  exclude?: Sql | undefined
}

/** The tables and columns of one kind of record; every fragment refers to the record as `r`. */
export interface RecordTable {
  kind: RecordKind
  name: Sql
  columns: Sql
  /** The same columns in a row of the result, of which there is one per tag. */
  rowColumns: Sql
  /** Columns of other tables, joined after the page is selected. */
  pageColumns: (orgId: number) => Sql
  pageJoins: (orgId: number) => Sql
  tagOwnerId: Sql
}

export const sortColumns: Record<RecordSortField, (of: Sql) => Sql> = {
  external_key: (of) => sql`${of}.external_key`,
  name: (of) => sql`${of}.name`,
  created_at: (of) => sql`${of}.created_at`,
  updated_at: (of) => sql`${of}.updated_at`,
}

/** Every order is total: it ends with the id, or with the key when keys are unique. */
export function orderBy({ sort, filter }: ListRequest, of: Sql): Sql {
  const terms: Sql[] = []
  let direction = sql` asc`
  for (const term of sort) {
    direction = term.descending ? sql` desc` : sql` asc`
    terms.push(sql`${sortColumns[term.field](of)}${direction}`)
    if (term.field === 'external_key' && !filter.includeDeleted) return join(terms, sql`, `)
  }
  return join([...terms, sql`${of}.id${direction}`], sql`, `)
}

export const live: Sql = sql`r.deleted_at is null`
const deleted: Sql = sql`r.deleted_at is not null`

/** In a sub-select, so that the planner does not use the value and the plan can be reused for other times. */
const instantValue = (now: Instant): Sql => sql`(select ${toDatabase(now)}::timestamptz)`

/** The record `of` is within its period of validity. */
export function isEffective(of: Sql, now: Instant): Sql {
  const at = instantValue(now)
  // A record that is valid since its creation is always effective, even if the clock of this process is slightly behind.
  return sql`(${of}.valid_from <= ${at} or ${of}.valid_from <= ${of}.created_at)
    and (${of}.valid_to is null or ${of}.valid_to > ${at})`
}

/** The two disjoint ways to be outside the period of validity, each served by a partial index. */
export function outsideWindow(of: Sql, now: Instant): { notYetValid: Sql; expired: Sql } {
  const at = instantValue(now)
  return {
    notYetValid: sql`${of}.valid_from > ${of}.created_at and ${of}.valid_from > ${at}`,
    expired: sql`${of}.valid_to is not null and ${of}.valid_to <= ${at}`,
  }
}

export function conditions(
  orgId: number,
  { filter, now }: Pick<ListRequest, 'filter' | 'now'>,
  liveness: Sql,
  restrictions: readonly Sql[],
): Sql {
  const all = [sql`r.org_id = ${orgId}`, liveness, isEffective(sql`r`, now), ...restrictions]
  if (filter.isActive !== undefined) all.push(filter.isActive ? sql`r.is_active` : sql`not r.is_active`)
  if (filter.externalKeys !== undefined) all.push(sql`r.external_key = any(${filter.externalKeys}::text[])`)
  if (filter.q) all.push(contains(sql`r`, filter.q))
  return join(all, sql` and `)
}

/** The exact total of an unfiltered list: the record counters minus the few records outside their period of validity. */
export function countedTotal(
  orgId: number,
  table: RecordTable,
  request: Pick<ListRequest, 'filter' | 'now'>,
  exclude?: Sql,
): Sql {
  const { filter, now } = request
  const { notYetValid, expired } = outsideWindow(sql`r`, now)
  const counters: Sql[] = []
  if (filter.isActive !== false) counters.push(sql`active`)
  if (filter.isActive !== true) counters.push(sql`inactive`)
  if (filter.includeDeleted && filter.isActive !== false) counters.push(sql`deleted_active`)
  if (filter.includeDeleted && filter.isActive !== true) counters.push(sql`deleted_inactive`)
  const baseConditions = [sql`r.org_id = ${orgId}`]
  if (!filter.includeDeleted) baseConditions.push(live)
  if (filter.isActive !== undefined) baseConditions.push(filter.isActive ? sql`r.is_active` : sql`not r.is_active`)
  const where = join(baseConditions, sql` and `)
  const countOf = (condition: Sql): Sql =>
    sql`select count(*) from ${table.name} r where ${conditions(orgId, request, live, [condition])}`
  return sql`
    select (
      (select coalesce(sum(${join(counters, sql` + `)}), 0) from record_counts
        where org_id = ${orgId} and kind = ${table.kind})
      - (select count(*) from ${table.name} r where ${where} and ${notYetValid})
      - (select count(*) from ${table.name} r where ${where} and ${expired})
      ${exclude === undefined ? sql`` : sql`- (${countOf(exclude)})`}
    )::bigint as total`
}

/** Live and deleted rows have separate indexes, so each side contributes its own first rows. */
export function unfilteredPage(
  orgId: number,
  table: RecordTable,
  request: ListRequest,
  restrictions: readonly Sql[],
): Sql {
  const { limit, offset, filter } = request
  const rows = (liveness: Sql): Sql => sql`
    select ${table.columns} from ${table.name} r where ${conditions(orgId, request, liveness, restrictions)}
    order by ${orderBy(request, sql`r`)}`
  if (!filter.includeDeleted) return paginate(rows(live), request)
  const maxRows = Math.min(limit + offset, Number.MAX_SAFE_INTEGER)
  const both = sql`
    select * from ((${rows(live)} limit ${maxRows}) union all (${rows(deleted)} limit ${maxRows})) r
    order by ${orderBy(request, sql`r`)}`
  return paginate(both, request)
}

/**
 * Page and total of a filtered list. A materialized CTE finds the matches by the filter's own index before the sort;
 * without it the planner scans the index of the sort order and tests every row.
 */
function filteredList(orgId: number, table: RecordTable, request: ListRequest, restrictions: readonly Sql[]): Sql {
  const matches = (liveness: Sql): Sql => sql`
    select r.id, r.external_key, r.name, r.created_at, r.updated_at from ${table.name} r
    where ${conditions(orgId, request, liveness, restrictions)}`
  const all = request.filter.includeDeleted ? sql`${matches(live)} union all ${matches(deleted)}` : matches(live)
  return sql`
    with matches as materialized (${all}),
    total as (select count(*) as total from matches),
    selected as (${paginate(sql`select m.id from matches m order by ${orderBy(request, sql`m`)}`, request)}),
    page as (
      select ${table.columns} from selected join ${table.name} r on r.org_id = ${orgId} and r.id = selected.id
    )`
}

export const isFiltered = ({ filter }: Pick<ListRequest, 'filter'>, include: readonly Sql[]): boolean =>
  include.length > 0 || filter.externalKeys !== undefined || Boolean(filter.q)

/**
 * One page and the exact total, from one snapshot. For an empty page the result is a single row with the total and no
 * record.
 */
export async function listRecords<Row extends RecordRow>(
  db: Db,
  orgId: number,
  table: RecordTable,
  request: ListRequest,
  { include = [], exclude }: Restriction = {},
): Promise<(Row & { total: number })[]> {
  const restrictions = exclude === undefined ? include : [...include, sql`not (${exclude})`]
  const list = isFiltered(request, include)
    ? filteredList(orgId, table, request, restrictions)
    : sql`with total as (${countedTotal(orgId, table, request, exclude)}),
        page as (${unfilteredPage(orgId, table, request, restrictions)})`
  const page = pageWithTags(orgId, table, list, orderBy(request, sql`r`))
  // The number of matches depends on the search term, and so does the best plan.
  return db.query(request.filter.q ? page : withGenericPlan(page))
}

/** `list` is a WITH clause that ends with `total` and `page`; the order refers to the page as `r`. */
export function pageWithTags(orgId: number, table: RecordTable, list: Sql, order: Sql): Sql {
  return sql`${list}
    select total.total, ${table.rowColumns}, ${table.pageColumns(orgId)}${tagColumns}
    from total left join page r on true ${table.pageJoins(orgId)}
    left join tags t on t.org_id = ${orgId} and ${table.tagOwnerId} = r.id
    ${orderTagRows(order)}`
}
