import type { Db } from '../../db/database.ts'
import { type Sql, sql } from '../../db/sql.ts'
import type { Page } from '../../kernel/page.ts'
import { type RecordRow, groupRows, toRecord, recordColumns, recordRowColumns } from '../../records/load.sql.ts'
import {
  type ListRequest,
  type RecordTable,
  listRecords,
  isFiltered,
  orderBy,
  pageWithTags,
  unfilteredPage,
} from '../../records/list.sql.ts'
import type { BaseRecord } from '../../records/record.ts'
import { requestedLocations, type RequestedLocations } from './report-request.sql.ts'
import { isLargeSubtree, isThere, largeSubtree } from './large-subtree.sql.ts'

export const assetTable: RecordTable = {
  kind: 'asset',
  name: sql`assets`,
  columns: recordColumns,
  rowColumns: recordRowColumns,
  pageColumns: () => sql``,
  pageJoins: () => sql``,
  tagOwnerId: sql`t.asset_id`,
}

/** The ids of the assets that were last seen at one of the locations or below it. */
export const assetsAt = (orgId: number, locationIds: readonly number[]): Sql => sql`
  select p.asset_id from asset_positions p
  where p.org_id = ${orgId} and p.location_id in (${requestedLocations(orgId, { locationIds, includeDescendants: true })})`

/**
 * The record `r` has one of the ids. They are selected into an array, so that each record is looked up by its id: the
 * planner expects far more ids than there are, and would read all records. At a million assets the first page of a location
 * with 200 takes 719 ms then.
 */
export const whereIdIn = (ids: Sql): Sql => sql`r.id = any(array(${ids}))`

/**
 * Whether the assets at the locations are found in the order of the list: they are many, and the list has no other filter,
 * whose matches would have to be counted.
 */
export const isWalked = async (
  db: Db,
  orgId: number,
  locations: RequestedLocations,
  { filter }: Pick<ListRequest, 'filter'>,
  maxUnorderedAssets: number | undefined,
): Promise<boolean> =>
  !isFiltered({ filter }, []) &&
  filter.isActive === undefined &&
  (await isLargeSubtree(db, orgId, locations, maxUnorderedAssets))

/** The assets that were last seen at one of the locations or below it, with the filters and the order of the asset list. */
export async function listAssetsAtLocations(
  db: Db,
  orgId: number,
  locationIds: readonly number[],
  request: ListRequest,
  maxUnorderedAssets?: number,
): Promise<Page<BaseRecord>> {
  const locations = { locationIds, includeDescendants: true }
  const rows = (await isWalked(db, orgId, locations, request, maxUnorderedAssets))
    ? await db.query<RecordRow & { total: number }>(walkedList(orgId, locations, request))
    : await listRecords<RecordRow>(db, orgId, assetTable, request, {
        include: [whereIdIn(assetsAt(orgId, locationIds))],
      })
  return { rows: groupRows(rows, toRecord), total: rows[0]?.total ?? 0 }
}

function walkedList(orgId: number, locations: RequestedLocations, request: ListRequest): Sql {
  const isHere = isThere(sql`(
    select p.location_id from asset_positions p where p.org_id = ${orgId} and p.asset_id = r.id)`)
  const listed = { now: request.now, includeDeleted: request.filter.includeDeleted }
  const list = sql`
    with ${largeSubtree(orgId, locations, listed)}, page as (${unfilteredPage(orgId, assetTable, request, [isHere])})`
  return pageWithTags(orgId, assetTable, list, orderBy(request, sql`r`))
}
