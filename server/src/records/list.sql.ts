import type { Db } from '../db/database.ts'
import { paginate, withGenericPlan } from '../db/plan-cache.ts'
import { type Sql, join, sql } from '../db/sql.ts'
import { type Instant, toDatabase } from '../kernel/instant.ts'
import type { PageRequest, SortTerm } from '../kernel/page.ts'
import { type TagRow, tagColumns, tagOrder } from '../tags/tags.sql.ts'
import type { RecordKind } from './counts.sql.ts'
import { type RecordRef, foldCase } from './record.ts'

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

/** What a list leaves out beyond the request's own filter. */
export interface Restriction {
  /** Conditions that few records meet. */
  include?: readonly Sql[]
  /** A condition that few live records meet, which are left out. Not together with deleted ones. */
  exclude?: Sql | undefined
}

/** How one kind of record is laid out; `r` is the record in every piece. */
export interface RecordTable {
  kind: RecordKind
  table: Sql
  columns: Sql
  /** Joins from the finished page, for columns of other rows. */
  pageColumns: (orgId: number) => Sql
  pageJoins: (orgId: number) => Sql
  tagHolder: Sql
}

export interface CoreRow extends TagRow {
  id: number
  external_key: string
  name: string
  description: string | null
  is_active: boolean
  valid_from: string
  valid_to: string | null
  created_at: string
  updated_at: string
  deleted_at: string | null
}

export const coreColumns: Sql = sql`r.id, r.external_key, r.name, r.description, r.is_active, r.valid_from, r.valid_to,
  r.created_at, r.updated_at, r.deleted_at`

/** The live record that is meant, as a condition on `r`. */
export const whereRef = (orgId: number, ref: RecordRef): Sql =>
  typeof ref === 'number'
    ? sql`r.org_id = ${orgId} and r.id = ${ref} and r.deleted_at is null`
    : sql`r.org_id = ${orgId} and r.external_key = ${ref.key} and r.deleted_at is null`

/** One of several live records. */
export const whereIds = (orgId: number, ids: readonly number[]): Sql =>
  sql`r.org_id = ${orgId} and r.id = any(${ids}::bigint[]) and r.deleted_at is null`

export const sortColumns: Record<RecordSortField, (of: Sql) => Sql> = {
  external_key: (of) => sql`${of}.external_key`,
  name: (of) => sql`${of}.name`,
  created_at: (of) => sql`${of}.created_at`,
  updated_at: (of) => sql`${of}.updated_at`,
}

/** Every order is total: it ends with the id, or with the key where keys cannot repeat. */
function orderBy({ sort, filter }: ListRequest, of: Sql): Sql {
  const pieces: Sql[] = []
  let direction = sql` asc`
  for (const term of sort) {
    direction = term.descending ? sql` desc` : sql` asc`
    pieces.push(sql`${sortColumns[term.field](of)}${direction}`)
    if (term.field === 'external_key' && !filter.includeDeleted) return join(pieces, sql`, `)
  }
  return join([...pieces, sql`${of}.id${direction}`], sql`, `)
}

export const live: Sql = sql`r.deleted_at is null`
const deleted: Sql = sql`r.deleted_at is not null`

export const likePattern = (needle: string): string => `%${foldCase(needle).replaceAll(/[\\%_]/g, '\\$&')}%`

/** Hidden in a sub-select, because a plan made for one moment would be made anew for each. */
const moment = (now: Instant): Sql => sql`(select ${toDatabase(now)}::timestamptz)`

/** A term without three letters in a row has no trigram: its plan must not be the one that asks the trigram index. */
function contains(needle: string): Sql {
  if (/[\p{L}\p{N}]{3}/u.test(needle)) return sql`r.search_text like ${likePattern(needle)}`
  return sql`strpos(r.search_text, ${foldCase(needle)}) > 0`
}

/** The record `of` is inside its validity window now. */
export function isEffective(of: Sql, now: Instant): Sql {
  const at = moment(now)
  // A record valid from its making is never "not yet", even for a process whose clock runs a little behind.
  return sql`(${of}.valid_from <= ${at} or ${of}.valid_from <= ${of}.created_at)
    and (${of}.valid_to is null or ${of}.valid_to > ${at})`
}

/** The two ways to be outside the window, each served by a partial index; no record is both. */
export function outsideWindow(of: Sql, now: Instant): { notYetValid: Sql; expired: Sql } {
  const at = moment(now)
  return {
    notYetValid: sql`${of}.valid_from > ${of}.created_at and ${of}.valid_from > ${at}`,
    expired: sql`${of}.valid_to is not null and ${of}.valid_to <= ${at}`,
  }
}

export function conditions(
  orgId: number,
  { filter, now }: Pick<ListRequest, 'filter' | 'now'>,
  liveness: Sql,
  more: readonly Sql[],
): Sql {
  const all = [sql`r.org_id = ${orgId}`, liveness, isEffective(sql`r`, now), ...more]
  if (filter.isActive !== undefined) all.push(filter.isActive ? sql`r.is_active` : sql`not r.is_active`)
  if (filter.externalKeys !== undefined) all.push(sql`r.external_key = any(${filter.externalKeys}::text[])`)
  if (filter.q) all.push(contains(filter.q))
  return join(all, sql` and `)
}

