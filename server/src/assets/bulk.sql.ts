import type { Tx } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { toDatabase } from '../kernel/instant.ts'
import { toJsonText } from '../kernel/json.ts'
import type { BulkRepository } from '../records/bulk.ts'
import { groupRows } from '../records/load.sql.ts'
import { orderTagRows, tagColumns } from '../tags/tags.sql.ts'
import type { Asset } from './asset.ts'
import { type AssetRow, assetColumns, assetOf } from './assets.sql.ts'

async function assetsByKeys(tx: Tx, orgId: number, keys: readonly string[]): Promise<Asset[]> {
  const rows = await tx.query<AssetRow>(sql`
    select ${assetColumns}, ${tagColumns}
    from assets r left join tags t on t.org_id = ${orgId} and t.asset_id = r.id
    where r.org_id = ${orgId} and r.external_key = any(${keys}::text[]) and r.deleted_at is null
    ${orderTagRows(sql`r.id`)}`)
  return groupRows(rows, assetOf)
}

async function lockAssets(tx: Tx, orgId: number, keys: readonly string[]): Promise<void> {
  await tx.query(sql`
    select from assets where org_id = ${orgId} and external_key = any(${keys}::text[]) and deleted_at is null
    order by id for no key update`)
}

async function insertAssets(tx: Tx, orgId: number, all: readonly { record: Asset; search: string }[]): Promise<number> {
  const records = all.map((one) => one.record)
  const inserted = await tx.query(sql`
    insert into assets as made (org_id, id, external_key, name, description, metadata, is_active, valid_from, valid_to,
      created_at, updated_at, search_text)
    select o.org_id, u.id, u.external_key, u.name, u.description, u.metadata::json, u.is_active = 'true', u.valid_from,
      u.valid_to, u.created_at, u.created_at, u.search_text
    from organizations o cross join unnest(
      ${records.map((one) => one.id)}::bigint[], ${records.map((one) => one.externalKey)}::text[],
      ${records.map((one) => one.name)}::text[], ${records.map((one) => one.description)}::text[],
      ${records.map((one) => toJsonText(one.metadata))}::text[], ${records.map((one) => String(one.isActive))}::text[],
      ${records.map((one) => toDatabase(one.validFrom))}::timestamptz[],
      ${records.map((one) => one.validTo && toDatabase(one.validTo))}::timestamptz[],
      ${records.map((one) => toDatabase(one.createdAt))}::timestamptz[], ${all.map((one) => one.search)}::text[]
    ) u (id, external_key, name, description, metadata, is_active, valid_from, valid_to, created_at, search_text)
    where o.org_id = ${orgId}
    order by u.external_key collate "C"
    on conflict (org_id, external_key) where deleted_at is null do nothing
    returning id`)
  return inserted.length
}

async function updateAssets(tx: Tx, orgId: number, all: readonly { record: Asset; search: string }[]): Promise<void> {
  const records = all.map((one) => one.record)
  await tx.query(sql`
    update assets a set name = u.name, description = u.description, metadata = u.metadata::json,
      is_active = (u.is_active = 'true'), valid_from = u.valid_from, valid_to = u.valid_to, updated_at = u.updated_at,
      search_text = u.search_text
    from unnest(
      ${records.map((one) => one.id)}::bigint[], ${records.map((one) => one.name)}::text[],
      ${records.map((one) => one.description)}::text[], ${records.map((one) => toJsonText(one.metadata))}::text[],
      ${records.map((one) => String(one.isActive))}::text[],
      ${records.map((one) => toDatabase(one.validFrom))}::timestamptz[],
      ${records.map((one) => one.validTo && toDatabase(one.validTo))}::timestamptz[],
      ${records.map((one) => toDatabase(one.updatedAt))}::timestamptz[], ${all.map((one) => one.search)}::text[]
    ) u (id, name, description, metadata, is_active, valid_from, valid_to, updated_at, search_text)
    where a.org_id = ${orgId} and a.id = u.id`)
}

export const assetBulk: BulkRepository<Asset> = {
  kind: 'asset',
  byKeys: assetsByKeys,
  lock: lockAssets,
  insert: insertAssets,
  update: updateAssets,
}
