import type { Db } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import type { Page } from '../kernel/page.ts'
import { type CoreRow, groupRows, toRecord, coreColumns } from '../records/load.sql.ts'
import { type ListRequest, type RecordTable, listRecords } from '../records/list.sql.ts'
import type { RecordCore } from '../records/record.ts'
import { requestedLocations } from './report-request.sql.ts'

export const assetTable: RecordTable = {
  kind: 'asset',
  table: sql`assets`,
  columns: coreColumns,
  rowColumns: coreColumns,
  pageColumns: () => sql``,
  pageJoins: () => sql``,
  tagOwnerId: sql`t.asset_id`,
}

/** The assets that were last seen at one of the locations or below it, with the filters and the order of the asset list. */
export async function listAssetsAtLocations(
  db: Db,
  orgId: number,
  locationIds: readonly number[],
  request: ListRequest,
): Promise<Page<RecordCore>> {
  const locations = requestedLocations(orgId, { locationIds, includeDescendants: true })
  const isThere = sql`r.id in (
    select p.asset_id from asset_positions p where p.org_id = ${orgId} and p.location_id in (${locations}))`
  const rows = await listRecords<CoreRow>(db, orgId, assetTable, request, { include: [isThere] })
  return { rows: groupRows(rows, toRecord), total: rows[0]?.total ?? 0 }
}
