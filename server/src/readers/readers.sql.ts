import type { Db, Tx } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { type Instant, fromDatabase, toDatabase } from '../kernel/instant.ts'
import type { Page, PageRequest } from '../kernel/page.ts'
import type { Device, Reader, ReaderDraft, ScanPoint, Smoothing } from './reader.ts'

interface ReaderRow {
  id: number | null
  name: string
  format: string
  clock: string
  smoothing: string | null
  topic_key: string
  created_at: string
  last_seen_at: string | null
  messages: number
  reads: number
  ignored: number
  warning: string | null
  unknown_antennas: string | null
  antenna: number | null
  location_id: number | null
  location_key: string | null
}

const columns = sql`r.id, r.name, r.format, r.clock, r.smoothing, r.topic_key, r.created_at, r.last_seen_at, r.messages, r.reads,
  r.ignored, r.warning`

const points = (orgId: number) => sql`
  left join scan_points p on p.org_id = ${orgId} and p.reader_id = r.id
  left join locations l on l.org_id = ${orgId} and l.id = p.location_id and l.deleted_at is null`

const pointColumns = (orgId: number) => sql`p.antenna, l.id as location_id, l.external_key as location_key, (
    select json_agg(json_build_object('antenna', u.antenna, 'reads', u.reads) order by u.antenna)
    from unknown_antennas u where u.org_id = ${orgId} and u.reader_id = r.id and not exists (
      select from scan_points n where n.org_id = ${orgId} and n.reader_id = u.reader_id and n.antenna = u.antenna)
  ) as unknown_antennas`

export const smoothingOf = (stored: string | null): Smoothing | null =>
  stored === null ? null : (JSON.parse(stored) as Smoothing)

const stored = (smoothing: Smoothing | null | undefined): string | null =>
  smoothing == null ? null : JSON.stringify(smoothing)

/** There is one row per scan point, ordered by reader; consecutive rows of a reader are merged. */
function foldReaders(rows: readonly ReaderRow[]): Reader[] {
  const readers: Reader[] = []
  for (const row of rows) {
    if (row.id === null) continue
    if (readers.at(-1)?.id !== row.id) readers.push(readerOf(row, row.id))
    const point: ScanPoint | null =
      row.antenna === null ? null : { antenna: row.antenna, locationId: row.location_id, locationKey: row.location_key }
    if (point !== null) readers.at(-1)!.scanPoints.push(point)
  }
  return readers
}

const readerOf = (row: ReaderRow, id: number): Reader => ({
  id,
  name: row.name,
  format: row.format,
  clock: row.clock,
  smoothing: smoothingOf(row.smoothing),
  topicKey: row.topic_key,
  createdAt: fromDatabase(row.created_at),
  lastSeenAt: row.last_seen_at === null ? null : fromDatabase(row.last_seen_at),
  messages: row.messages,
  reads: row.reads,
  ignored: row.ignored,
  warning: row.warning,
  scanPoints: [],
  unknownAntennas: JSON.parse(row.unknown_antennas ?? '[]') as Reader['unknownAntennas'],
})

export async function findReader(db: Db, orgId: number, id: number): Promise<Reader | null> {
  const rows = await db.query<ReaderRow>(sql`
    select ${columns}, ${pointColumns(orgId)} from readers r ${points(orgId)}
    where r.org_id = ${orgId} and r.id = ${id} order by p.antenna`)
  return foldReaders(rows)[0] ?? null
}

/** A reader is silent if it sent no message since an instant, or never. */
export interface Silence {
  since: Instant
  isSilent: boolean
}

export async function listReaders(db: Db, orgId: number, page: PageRequest, silence?: Silence): Promise<Page<Reader>> {
  const matches =
    silence === undefined
      ? sql``
      : sql`and coalesce(r.last_seen_at < ${toDatabase(silence.since)}, true) = ${silence.isSilent}`
  const rows = await db.query<ReaderRow & { total: number }>(sql`
    with total as (select count(*) as total from readers r where r.org_id = ${orgId} ${matches}),
    r as (
      select ${columns} from readers r where r.org_id = ${orgId} ${matches}
      order by r.name, r.id limit ${page.limit} offset ${page.offset}
    )
    select total.total, ${columns}, ${pointColumns(orgId)} from total left join r on true ${points(orgId)}
    order by r.name, r.id, p.antenna`)
  return { rows: foldReaders(rows), total: rows[0]?.total ?? 0 }
}

export interface ReaderHit {
  id: number
  name: string
  lastSeenAt: Instant | null
}

/**
 * Readers whose name contains the term, those that start with it first. The statement reads the readers of the
 * organization by their primary key; a quota limits their number.
 */
