import type { Db } from '../db/database.ts'
import { type Sql, join, sql } from '../db/sql.ts'
import type { Page } from '../kernel/page.ts'
import {
  type ListRequest,
  type RecordSortField,
  conditions,
  countedTotal,
  isFiltered,
  live,
  pageWithTags,
  sortColumns,
} from '../records/list.sql.ts'
import { groupRows } from '../records/load.sql.ts'
import type { LocationWithPath } from './location.ts'
import {
  type LocationFilter,
  type LocationRow,
  tableOf,
  listLocations,
  locationColumns,
  parentConditions,
  withPath,
} from './locations.sql.ts'

/** A path joins the keys from the root down with slashes. It is not stored, so renames and moves change a single row. */
type PathSortField = RecordSortField | 'path'

type PathRequest = ListRequest<PathSortField>

const table = tableOf(withPath)

function orderBy({ sort }: PathRequest, of: Sql): Sql {
  const direction = (descending: boolean | undefined): Sql => (descending ? sql` desc` : sql` asc`)
  const terms = sort.map(
    ({ field, descending }) =>
      sql`${field === 'path' ? sql`${of}.path` : sortColumns[field](of)}${direction(descending)}`,
  )
  return join([...terms, sql`${of}.id${direction(sort.at(-1)?.descending)}`], sql`, `)
}

/**
 * The first rows in path order. A location's path begins with its parent's path, so its ancestors precede it in that
 * order. On each level of the tree it is therefore enough to follow as many locations as limit + offset, plus the number
 * of locations that the list omits.
 */
function firstByPath(orgId: number, request: PathRequest): Sql {
  const { limit, offset } = request
  const children = (parent: Sql): Sql => sql`
    select l.id, l.external_key from locations l
    where l.org_id = ${orgId} and l.parent_id ${parent} and l.deleted_at is null
    order by l.external_key limit (select rows from max_rows)`
  return sql`
    with recursive total as (${countedTotal(orgId, table, request)}),
    max_rows as (
      select case when ${offset}::bigint >= total.total then 0
        else least(${limit}::bigint + ${offset}::bigint, total.total) - total.total + (
          select sum(active + inactive) from record_counts where org_id = ${orgId} and kind = 'location'
        ) end as rows
      from total
    ),
    down as (
      select top.id, top.external_key as path, 1 as level from (${children(sql`is null`)}) top
      union all
      select * from (
        select lower.id, down.path || '/' || lower.external_key as path, down.level + 1
        from down cross join lateral (${children(sql`= down.id`)}) lower
        where down.level < (select rows from max_rows)
        order by path, lower.id limit (select rows from max_rows)
      ) next
    ),
    page as (
      select ${locationColumns}, down.path from down join locations r on r.org_id = ${orgId} and r.id = down.id
      where ${conditions(orgId, request, live, [])}
      order by down.path, r.id limit ${limit} offset ${offset}
    )`
}

/** The paths of all locations, from the roots down: each path is built once, from the parent's path. */
const allPaths = (orgId: number): Sql => sql`
  paths as (
    select r.id, r.external_key as path from locations r
    where r.org_id = ${orgId} and r.parent_id is null and r.deleted_at is null
    union all
    select r.id, paths.path || '/' || r.external_key
    from paths join locations r on r.org_id = ${orgId} and r.parent_id = paths.id and r.deleted_at is null
  )`

/**
 * The paths of the locations above the matches. Each of these locations is found once, however many matches are below it,
 * and its path is built once, from the parent's path.
 */
const pathsAboveMatches = (orgId: number): Sql => sql`
  above as (
    select m.parent_id as id from matches m where m.parent_id is not null
    union
    select l.parent_id from above join locations l on l.org_id = ${orgId} and l.id = above.id
    where l.parent_id is not null
  ),
  ancestors as materialized (
    select l.id, l.parent_id, l.external_key from locations l
    where l.org_id = ${orgId} and l.id in (select above.id from above)
  ),
  paths as (
    select a.id, a.external_key as path from ancestors a where a.parent_id is null
    union all
    select a.id, paths.path || '/' || a.external_key from paths join ancestors a on a.parent_id = paths.id
  )`

function matchesByPath(orgId: number, request: PathRequest, restrictions: readonly Sql[]): Sql {
  return sql`
    with recursive matches as materialized (
      select r.id, r.parent_id, r.external_key, r.name, r.created_at, r.updated_at from locations r
      where ${conditions(orgId, request, live, restrictions)}
    ),
    total as (select count(*) as total from matches),
    ${isFiltered(request, restrictions) ? pathsAboveMatches(orgId) : allPaths(orgId)},
    selected as (
      select id, path from (
        select m.*, coalesce(paths.path || '/', '') || m.external_key as path
        from matches m left join paths on paths.id = m.parent_id
      ) with_path
      order by ${orderBy(request, sql`with_path`)} limit ${request.limit} offset ${request.offset}
    ),
    page as (
      select ${locationColumns}, selected.path from selected join locations r on r.org_id = ${orgId} and r.id = selected.id
    )`
}

/** The order in which the tree is walked, so that an unfiltered page needs few paths. */
const isTreeOrder = ({ sort }: Pick<PathRequest, 'sort'>): boolean =>
  sort.length === 1 && sort[0]!.field === 'path' && !sort[0]!.descending

/** Whether an unfiltered list builds the paths of all locations. */
export const needsAllPaths = (request: Pick<PathRequest, 'sort'>): boolean =>
  request.sort.some(({ field }) => field === 'path') && !isTreeOrder(request)

const isByColumns = (request: PathRequest): request is ListRequest =>
  request.sort.every(({ field }) => field !== 'path')

export async function listLocationsWithPath(
  db: Db,
  orgId: number,
  request: PathRequest,
  filter: LocationFilter,
): Promise<Page<LocationWithPath>> {
  if (isByColumns(request)) return listLocations(db, orgId, request, filter, withPath)
  const restrictions = parentConditions(orgId, filter, request.filter.includeDeleted)
  const isWalk = isTreeOrder(request) && !isFiltered(request, restrictions)
  const list = isWalk ? firstByPath(orgId, request) : matchesByPath(orgId, request, restrictions)
  const rows = await db.query<LocationRow & { total: number }>(
    pageWithTags(orgId, table, list, orderBy(request, sql`r`)),
  )
  return { rows: groupRows(rows, withPath.build), total: rows[0]?.total ?? 0 }
}
