import type { Db, Tx } from '../db/database.ts'
import { type Sql, sql } from '../db/sql.ts'
import { toDatabase } from '../kernel/instant.ts'
import type { Page } from '../kernel/page.ts'
import type { Store } from '../records/commands.ts'
import { type CoreRow, type ListRequest, type RecordTable, coreColumns, listRecords } from '../records/list.sql.ts'
import { coreOf, foldRows } from '../records/rows.ts'
import { tagColumns, tagOrder } from '../tags/tags.sql.ts'
import type { Asset, Metadata } from './asset.ts'

interface AssetRow extends CoreRow {
  metadata: string
}

const columns: Sql = sql`${coreColumns}, r.metadata`

const layout: RecordTable = {
  kind: 'asset',
  table: sql`assets`,
  columns,
  pageColumns: sql``,
  pageJoins: () => sql``,
  tagHolder: sql`t.asset_id`,
}

/** Adds to the object instead of copying it: a page of copies costs more than all else that is done to its rows. */
function assetOf(row: AssetRow): Asset {
  const asset = coreOf(row) as Asset
  asset.metadata = JSON.parse(row.metadata) as Metadata
  return asset
}

async function findAsset(db: Db, orgId: number, id: number): Promise<Asset | null> {
  const rows = await db.query<AssetRow>(sql`
    select ${columns}, ${tagColumns}
    from assets r left join tags t on t.org_id = ${orgId} and t.asset_id = r.id
    where r.org_id = ${orgId} and r.id = ${id} and r.deleted_at is null
    order by ${tagOrder}`)
  return foldRows(rows, assetOf)[0] ?? null
}

async function lockAsset(tx: Tx, orgId: number, id: number): Promise<void> {
  await tx.query(
    sql`select from assets where org_id = ${orgId} and id = ${id} and deleted_at is null for no key update`,
  )
}

async function insertAsset(tx: Tx, orgId: number, asset: Asset, search: string): Promise<boolean> {
  const inserted = await tx.query(sql`
    insert into assets (org_id, id, external_key, name, description, metadata, is_active, valid_from, valid_to,
      created_at, updated_at, search_text)
    values (${orgId}, ${asset.id}, ${asset.externalKey}, ${asset.name}, ${asset.description},
      ${JSON.stringify(asset.metadata)}, ${asset.isActive}, ${toDatabase(asset.validFrom)},
      ${asset.validTo && toDatabase(asset.validTo)}, ${toDatabase(asset.createdAt)}, ${toDatabase(asset.updatedAt)},
      ${search})
    on conflict (org_id, external_key) where deleted_at is null do nothing
    returning id`)
  return inserted.length === 1
}

async function updateAsset(tx: Tx, orgId: number, asset: Asset, search: string): Promise<void> {
  await tx.query(sql`
    update assets set external_key = ${asset.externalKey}, name = ${asset.name}, description = ${asset.description},
      metadata = ${JSON.stringify(asset.metadata)}, is_active = ${asset.isActive},
      valid_from = ${toDatabase(asset.validFrom)}, valid_to = ${asset.validTo && toDatabase(asset.validTo)},
      updated_at = ${toDatabase(asset.updatedAt)}, deleted_at = ${asset.deletedAt && toDatabase(asset.deletedAt)},
      search_text = ${search}
    where org_id = ${orgId} and id = ${asset.id}`)
}

export const assetStore: Store<Asset> = {
  kind: 'asset',
  noun: 'Asset',
  holder: (id) => ({ assetId: id }),
  find: findAsset,
  lock: lockAsset,
  insert: insertAsset,
  update: updateAsset,
}

export async function listAssets(db: Db, orgId: number, request: ListRequest): Promise<Page<Asset>> {
  const rows = await listRecords<AssetRow>(db, orgId, layout, request)
  return { rows: foldRows(rows, assetOf), total: rows[0]?.total ?? 0 }
}

/** Has the asset a row in the report? */
export async function isScanned(tx: Tx, orgId: number, id: number): Promise<boolean> {
  const rows = await tx.query(sql`select from asset_positions where org_id = ${orgId} and asset_id = ${id}`)
  return rows.length > 0
}
