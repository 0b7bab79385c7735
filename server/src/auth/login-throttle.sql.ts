import type { Db } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { fromDatabase, instantFromMillis, millisOf, toDatabase } from '../kernel/instant.ts'

export interface Reserve {
  admitted: boolean
  failures: number
  sinceMs: number
}

/**
 * Reserves one attempt in the subject's current window. Not admitted when failures and attempts in flight have reached the
 * limit. An expired window is replaced by a new one.
 */
export async function reserveAttempt(
  db: Db,
  subject: string,
  millis: number,
  windowMs: number,
  allowed: number,
): Promise<Reserve> {
  const at = toDatabase(instantFromMillis(millis))
  const isOpen = sql`stored.since > ${toDatabase(instantFromMillis(millis - windowMs))}::timestamptz`
  const hasRoom = sql`stored.failures + stored.pending < ${allowed}`
  const [row] = await db.query<{ admitted: boolean; failures: number; since: string }>(sql`
    insert into sign_in_failures as stored (subject, since, failures, pending, admitted)
    values (${subject}, ${at}, 0, 1, true)
    on conflict (subject) do update set
      admitted = not (${isOpen}) or ${hasRoom},
      pending = case when not (${isOpen}) then 1 when ${hasRoom} then stored.pending + 1 else stored.pending end,
      failures = case when ${isOpen} then stored.failures else 0 end,
      since = case when ${isOpen} then stored.since else excluded.since end
    returning admitted, failures, since`)
  const { admitted, failures, since } = row!
  return { admitted, failures, sinceMs: millisOf(fromDatabase(since)) }
}

/** Whether the window of a subject that began after an instant has failures. */
export async function hasFailedSince(db: Db, subject: string, millis: number): Promise<boolean> {
  const rows = await db.query(sql`
    select 1 as found from sign_in_failures
    where subject = ${subject} and failures > 0 and since > ${toDatabase(instantFromMillis(millis))}::timestamptz`)
  return rows.length > 0
}

/** Ends a reserved attempt and counts it if it failed. */
export async function recordOutcome(db: Db, subject: string, hasFailed: boolean): Promise<void> {
  await db.query(sql`
    update sign_in_failures set pending = greatest(0, pending - 1), failures = failures + ${hasFailed ? 1 : 0}
    where subject = ${subject}`)
}

/**
 * Counts one use in the subject's current window, unless the limit is reached. The statement always writes, and so always
 * locks the row, which makes the count exact.
 */
export async function countUse(
  db: Db,
  subject: string,
  millis: number,
  windowMs: number,
  max: number,
): Promise<Omit<Reserve, 'failures'>> {
  const at = toDatabase(instantFromMillis(millis))
  const isOpen = sql`stored.since > ${toDatabase(instantFromMillis(millis - windowMs))}::timestamptz`
  const [row] = await db.query<{ admitted: boolean; since: string }>(sql`
    insert into sign_in_failures as stored (subject, since, failures, pending, admitted)
    values (${subject}, ${at}, 1, 0, true)
    on conflict (subject) do update set
      admitted = not (${isOpen}) or stored.failures < ${max},
      failures = case when ${isOpen} then least(stored.failures + 1, ${max}) else 1 end,
      since = case when ${isOpen} then stored.since else excluded.since end
    returning admitted, since`)
  return { admitted: row!.admitted, sinceMs: millisOf(fromDatabase(row!.since)) }
}

/** Deletes the counts whose subject contains one of the e-mail addresses. Parts of a subject end with a colon or a space. */
export async function deleteAttemptsOf(db: Db, emails: readonly string[]): Promise<void> {
  await db.query(sql`
    delete from sign_in_failures f where exists (
      select from unnest(${emails}::text[]) e (email)
      where position(' ' || translate(e.email, ':', ' ') || ' ' in ' ' || translate(f.subject, ':', ' ') || ' ') > 0)`)
}

/** Deletes expired windows. The subjects of hourly and daily counts have the prefix `hour:` or `day:`. */
export async function deleteAttemptsBefore(db: Db, minutesBefore: number, daysBefore: number): Promise<void> {
  const [minutes, days] = [minutesBefore, daysBefore].map((millis) => toDatabase(instantFromMillis(millis)))
  await db.query(sql`
    delete from sign_in_failures where since < ${days}
      or (since < ${minutes} and not starts_with(subject, 'hour:') and not starts_with(subject, 'day:'))`)
}
