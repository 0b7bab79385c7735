import type { Db, Tx } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { toDatabase } from '../kernel/instant.ts'
import type { BulkRepository } from '../records/bulk.ts'
import { groupRows } from '../records/load.sql.ts'
import { tagColumns, tagOrder } from '../tags/tags.sql.ts'
import type { Location } from './location.ts'
import { type LocationRow, locationColumns, locationOf, parentColumn } from './locations.sql.ts'

async function locationsByKeys(tx: Tx, orgId: number, keys: readonly string[]): Promise<Location[]> {
  const rows = await tx.query<LocationRow>(sql`
    select ${locationColumns}, ${parentColumn}${tagColumns}
    from locations r
    left join locations parent on parent.org_id = ${orgId} and parent.id = r.parent_id
    left join tags t on t.org_id = ${orgId} and t.location_id = r.id
    where r.org_id = ${orgId} and r.external_key = any(${keys}::text[]) and r.deleted_at is null
    order by r.id, ${tagOrder}`)
  return groupRows(rows, locationOf)
}

async function lockLocations(tx: Tx, orgId: number, keys: readonly string[]): Promise<void> {
  await tx.query(sql`
    select from locations where org_id = ${orgId} and external_key = any(${keys}::text[]) and deleted_at is null
    order by id for no key update`)
}

type Written = readonly { record: Location; search: string }[]

async function insertLocations(tx: Tx, orgId: number, all: Written): Promise<number> {
  const records = all.map((one) => one.record)
  const inserted = await tx.query(sql`
    insert into locations as made (org_id, id, external_key, name, description, parent_id, is_active, valid_from, valid_to,
      created_at, updated_at, search_text)
    select o.org_id, u.id, u.external_key, u.name, u.description, u.parent_id, u.is_active = 'true', u.valid_from,
      u.valid_to, u.created_at, u.created_at, u.search_text
    from organizations o cross join unnest(
      ${records.map((one) => one.id)}::bigint[], ${records.map((one) => one.externalKey)}::text[],
      ${records.map((one) => one.name)}::text[], ${records.map((one) => one.description)}::text[],
      ${records.map((one) => one.parentId)}::bigint[], ${records.map((one) => String(one.isActive))}::text[],
      ${records.map((one) => toDatabase(one.validFrom))}::timestamptz[],
      ${records.map((one) => one.validTo && toDatabase(one.validTo))}::timestamptz[],
      ${records.map((one) => toDatabase(one.createdAt))}::timestamptz[], ${all.map((one) => one.search)}::text[]
    ) u (id, external_key, name, description, parent_id, is_active, valid_from, valid_to, created_at, search_text)
    where o.org_id = ${orgId}
    order by u.external_key collate "C"
    on conflict (org_id, external_key) where deleted_at is null do nothing
    returning id`)
  return inserted.length
}

async function updateLocations(tx: Tx, orgId: number, all: Written): Promise<void> {
  const records = all.map((one) => one.record)
  await tx.query(sql`
    update locations l set name = u.name, description = u.description, parent_id = u.parent_id,
      is_active = (u.is_active = 'true'), valid_from = u.valid_from, valid_to = u.valid_to, updated_at = u.updated_at,
      search_text = u.search_text
    from unnest(
      ${records.map((one) => one.id)}::bigint[], ${records.map((one) => one.name)}::text[],
      ${records.map((one) => one.description)}::text[], ${records.map((one) => one.parentId)}::bigint[],
      ${records.map((one) => String(one.isActive))}::text[],
      ${records.map((one) => toDatabase(one.validFrom))}::timestamptz[],
      ${records.map((one) => one.validTo && toDatabase(one.validTo))}::timestamptz[],
      ${records.map((one) => toDatabase(one.updatedAt))}::timestamptz[], ${all.map((one) => one.search)}::text[]
    ) u (id, name, description, parent_id, is_active, valid_from, valid_to, updated_at, search_text)
    where l.org_id = ${orgId} and l.id = u.id`)
}

export const locationBulk: BulkRepository<Location> = {
  kind: 'location',
  byKeys: locationsByKeys,
  lock: lockLocations,
  insert: insertLocations,
  update: updateLocations,
}

/** The whole tree: the id and the parent's key of each live location, by key. */
export async function treeOf(db: Db, orgId: number): Promise<Map<string, { id: number; parentKey: string | null }>> {
  const rows = await db.query<{ id: number; external_key: string; parent_key: string | null }>(sql`
    select l.id, l.external_key, p.external_key as parent_key
    from locations l left join locations p on p.org_id = ${orgId} and p.id = l.parent_id
    where l.org_id = ${orgId} and l.deleted_at is null`)
  return new Map(rows.map((row) => [row.external_key, { id: row.id, parentKey: row.parent_key }]))
}

/** Locks the parents, so that none is deleted before its children are inserted. Returns how many still exist. */
export async function lockParentsForShare(tx: Tx, orgId: number, ids: readonly number[]): Promise<number> {
  const rows = await tx.query(sql`
    select id from locations where org_id = ${orgId} and id = any(${ids}::bigint[]) and deleted_at is null
    order by id for share`)
  return rows.length
}