export async function searchReaders(db: Db, orgId: number, q: string, limit: number): Promise<ReaderHit[]> {
  if (q === '') return []
  const term = q.toLowerCase()
  const rows = await db.query<{ id: number; name: string; last_seen_at: string | null }>(sql`
    select r.id, r.name, r.last_seen_at from readers r
    where r.org_id = ${orgId} and strpos(lower(r.name), ${term}) > 0
    order by strpos(lower(r.name), ${term}) > 1, r.name, r.id limit ${limit}`)
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    lastSeenAt: row.last_seen_at === null ? null : fromDatabase(row.last_seen_at),
  }))
}

export interface ReaderSecret {
  tokenHash: Buffer
  topicKey: string
}

export async function insertReader(
  tx: Tx,
  orgId: number,
  id: number,
  draft: ReaderDraft,
  secret: ReaderSecret,
  at: Instant,
): Promise<void> {
  await tx.query(sql`
    insert into readers (org_id, id, name, format, clock, smoothing, token_hash, topic_key, created_at, messages,
      reads, ignored)
    values (${orgId}, ${id}, ${draft.name}, ${draft.format}, ${draft.clock}, ${stored(draft.smoothing)}::json,
      ${secret.tokenHash}, ${secret.topicKey}, ${toDatabase(at)}, 0, 0, 0)`)
  await tx.query(sql`
    insert into reader_directory (token_hash, topic_key, org_id, reader_id)
    values (${secret.tokenHash}, ${secret.topicKey}, ${orgId}, ${id})`)
  await putScanPoints(tx, orgId, id, draft.scanPoints)
}

/** Replaces all scan points of the reader. */
export async function putScanPoints(
  tx: Tx,
  orgId: number,
  readerId: number,
  scanPoints: ReaderDraft['scanPoints'],
): Promise<void> {
  await tx.query(sql`delete from scan_points where org_id = ${orgId} and reader_id = ${readerId}`)
  if (scanPoints.length === 0) return
  await tx.query(sql`
    insert into scan_points as made (org_id, reader_id, antenna, location_id)
    select o.org_id, ${readerId}::bigint, u.antenna, u.location_id
    from organizations o cross join unnest(
      ${scanPoints.map((point) => point.antenna)}::integer[], ${scanPoints.map((point) => point.locationId)}::bigint[]
    ) u (antenna, location_id)
    where o.org_id = ${orgId} returning antenna`)
}

export async function updateReader(
  tx: Tx,
  orgId: number,
  id: number,
  change: Pick<ReaderDraft, 'name' | 'format' | 'clock' | 'smoothing'>,
): Promise<void> {
  await tx.query(sql`
    update readers set name = ${change.name}, format = ${change.format}, clock = ${change.clock},
      smoothing = ${stored(change.smoothing)}::json
    where org_id = ${orgId} and id = ${id}`)
}

/**
 * Replaces the token. The old one works until `previousUntil`, and any older one ends at once. Returns whether the reader
 * exists.
 */
export async function replaceReaderToken(
  tx: Tx,
  orgId: number,
  id: number,
  tokenHash: Buffer,
  previousUntil: Instant | null,
): Promise<boolean> {
  const [old] = await tx.query<{ token_hash: Uint8Array; topic_key: string }>(sql`
    select token_hash, topic_key from readers where org_id = ${orgId} and id = ${id} for no key update`)
  if (old === undefined) return false
  const [previousHash, until] = previousUntil === null ? [null, null] : [old.token_hash, toDatabase(previousUntil)]
  await tx.query(sql`update readers set token_hash = ${tokenHash} where org_id = ${orgId} and id = ${id}`)
  await tx.query(sql`delete from reader_directory where token_hash = ${old.token_hash}`)
  await tx.query(sql`
    insert into reader_directory (token_hash, topic_key, org_id, reader_id, previous_token_hash, previous_token_until)
    values (${tokenHash}, ${old.topic_key}, ${orgId}, ${id}, ${previousHash}, ${until})`)
  return true
}

export async function lockReader(tx: Tx, orgId: number, id: number): Promise<void> {
  await tx.query(sql`select from readers where org_id = ${orgId} and id = ${id} for no key update`)
}

/** Returns whether the reader existed. */
export async function deleteReader(tx: Tx, orgId: number, id: number): Promise<boolean> {
  await tx.query(sql`delete from scan_points where org_id = ${orgId} and reader_id = ${id}`)
  await tx.query(sql`delete from unknown_antennas where org_id = ${orgId} and reader_id = ${id}`)
  const deleted = await tx.query<{ token_hash: Uint8Array }>(
    sql`delete from readers where org_id = ${orgId} and id = ${id} returning token_hash`,
  )
  for (const { token_hash } of deleted)
    await tx.query(sql`delete from reader_directory where token_hash = ${token_hash}`)
  return deleted.length === 1
}

