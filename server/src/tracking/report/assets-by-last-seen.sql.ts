import type { Db } from '../../db/database.ts'
import { paginate } from '../../db/plan-cache.ts'
import { type Sql, sql } from '../../db/sql.ts'
import type { Page } from '../../kernel/page.ts'
import { type RecordRow, groupRows, toRecord, recordColumns } from '../../records/load.sql.ts'
import { type ListRequest, conditions, countedTotal, isFiltered, live } from '../../records/list.sql.ts'
import type { BaseRecord } from '../../records/record.ts'
import { tagColumns, tagOrder } from '../../tags/tags.sql.ts'
import { assetTable, assetsAt, isWalked, whereIdIn } from './assets-at-location.sql.ts'
import { isThere, largeSubtree } from './large-subtree.sql.ts'
import type { RequestedLocations } from './report-request.sql.ts'

export interface LastSeenRequest extends Omit<ListRequest, 'sort'> {
  descending: boolean
  /** Assets that were last seen at one of these locations or below it. */
  locationIds?: readonly number[] | undefined
}

/** Finds the matches by the filter's own index, then sorts them. */
function filteredList(orgId: number, request: LastSeenRequest, include: readonly Sql[], direction: Sql): Sql {
  return sql`
    with matches as materialized (
      select r.id, p.last_seen_at from assets r
      left join asset_positions p on p.org_id = ${orgId} and p.asset_id = r.id
      where ${conditions(orgId, request, live, include)}
    ),
    total as (select count(*) as total from matches),
    selected as (${paginate(
      sql`select m.id, m.last_seen_at from matches m
        order by m.last_seen_at ${direction} nulls last, m.id ${direction}`,
      request,
    )})`
}

/**
 * Walks the index of positions from one end. Assets that were never seen are looked for only when the assets that were
 * seen do not fill the page.
 */
function unfilteredList(orgId: number, request: LastSeenRequest, direction: Sql): Sql {
  const { limit, offset } = request
  const maxRows = Math.min(limit + offset, Number.MAX_SAFE_INTEGER)
  const where = conditions(orgId, request, live, [])
  return sql`
    with total as (${countedTotal(orgId, assetTable, request)}),
    seen as materialized (
      select r.id, p.last_seen_at from asset_positions p
      join assets r on r.org_id = ${orgId} and r.id = p.asset_id
      where p.org_id = ${orgId} and ${where}
      order by p.last_seen_at ${direction}, p.asset_id ${direction} limit ${maxRows}
    ),
    unseen as materialized (
      select r.id from assets r
      where ${where} and (select count(*) from seen) < ${maxRows} and not exists (
        select from asset_positions p where p.org_id = ${orgId} and p.asset_id = r.id)
      order by r.id ${direction} limit ${maxRows}
    ),
    selected as (${paginate(
      sql`select m.id, m.last_seen_at from (
          select seen.id, seen.last_seen_at from seen union all select unseen.id, null from unseen
        ) m
        order by m.last_seen_at ${direction} nulls last, m.id ${direction}`,
      request,
    )})`
}

/** Walks the index of positions from one end and takes those at the locations. */
function walkedList(orgId: number, locations: RequestedLocations, request: LastSeenRequest, direction: Sql): Sql {
  return sql`
    with ${largeSubtree(orgId, locations, request)},
    selected as (${paginate(
      sql`select r.id, p.last_seen_at from asset_positions p
        join assets r on r.org_id = ${orgId} and r.id = p.asset_id
        where p.org_id = ${orgId} and ${isThere(sql`p.location_id`)} and ${conditions(orgId, request, live, [])}
        order by p.last_seen_at ${direction}, p.asset_id ${direction}`,
      request,
    )})`
}

/** Assets in the order in which they were last seen; those that were never seen are at the end. */
export async function listAssetsByLastSeen(
  db: Db,
  orgId: number,
  request: LastSeenRequest,
  maxUnorderedAssets?: number,
): Promise<Page<BaseRecord>> {
  const { locationIds, descending, filter } = request
  const locations = { locationIds, includeDescendants: true }
  const direction = descending ? sql`desc` : sql`asc`
  const include = locationIds === undefined ? [] : [whereIdIn(assetsAt(orgId, locationIds))]
  // Few assets are inactive, so walking the index of positions would read nearly all rows to fill a page.
  const isSelective = isFiltered(request, include) || filter.isActive === false
  const list =
    locationIds !== undefined && (await isWalked(db, orgId, locations, request, maxUnorderedAssets))
      ? walkedList(orgId, locations, request, direction)
      : isSelective
        ? filteredList(orgId, request, include, direction)
        : unfilteredList(orgId, request, direction)
  const rows = await db.query<RecordRow & { total: number }>(sql`${list}
    select total.total, ${recordColumns}, ${tagColumns}
    from total left join selected on true
    left join assets r on r.org_id = ${orgId} and r.id = selected.id
    left join tags t on t.org_id = ${orgId} and t.asset_id = selected.id
    order by selected.last_seen_at ${direction} nulls last, selected.id ${direction}, ${tagOrder}`)
  return { rows: groupRows(rows, toRecord), total: rows[0]?.total ?? 0 }
}
