import type { Db, Tx } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { type Instant, fromDatabase, toDatabase } from '../kernel/instant.ts'
import { type Page, type PageRequest, toPage } from '../kernel/page.ts'

/** One request to an endpoint and its result. */
export interface Attempt {
  deliveryId: string
  attempt: number
  attemptedAt: Instant
  status: number | null
  error: string | null
  durationMs: number
}

export interface ListedAttempt extends Attempt {
  event: string
}

/** The fields that the attempts of a webhook have in common. */
export interface AttemptSource {
  webhookId: number
  event: string
}

export async function insertAttempts(
  tx: Tx,
  orgId: number,
  { webhookId, event }: AttemptSource,
  attempts: readonly Attempt[],
): Promise<void> {
  await tx.query(sql`
    insert into webhook_attempts (org_id, attempted_at, delivery_id, attempt, webhook_id, event, status, error, duration_ms)
    select o.org_id, u.attempted_at, u.delivery_id, u.attempt, ${webhookId}::bigint, ${event}::text, u.status, u.error,
      u.duration_ms
    from organizations o cross join unnest(
      ${attempts.map((one) => toDatabase(one.attemptedAt))}::timestamptz[], ${attempts.map((one) => one.deliveryId)}::uuid[],
      ${attempts.map((one) => one.attempt)}::integer[], ${attempts.map((one) => one.status)}::integer[],
      ${attempts.map((one) => one.error)}::text[], ${attempts.map((one) => one.durationMs)}::integer[]
    ) u (attempted_at, delivery_id, attempt, status, error, duration_ms)
    where o.org_id = ${orgId}
    on conflict (org_id, attempted_at, delivery_id, attempt) do nothing`)
}

interface AttemptRow {
  total: number
  delivery_id: string | null
  event: string
  attempt: number
  attempted_at: string
  status: number | null
  error: string | null
  duration_ms: number
}

/** Latest first. */
export async function listAttempts(
  db: Db,
  orgId: number,
  webhookId: number,
  since: Instant,
  page: PageRequest,
): Promise<Page<ListedAttempt>> {
  const where = sql`a.org_id = ${orgId} and a.webhook_id = ${webhookId} and a.attempted_at >= ${toDatabase(since)}`
  const rows = await db.query<AttemptRow>(sql`
    with total as (select count(*) as total from webhook_attempts a where ${where}),
    page as (
      select a.* from webhook_attempts a where ${where}
      order by a.attempted_at desc, a.delivery_id, a.attempt desc limit ${page.limit} offset ${page.offset}
    )
    select total.total, page.* from total left join page on true
    order by page.attempted_at desc, page.delivery_id, page.attempt desc`)
  return toPage(rows, (row) => (row.delivery_id === null ? null : attemptOf(row, row.delivery_id)))
}

const attemptOf = (row: AttemptRow, deliveryId: string): ListedAttempt => ({
  deliveryId,
  event: row.event,
  attempt: row.attempt,
  attemptedAt: fromDatabase(row.attempted_at),
  status: row.status,
  error: row.error,
  durationMs: row.duration_ms,
})

/** Whether the latest attempt of an enabled webhook since its last change has failed. */
export async function isLatestAttemptFailed(db: Db, orgId: number): Promise<boolean> {
  const [latest] = await db.query<{ status: number | null }>(sql`
    select a.status from webhooks w
    join webhook_attempts a on a.org_id = ${orgId} and a.webhook_id = w.id and a.attempted_at >= w.updated_at
    where w.org_id = ${orgId} and w.is_enabled
    order by a.attempted_at desc, a.delivery_id, a.attempt desc limit 1`)
  return latest !== undefined && (latest.status === null || latest.status < 200 || latest.status > 299)
}

/**
 * The time of the first failed attempt after the latest successful one, since the webhook was last changed; null when no attempt
 * has failed since.
 */
export async function failingSince(db: Db, orgId: number, webhookId: number): Promise<Instant | null> {
  const [row] = await db.query<{ since: string }>(sql`
    select a.attempted_at as since from webhooks w
    join webhook_attempts a on a.org_id = ${orgId} and a.webhook_id = w.id and a.attempted_at >= w.updated_at
    where w.org_id = ${orgId} and w.id = ${webhookId} and a.attempted_at > coalesce((
      select d.attempted_at from webhook_attempts d
      where d.org_id = ${orgId} and d.webhook_id = ${webhookId} and d.attempted_at >= w.updated_at
        and d.status between 200 and 299
      order by d.attempted_at desc limit 1), '-infinity')
    order by a.attempted_at limit 1`)
  return row === undefined ? null : fromDatabase(row.since)
}

const batchSize = 1000

/** Deletes a batch of the attempts made before an instant. Returns whether there may be more. */
export async function deleteAttemptsBefore(tx: Tx, orgId: number, before: Instant): Promise<boolean> {
  const deleted = await tx.query(sql`
    delete from webhook_attempts a where a.org_id = ${orgId} and (a.attempted_at, a.delivery_id, a.attempt) in (
      select o.attempted_at, o.delivery_id, o.attempt from webhook_attempts o
      where o.org_id = ${orgId} and o.attempted_at < ${toDatabase(before)}
      order by o.attempted_at limit ${batchSize})
    returning a.attempt`)
  return deleted.length === batchSize
}
