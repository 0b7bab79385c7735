import type { Db, Tx } from '../db/database.ts'
import { type Sql, sql } from '../db/sql.ts'
import { type Instant, toDatabase } from '../kernel/instant.ts'
import { type TagOwner, type Tag, type TagDraft, type TagType, normalizedValue } from './tag.ts'

/** Tag columns of a join on `t`, and the order of a record's tags: as they were attached. */
export const tagColumns: Sql = sql`t.id as tag_id, t.tag_type, t.value as tag_value`
export const tagOrder: Sql = sql`t.created_at, t.id`

/**
 * A result has one row per tag of a record `r`, in the order of the window `tag_rows`. A large column is only in the first
 * of these rows.
 */
export const onFirstTagRow = (column: Sql): Sql =>
  sql`case when lag(r.id) over tag_rows is distinct from r.id then ${column} end`

/** The order of the rows of records with their tags, and the window that `onFirstTagRow` needs. */
export const orderTagRows = (recordOrder: Sql): Sql => sql`
  window tag_rows as (order by ${recordOrder}, ${tagOrder}) order by ${recordOrder}, ${tagOrder}`

export interface TagRow {
  tag_id: number | null
  tag_type: TagType
  tag_value: string
}

export function tagOf(row: TagRow): Tag | null {
  return row.tag_id === null ? null : { id: row.tag_id, type: row.tag_type, value: row.tag_value }
}

/**
 * Attaches one tag. Most records have exactly one tag; with the statement for many tags, their creation takes a sixth
 * more database time.
 */
async function insertTag(tx: Tx, orgId: number, owner: TagOwner, tag: Tag, createdAt: Instant): Promise<void> {
  const [assetId, locationId] = idsOf(owner)
  await tx.query(sql`
    insert into tags (org_id, id, asset_id, location_id, tag_type, value, normalized_value, created_at)
    values (${orgId}, ${tag.id}, ${assetId}, ${locationId}, ${tag.type}, ${tag.value}, ${normalizedValue(tag)},
      ${toDatabase(createdAt)})`)
}

const idsOf = (owner: TagOwner): [assetId: number | null, locationId: number | null] =>
  'assetId' in owner ? [owner.assetId, null] : [null, owner.locationId]

/**
 * Attaches the tags to the record. A tag that is already attached violates the unique index, which fails
 * the transaction. Tags are inserted in the order of that index, to avoid deadlocks.
 */
export async function insertTags(
  tx: Tx,
  orgId: number,
  owner: TagOwner,
  tags: readonly Tag[],
  createdAt: Instant,
): Promise<void> {
  const [first, ...others] = tags
  if (first !== undefined && others.length === 0) return insertTag(tx, orgId, owner, first, createdAt)
  const [assetId, locationId] = idsOf(owner)
  await tx.query(sql`
    insert into tags as made (org_id, id, asset_id, location_id, tag_type, value, normalized_value, created_at)
    select h.org_id, u.id, ${assetId}::bigint, ${locationId}::bigint, u.tag_type, u.value, u.normalized_value,
      ${toDatabase(createdAt)}::timestamptz
    from ${assetId === null ? sql`locations` : sql`assets`} h cross join unnest(
      ${tags.map((tag) => tag.id)}::bigint[], ${tags.map((tag) => tag.type)}::text[],
      ${tags.map((tag) => tag.value)}::text[], ${tags.map(normalizedValue)}::text[]
    ) u (id, tag_type, value, normalized_value)
    where h.org_id = ${orgId} and h.id = ${assetId ?? locationId}
    order by u.tag_type, u.normalized_value collate "C"
    returning id`)
}

export interface OwnedTag {
  assetId: number | null
  locationId: number | null
  ownerKey: string
}

/** The record that each tag is attached to, by the tag's index in the list. Tags that are not attached are omitted. */
export async function ownersOf(db: Db, orgId: number, tags: readonly TagDraft[]): Promise<Map<number, OwnedTag>> {
  if (tags.length === 0) return new Map()
  const rows = await db.query<{
    index: number
    asset_id: number | null
    location_id: number | null
    owner_key: string
  }>(sql`
    select u.position - 1 as index, t.asset_id, t.location_id, coalesce(a.external_key, l.external_key) as owner_key
    from unnest(${tags.map((tag) => tag.type)}::text[], ${tags.map(normalizedValue)}::text[])
      with ordinality as u (tag_type, normalized_value, position)
    join tags t on t.org_id = ${orgId} and t.tag_type = u.tag_type and t.normalized_value = u.normalized_value
    left join assets a on a.org_id = ${orgId} and a.id = t.asset_id
    left join locations l on l.org_id = ${orgId} and l.id = t.location_id`)
  return new Map(
    rows.map((row) => [row.index, { assetId: row.asset_id, locationId: row.location_id, ownerKey: row.owner_key }]),
  )
}

/** Attaches tags of many records, in the order of the unique index. Skips attached tags and returns the number inserted. */
export async function insertTagsOfMany(
  tx: Tx,
  orgId: number,
  tags: readonly (Tag & { assetId: number | null; locationId: number | null })[],
  createdAt: Instant,
): Promise<number> {
  const inserted = await tx.query(sql`
    insert into tags as made (org_id, id, asset_id, location_id, tag_type, value, normalized_value, created_at)
    select o.org_id, u.id, u.asset_id, u.location_id, u.tag_type, u.value, u.normalized_value,
      ${toDatabase(createdAt)}::timestamptz
    from organizations o cross join unnest(
      ${tags.map((tag) => tag.id)}::bigint[], ${tags.map((tag) => tag.assetId)}::bigint[],
      ${tags.map((tag) => tag.locationId)}::bigint[], ${tags.map((tag) => tag.type)}::text[],
      ${tags.map((tag) => tag.value)}::text[], ${tags.map(normalizedValue)}::text[]
    ) u (id, asset_id, location_id, tag_type, value, normalized_value)
    where o.org_id = ${orgId}
    order by u.tag_type, u.normalized_value collate "C"
    on conflict (org_id, tag_type, normalized_value) do nothing
    returning id`)
  return inserted.length
}

const whereOwner = (owner: TagOwner): Sql =>
  'assetId' in owner ? sql`asset_id = ${owner.assetId}` : sql`location_id = ${owner.locationId}`

export async function deleteTag(tx: Tx, orgId: number, owner: TagOwner, tagId: number): Promise<boolean> {
  const deleted = await tx.query(
    sql`delete from tags where org_id = ${orgId} and id = ${tagId} and ${whereOwner(owner)} returning id`,
  )
  return deleted.length === 1
}

export async function deleteTagsOf(tx: Tx, orgId: number, owner: TagOwner): Promise<void> {
  await tx.query(sql`delete from tags where org_id = ${orgId} and ${whereOwner(owner)}`)
}
