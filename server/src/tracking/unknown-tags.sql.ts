import type { Db, Tx } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { type Instant, fromDatabase, toDatabase } from '../kernel/instant.ts'
import { type Page, type PageRequest, toPage } from '../kernel/page.ts'
import { type TagDraft, type TagType, normalizedValue } from '../tags/tag.ts'

export interface UnknownRead {
  tag: TagDraft
  readerId: number
  /** The antenna of the latest read. */
  antenna: number
  reads: number
  firstSeenAt: Instant
  lastSeenAt: Instant
}

/** The maximum number of unknown tags per organization; those not seen for longest are deleted first. */
const capacity = 1000

const byTypeAndValue = (a: UnknownRead, b: UnknownRead): number =>
  a.tag.type < b.tag.type ? -1 : a.tag.type > b.tag.type ? 1 : normalizedValue(a.tag) < normalizedValue(b.tag) ? -1 : 1

/**
 * Counts the reads and keeps the reader, the antenna and the time of the latest read of each tag. The tags are sorted, so
 * that concurrent transactions lock rows in the same order.
 */
export async function noteUnknownTags(tx: Tx, orgId: number, unknown: readonly UnknownRead[]): Promise<void> {
  const sorted = unknown.toSorted(byTypeAndValue)
  await tx.query(sql`
    insert into unknown_tags as stored
      (org_id, tag_type, normalized_value, value, reader_id, antenna, reads, first_seen_at, last_seen_at)
    select o.org_id, u.tag_type, u.normalized_value, u.value, u.reader_id, u.antenna, u.reads, u.first_seen_at, u.last_seen_at
    from organizations o cross join unnest(
      ${sorted.map((one) => one.tag.type)}::text[], ${sorted.map((one) => normalizedValue(one.tag))}::text[],
      ${sorted.map((one) => one.tag.value)}::text[], ${sorted.map((one) => one.readerId)}::bigint[],
      ${sorted.map((one) => one.antenna)}::integer[], ${sorted.map((one) => one.reads)}::bigint[],
      ${sorted.map((one) => toDatabase(one.firstSeenAt))}::timestamptz[],
      ${sorted.map((one) => toDatabase(one.lastSeenAt))}::timestamptz[]
    ) u (tag_type, normalized_value, value, reader_id, antenna, reads, first_seen_at, last_seen_at)
    where o.org_id = ${orgId}
    on conflict (org_id, tag_type, normalized_value) do update set
      reads = stored.reads + excluded.reads,
      reader_id = case when excluded.last_seen_at < stored.last_seen_at then stored.reader_id else excluded.reader_id end,
      antenna = case when excluded.last_seen_at < stored.last_seen_at then stored.antenna else excluded.antenna end,
      first_seen_at = least(stored.first_seen_at, excluded.first_seen_at),
      last_seen_at = greatest(stored.last_seen_at, excluded.last_seen_at)`)
  await tx.query(sql`
    delete from unknown_tags where org_id = ${orgId} and (last_seen_at, tag_type, normalized_value) < (
      select k.last_seen_at, k.tag_type, k.normalized_value from unknown_tags k where k.org_id = ${orgId}
      order by k.last_seen_at desc, k.tag_type desc, k.normalized_value desc offset ${capacity - 1} limit 1)`)
}

export interface UnknownTag {
  tag: TagDraft
  readerId: number | null
  antenna: number | null
  reads: number
  firstSeenAt: Instant
  lastSeenAt: Instant
}

/** Tags that were read but are not attached to a record, latest first. Tags that were attached since are omitted. */
export async function listUnknownTags(db: Db, orgId: number, page: PageRequest): Promise<Page<UnknownTag>> {
  const rows = await db.query<{
    total: number
    tag_type: TagType | null
    value: string
    reader_id: number | null
    antenna: number | null
    reads: number
    first_seen_at: string
    last_seen_at: string
  }>(sql`
    with inbox as materialized (
      select u.tag_type, u.normalized_value, u.value, u.reader_id, u.antenna, u.reads, u.first_seen_at, u.last_seen_at
      from unknown_tags u where u.org_id = ${orgId} and not exists (
        select from tags t where t.org_id = ${orgId} and t.tag_type = u.tag_type and t.normalized_value = u.normalized_value)
    ),
    total as (select count(*) as total from inbox),
    page as (
      select * from inbox order by last_seen_at desc, tag_type, normalized_value limit ${page.limit} offset ${page.offset}
    )
    select total.total, page.* from total left join page on true
    order by page.last_seen_at desc, page.tag_type, page.normalized_value`)
  return toPage(rows, (row) =>
    row.tag_type === null
      ? null
      : {
          tag: { type: row.tag_type, value: row.value },
          readerId: row.reader_id,
          antenna: row.antenna,
          reads: row.reads,
          firstSeenAt: fromDatabase(row.first_seen_at),
          lastSeenAt: fromDatabase(row.last_seen_at),
        },
  )
}

export interface LastRead {
  readerId: number
  antenna: number
  observedAt: Instant
}

/** The latest read of a tag while it was unknown; null when there is none. */
export async function lastUnknownRead(db: Db, orgId: number, tag: TagDraft): Promise<LastRead | null> {
  const [row] = await db.query<{ reader_id: number | null; antenna: number | null; last_seen_at: string }>(sql`
    select reader_id, antenna, last_seen_at from unknown_tags
    where org_id = ${orgId} and tag_type = ${tag.type} and normalized_value = ${normalizedValue(tag)}`)
  if (row === undefined || row.reader_id === null || row.antenna === null) return null
  return { readerId: row.reader_id, antenna: row.antenna, observedAt: fromDatabase(row.last_seen_at) }
}

export async function deleteUnknownTag(tx: Tx, orgId: number, tag: TagDraft): Promise<void> {
  await tx.query(sql`
    delete from unknown_tags
    where org_id = ${orgId} and tag_type = ${tag.type} and normalized_value = ${normalizedValue(tag)}`)
}

/** Deletes the unknown tags that were last seen before an instant. */
export async function deleteUnknownTagsBefore(tx: Tx, orgId: number, before: Instant): Promise<void> {
  await tx.query(sql`delete from unknown_tags where org_id = ${orgId} and last_seen_at < ${toDatabase(before)}`)
}
