import type { Db, Tx } from '../db/database.ts'
import { withGenericPlan } from '../db/plan-cache.ts'
import { type Sql, sql } from '../db/sql.ts'
import { toDatabase } from '../kernel/instant.ts'
import { toJsonText } from '../kernel/json.ts'
import type { Page } from '../kernel/page.ts'
import { type BatchRequest, selectBatch } from '../records/batch.sql.ts'
import type { Repository } from '../records/commands.ts'
import {
  type RecordRow,
  recordColumns,
  recordRowColumns,
  whereRef,
  createRecordLoader,
  toRecord,
  groupRows,
} from '../records/load.sql.ts'
import { type ListRequest, type RecordTable, type Restriction, listRecords } from '../records/list.sql.ts'
import { incrementScanned } from '../records/counts.sql.ts'
import type { RecordRef } from '../records/record.ts'
import { onFirstTagRow, orderTagRows, tagColumns } from '../tags/tags.sql.ts'
import type { Asset, AssetType, Metadata, AssetWithLocation } from './asset.ts'

export interface AssetRow extends RecordRow {
  metadata: string
  type: AssetType
}

interface AssetWithLocationRow extends AssetRow {
  location_key: string | null
}

const columns: Sql = sql`${recordColumns}, r.metadata, r.type`
/** The columns of a statement that ends with `orderTagRows`. */
export const assetColumns: Sql = sql`${recordRowColumns}, ${onFirstTagRow(sql`r.metadata`)} as metadata, r.type`

const table: RecordTable = {
  kind: 'asset',
  name: sql`assets`,
  columns,
  rowColumns: assetColumns,
  pageColumns: () => sql``,
  pageJoins: () => sql``,
  tagOwnerId: sql`t.asset_id`,
}

/** A deleted location counts as none. */
const joinLocation = (orgId: number): Sql => sql`
  left join asset_positions p on p.org_id = ${orgId} and p.asset_id = r.id
  left join locations l on l.org_id = ${orgId} and l.id = p.location_id and l.deleted_at is null`

const assetWithLocationTable: RecordTable = {
  ...table,
  pageColumns: () => sql`l.external_key as location_key, `,
  pageJoins: (orgId) => joinLocation(orgId),
}

/** Adds to the object instead of copying it: the copies would be the largest cost of converting a page. */
export function assetOf(row: AssetRow): Asset {
  const asset = toRecord(row) as Asset
  asset.metadata = JSON.parse(row.metadata) as Metadata
  asset.type = row.type
  return asset
}

const toAssetWithLocation = (row: AssetWithLocationRow): AssetWithLocation => ({
  ...assetOf(row),
  locationKey: row.location_key,
})

/** `where` is a condition on `r`. */
async function findAssets(db: Db, orgId: number, where: Sql): Promise<Asset[]> {
  const rows = await db.query<AssetRow>(
    withGenericPlan(sql`
      select ${assetColumns}, ${tagColumns}
      from assets r left join tags t on t.org_id = ${orgId} and t.asset_id = r.id
      where ${where}
      ${orderTagRows(sql`r.id`)}`),
  )
  return groupRows(rows, assetOf)
}

async function findAssetsWithLocation(db: Db, orgId: number, where: Sql): Promise<AssetWithLocation[]> {
  const rows = await db.query<AssetWithLocationRow>(
    withGenericPlan(sql`
      select ${assetColumns}, l.external_key as location_key, ${tagColumns}
      from assets r ${joinLocation(orgId)}
      left join tags t on t.org_id = ${orgId} and t.asset_id = r.id
      where ${where}
      ${orderTagRows(sql`r.id`)}`),
  )
  return groupRows(rows, toAssetWithLocation)
}

async function lockAsset(tx: Tx, orgId: number, ref: RecordRef): Promise<{ id: number } | null> {
  const [row] = await tx.query<{ id: number }>(
    sql`select r.id from assets r where ${whereRef(orgId, ref)} for no key update`,
  )
  return row ?? null
}

async function insertAsset(tx: Tx, orgId: number, asset: Asset, search: string): Promise<void> {
  await tx.query(sql`
    insert into assets (org_id, id, external_key, name, description, metadata, type, is_active, valid_from, valid_to,
      created_at, updated_at, search_text)
    values (${orgId}, ${asset.id}, ${asset.externalKey}, ${asset.name}, ${asset.description},
      ${toJsonText(asset.metadata)}, ${asset.type}, ${asset.isActive}, ${toDatabase(asset.validFrom)},
      ${asset.validTo && toDatabase(asset.validTo)}, ${toDatabase(asset.createdAt)}, ${toDatabase(asset.updatedAt)},
      ${search})`)
}

