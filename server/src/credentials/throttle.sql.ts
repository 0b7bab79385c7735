import type { Db } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { fromDatabase, instantFromMillis, millisOf, toDatabase } from '../kernel/instant.ts'

export interface Claim {
  admitted: boolean
  failures: number
  sinceMs: number
}

/**
 * Makes room for one attempt in the subject's current window, or says that failures and attempts under way leave none.
 * A window that is over gives way to a new one.
 */
export async function claimAttempt(
  db: Db,
  subject: string,
  millis: number,
  windowMs: number,
  allowed: number,
): Promise<Claim> {
  const at = toDatabase(instantFromMillis(millis))
  const isOpen = sql`held.since > ${toDatabase(instantFromMillis(millis - windowMs))}::timestamptz`
  const hasRoom = sql`held.failures + held.pending < ${allowed}`
  const [row] = await db.query<{ admitted: boolean; failures: number; since: string }>(sql`
    insert into sign_in_failures as held (subject, since, failures, pending, admitted)
    values (${subject}, ${at}, 0, 1, true)
    on conflict (subject) do update set
      admitted = not (${isOpen}) or ${hasRoom},
      pending = case when not (${isOpen}) then 1 when ${hasRoom} then held.pending + 1 else held.pending end,
      failures = case when ${isOpen} then held.failures else 0 end,
      since = case when ${isOpen} then held.since else excluded.since end
    returning admitted, failures, since`)
  const { admitted, failures, since } = row!
  return { admitted, failures, sinceMs: millisOf(fromDatabase(since)) }
}

/** An attempt is over: it failed, or it did not. */
export async function settleAttempt(db: Db, subject: string, hasFailed: boolean): Promise<void> {
  await db.query(sql`
    update sign_in_failures set pending = greatest(0, pending - 1), failures = failures + ${hasFailed ? 1 : 0}
    where subject = ${subject}`)
}

export async function forgetAttempts(db: Db, beforeMillis: number): Promise<void> {
  await db.query(sql`delete from sign_in_failures where since < ${toDatabase(instantFromMillis(beforeMillis))}`)
}
