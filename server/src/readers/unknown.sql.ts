import type { Db, Tx } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { type Instant, fromDatabase, toDatabase } from '../kernel/instant.ts'

/** The limits of topics per installation and of antennas per reader; those not seen for longest are deleted first. */
export const maxTopics = 200
export const maxAntennas = 64

/** Longer topics are truncated. */
export const maxTopicLength = 200

/** A topic without a reader. */
export interface UnknownTopic {
  topic: string
  messages: number
  firstSeenAt: Instant
  lastSeenAt: Instant
}

/** The part that identifies a reader; null when it is empty, truncated or contains replaced characters. */
export function topicKeyIn(topic: string): string | null {
  const key = topic.split('/')[1] ?? ''
  return key === '' || key.includes('\uFFFD') || `lastseen/${key}`.length >= maxTopicLength ? null : key
}

export async function noteUnknownTopics(tx: Tx, topics: ReadonlyMap<string, number>, at: Instant): Promise<void> {
  const names = [...topics.keys()].sort()
  await tx.query(sql`
    insert into unknown_topics as stored (topic, messages, first_seen_at, last_seen_at)
    select u.topic, u.messages, ${toDatabase(at)}::timestamptz, ${toDatabase(at)}::timestamptz
    from unnest(${names}::text[], ${names.map((name) => topics.get(name)!)}::bigint[]) u (topic, messages)
    on conflict (topic) do update set
      messages = stored.messages + excluded.messages, last_seen_at = excluded.last_seen_at`)
  await tx.query(sql`
    delete from unknown_topics where (last_seen_at, topic) < (
      select last_seen_at, topic from unknown_topics
      order by last_seen_at desc, topic desc offset ${maxTopics - 1} limit 1)`)
}

/** Latest first. Topics that were assigned to a reader since are omitted. */
export async function listUnknownTopics(db: Db): Promise<UnknownTopic[]> {
  const rows = await db.query<{ topic: string; messages: number; first_seen_at: string; last_seen_at: string }>(sql`
    select u.topic, u.messages, u.first_seen_at, u.last_seen_at from unknown_topics u
    where not exists (select from reader_directory d where d.topic_key = split_part(u.topic, '/', 2))
    order by u.last_seen_at desc, u.topic`)
  return rows.map((row) => ({
    topic: row.topic,
    messages: row.messages,
    firstSeenAt: fromDatabase(row.first_seen_at),
    lastSeenAt: fromDatabase(row.last_seen_at),
  }))
}

export interface AntennaReads {
  readerId: number
  antenna: number
  reads: number
}

/** Stores the reads of antennas without a scan point. */
export async function noteAntennas(tx: Tx, orgId: number, seen: readonly AntennaReads[], at: Instant): Promise<void> {
  const fresh = await tx.query(sql`
    insert into unknown_antennas as stored (org_id, reader_id, antenna, reads, last_seen_at)
    select r.org_id, r.id, u.antenna, u.reads, ${toDatabase(at)}::timestamptz
    from readers r join unnest(
      ${seen.map((one) => one.readerId)}::bigint[], ${seen.map((one) => one.antenna)}::integer[],
      ${seen.map((one) => one.reads)}::bigint[]
    ) u (reader_id, antenna, reads) on u.reader_id = r.id
    where r.org_id = ${orgId} and not exists (
      select from scan_points p where p.org_id = ${orgId} and p.reader_id = r.id and p.antenna = u.antenna)
    order by r.id, u.antenna
    on conflict (org_id, reader_id, antenna) do update set
      reads = stored.reads + excluded.reads, last_seen_at = excluded.last_seen_at
    returning antenna`)
  if (fresh.length === 0) return
  await tx.query(sql`
    delete from unknown_antennas a where a.org_id = ${orgId} and (
      select count(*) from unknown_antennas k where k.org_id = ${orgId} and k.reader_id = a.reader_id
        and (k.last_seen_at, k.antenna) > (a.last_seen_at, a.antenna)) >= ${maxAntennas}`)
}

export async function deleteUnknownAntennasBefore(tx: Tx, orgId: number, before: Instant): Promise<void> {
  await tx.query(sql`delete from unknown_antennas where org_id = ${orgId} and last_seen_at < ${toDatabase(before)}`)
}

export async function deleteUnknownTopicsBefore(db: Db, before: Instant): Promise<void> {
  await db.query(sql`delete from unknown_topics where last_seen_at < ${toDatabase(before)}`)
}