async function updateAsset(tx: Tx, orgId: number, asset: Asset, search: string): Promise<void> {
  await tx.query(sql`
    update assets set external_key = ${asset.externalKey}, name = ${asset.name}, description = ${asset.description},
      metadata = ${toJsonText(asset.metadata)}, type = ${asset.type}, is_active = ${asset.isActive},
      valid_from = ${toDatabase(asset.validFrom)}, valid_to = ${asset.validTo && toDatabase(asset.validTo)},
      updated_at = ${toDatabase(asset.updatedAt)}, deleted_at = ${asset.deletedAt && toDatabase(asset.deletedAt)},
      search_text = ${search}
    where org_id = ${orgId} and id = ${asset.id}`)
}

export const assetRepository: Repository<Asset> = {
  kind: 'asset',
  noun: 'Asset',
  tagOwner: (id) => ({ assetId: id }),
  ...createRecordLoader(findAssets),
  lock: lockAsset,
  insert: insertAsset,
  update: updateAsset,
}

export const assetWithLocationRepository: Repository<AssetWithLocation> = {
  ...assetRepository,
  ...createRecordLoader(findAssetsWithLocation),
}

export async function listAssets(db: Db, orgId: number, request: ListRequest): Promise<Page<Asset>> {
  const rows = await listRecords<AssetRow>(db, orgId, table, request)
  return { rows: groupRows(rows, assetOf), total: rows[0]?.total ?? 0 }
}

export interface AssetLocationFilter {
  type?: string | undefined
  /** Keys of the locations where the assets were last seen. */
  locationKeys?: readonly string[] | undefined
}

/** Nearly all assets have the type `asset`: a list of these excludes the other types, a list of another type selects it. */
export async function listAssetsWithLocation(
  db: Db,
  orgId: number,
  request: ListRequest,
  { type, locationKeys }: AssetLocationFilter,
): Promise<Page<AssetWithLocation>> {
  const isOther = sql`r.type <> 'asset'`
  const include: Sql[] = []
  if (type !== undefined && type !== 'asset') include.push(isOther, sql`r.type = ${type}`)
  if (locationKeys !== undefined)
    include.push(sql`r.id in (
      select p.asset_id from locations l
      join asset_positions p on p.org_id = ${orgId} and p.location_id = l.id
      where l.org_id = ${orgId} and l.deleted_at is null and l.external_key = any(${locationKeys}::text[]))`)
  const restriction: Restriction = { include, exclude: type === 'asset' ? isOther : undefined }
  const rows = await listRecords<AssetWithLocationRow>(db, orgId, assetWithLocationTable, request, restriction)
  return { rows: groupRows(rows, toAssetWithLocation), total: rows[0]?.total ?? 0 }
}

/** The ids of the live assets with these keys. */
export async function assetIdsByKey(tx: Tx, orgId: number, keys: readonly string[]): Promise<Map<string, number>> {
  const rows = await tx.query<{ id: number; external_key: string }>(sql`
    select id, external_key from assets
    where org_id = ${orgId} and external_key = any(${keys}::text[]) and deleted_at is null`)
  return new Map(rows.map((row) => [row.external_key, row.id]))
}

/** For the deletion of an asset, which is locked: if it was ever seen, the report's totals count it as deleted from now on. */
export async function countScannedDeleted(tx: Tx, orgId: number, id: number): Promise<void> {
  const [position] = await tx.query<{ first_day: string | null }>(sql`
    select date_trunc('day', f.seen_at, 'UTC') as first_day
    from asset_positions p
    left join first_sightings f on f.org_id = ${orgId} and f.asset_id = p.asset_id
    where p.org_id = ${orgId} and p.asset_id = ${id}`)
  if (position === undefined) return
  await incrementScanned(tx, orgId, { live: -1, deleted: 1 })
  await tx.query(sql`
    update first_sighting_counts set live = live - 1, deleted = deleted + 1
    where org_id = ${orgId} and day = ${position.first_day}`)
}

/** The next batch of live assets, of all or of those with these ids, regardless of their period of validity. */
export async function assetBatch(
  db: Db,
  orgId: number,
  request: BatchRequest,
  ids?: readonly number[],
): Promise<Asset[]> {
  const isSelected = ids === undefined ? sql`` : sql`and r.id = any(${ids}::bigint[])`
  const batch = selectBatch(orgId, table, request, { isSelected, ownBytes: sql`octet_length(r.metadata::text)` })
  const rows = await db.query<AssetRow>(sql`
    with page as (${batch})
    select ${assetColumns}, ${tagColumns} from page r left join tags t on t.org_id = ${orgId} and t.asset_id = r.id
    ${orderTagRows(sql`r.id`)}`)
  return groupRows(rows, assetOf)
}