/** The total of the plain list: the counted records less the few outside their window. Exact, whatever the size. */
export function countedTotal(
  orgId: number,
  layout: RecordTable,
  request: Pick<ListRequest, 'filter' | 'now'>,
  except?: Sql,
): Sql {
  const { filter, now } = request
  const { notYetValid, expired } = outsideWindow(sql`r`, now)
  const booked: Sql[] = []
  if (filter.isActive !== false) booked.push(sql`active`)
  if (filter.isActive !== true) booked.push(sql`inactive`)
  if (filter.includeDeleted && filter.isActive !== false) booked.push(sql`deleted_active`)
  if (filter.includeDeleted && filter.isActive !== true) booked.push(sql`deleted_inactive`)
  const counted = [sql`r.org_id = ${orgId}`]
  if (!filter.includeDeleted) counted.push(live)
  if (filter.isActive !== undefined) counted.push(filter.isActive ? sql`r.is_active` : sql`not r.is_active`)
  const which = join(counted, sql` and `)
  const countOf = (some: Sql): Sql =>
    sql`select count(*) from ${layout.table} r where ${conditions(orgId, request, live, [some])}`
  return sql`
    select (
      (select coalesce(sum(${join(booked, sql` + `)}), 0) from record_counts
        where org_id = ${orgId} and kind = ${layout.kind})
      - (select count(*) from ${layout.table} r where ${which} and ${notYetValid})
      - (select count(*) from ${layout.table} r where ${which} and ${expired})
      ${except === undefined ? sql`` : sql`- (${countOf(except)})`}
    )::bigint as total`
}

/** Live and deleted rows lie in different indexes, so each side brings its own first rows. */
function plainPage(orgId: number, layout: RecordTable, request: ListRequest, more: readonly Sql[]): Sql {
  const { limit, offset, filter } = request
  const rows = (liveness: Sql): Sql => sql`
    select ${layout.columns} from ${layout.table} r where ${conditions(orgId, request, liveness, more)}
    order by ${orderBy(request, sql`r`)}`
  if (!filter.includeDeleted) return paginate(rows(live), request)
  const reach = Math.min(limit + offset, Number.MAX_SAFE_INTEGER)
  const both = sql`
    select * from ((${rows(live)} limit ${reach}) union all (${rows(deleted)} limit ${reach})) r
    order by ${orderBy(request, sql`r`)}`
  return paginate(both, request)
}

/**
 * Page and total of a filtered list. The matches are found once, by the filter's own index, before anything is sorted:
 * left to itself the planner walks the sort order and tests every row.
 */
function filteredList(orgId: number, layout: RecordTable, request: ListRequest, more: readonly Sql[]): Sql {
  const matches = (liveness: Sql): Sql => sql`
    select r.id, r.external_key, r.name, r.created_at, r.updated_at from ${layout.table} r
    where ${conditions(orgId, request, liveness, more)}`
  const all = request.filter.includeDeleted ? sql`${matches(live)} union all ${matches(deleted)}` : matches(live)
  return sql`
    with matches as materialized (${all}),
    total as (select count(*) as total from matches),
    chosen as (${paginate(sql`select m.id from matches m order by ${orderBy(request, sql`m`)}`, request)}),
    page as (
      select ${layout.columns} from chosen join ${layout.table} r on r.org_id = ${orgId} and r.id = chosen.id
    )`
}

export const isFiltered = ({ filter }: Pick<ListRequest, 'filter'>, only: readonly Sql[]): boolean =>
  only.length > 0 || filter.externalKeys !== undefined || Boolean(filter.q)

/**
 * One page and the exact total, from one snapshot. The total comes along even when the page is empty, as a row
 * without a record.
 */
export async function listRecords<Row extends CoreRow>(
  db: Db,
  orgId: number,
  layout: RecordTable,
  request: ListRequest,
  { include = [], exclude }: Restriction = {},
): Promise<(Row & { total: number })[]> {
  const more = exclude === undefined ? include : [...include, sql`not (${exclude})`]
  const list = isFiltered(request, include)
    ? filteredList(orgId, layout, request, more)
    : sql`with total as (${countedTotal(orgId, layout, request, exclude)}),
        page as (${plainPage(orgId, layout, request, more)})`
  const page = pageWithTags(orgId, layout, list, orderBy(request, sql`page`))
  // How many a search finds depends on what is searched for, so its plan does too.
  return db.query(request.filter.q ? page : withGenericPlan(page))
}

/** `list` is a WITH clause that ends with `total` and `page`. */
export function pageWithTags(orgId: number, layout: RecordTable, list: Sql, order: Sql): Sql {
  return sql`${list}
    select total.total, page.*, ${layout.pageColumns(orgId)}${tagColumns}
    from total left join page on true ${layout.pageJoins(orgId)}
    left join tags t on t.org_id = ${orgId} and ${layout.tagHolder} = page.id
    order by ${order}, ${tagOrder}`
}