/** The locations with these ids or keys that are not deleted. */
export async function liveLocations(
  tx: Db,
  orgId: number,
  by: { ids: readonly number[] } | { keys: readonly string[] },
): Promise<Map<number | string, number>> {
  const which = 'ids' in by ? sql`id = any(${by.ids}::bigint[])` : sql`external_key = any(${by.keys}::text[])`
  const rows = await tx.query<{ id: number; external_key: string }>(
    sql`select id, external_key from locations where org_id = ${orgId} and deleted_at is null and ${which}`,
  )
  return new Map<number | string, number>(
    rows.flatMap((row) => [
      [row.id, row.id],
      [row.external_key, row.id],
    ]),
  )
}

interface DirectoryEntry {
  orgId: number
  readerId: number
  /** When the token ends, if it is the previous token of the reader. */
  expiresAt: Instant | null
}

interface DirectoryRow {
  org_id: number
  reader_id: number
  expires_at: string | null
}

/** Finds a reader by its topic, its token, or its previous token while that is still valid at `at`. */
export async function findInDirectory(
  db: Db,
  by: { tokenHash: Buffer } | { topicKey: string },
  at: Instant,
): Promise<DirectoryEntry | null> {
  const current = sql`select d.org_id, d.reader_id, null::timestamptz as expires_at from reader_directory d`
  const [row] = await db.query<DirectoryRow>(
    'topicKey' in by
      ? sql`${current} where d.topic_key = ${by.topicKey}`
      : sql`${current} where d.token_hash = ${by.tokenHash}
          union all
          select p.org_id, p.reader_id, p.previous_token_until from reader_directory p
          where p.previous_token_hash = ${by.tokenHash} and p.previous_token_until > ${toDatabase(at)}`,
  )
  if (row === undefined) return null
  const expiresAt = row.expires_at === null ? null : fromDatabase(row.expires_at)
  return { orgId: row.org_id, readerId: row.reader_id, expiresAt }
}

/** The hashes, in base64, of those tokens that are valid at an instant, each with its expiry. */
export async function validTokens(
  db: Db,
  hashes: readonly string[],
  at: Instant,
): Promise<Map<string, Instant | null>> {
  const given = sql`select decode(g.hash, 'base64') from unnest(${hashes}::text[]) g (hash)`
  const rows = await db.query<{ hash: string; expires_at: string | null }>(sql`
    select encode(d.token_hash, 'base64') as hash, null::timestamptz as expires_at
    from reader_directory d where d.token_hash in (${given})
    union all
    select encode(p.previous_token_hash, 'base64'), p.previous_token_until
    from reader_directory p where p.previous_token_hash in (${given}) and p.previous_token_until > ${toDatabase(at)}`)
  return new Map(rows.map((row) => [row.hash, row.expires_at === null ? null : fromDatabase(row.expires_at)]))
}

export async function findDevice(db: Db, orgId: number, readerId: number): Promise<Device | null> {
  const [row] = await db.query<{ name: string; topic_key: string; format: string; clock: string }>(
    sql`select name, topic_key, format, clock from readers where org_id = ${orgId} and id = ${readerId}`,
  )
  if (row === undefined) return null
  const { name, topic_key: topicKey, format, clock } = row
  return { orgId, readerId, name, topicKey, format, clock }
}

/** The activity of a reader since the last flush. */
export interface Activity {
  readerId: number
  lastSeenAt: Instant
  messages: number
  reads: number
  ignored: number
  warning: string | null
}

export async function noteActivity(tx: Tx, orgId: number, activities: readonly Activity[]): Promise<void> {
  await tx.query(sql`
    update readers r set
      last_seen_at = greatest(r.last_seen_at, u.seen_at), messages = r.messages + u.messages,
      reads = r.reads + u.reads, ignored = r.ignored + u.ignored, warning = nullif(coalesce(u.warning, r.warning), '')
    from unnest(
      ${activities.map((one) => one.readerId)}::bigint[], ${activities.map((one) => toDatabase(one.lastSeenAt))}::timestamptz[],
      ${activities.map((one) => one.messages)}::bigint[], ${activities.map((one) => one.reads)}::bigint[],
      ${activities.map((one) => one.ignored)}::bigint[], ${activities.map((one) => one.warning)}::text[]
    ) u (id, seen_at, messages, reads, ignored, warning)
    where r.org_id = ${orgId} and r.id = u.id`)
}
