import type { Db } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { fromDatabase, instantFromMillis, millisOf, toDatabase } from '../kernel/instant.ts'

/** Adds one to the subject's failures in its current window, or opens a new window when the last one is over. */
export async function countAttempt(
  db: Db,
  subject: string,
  millis: number,
  windowMs: number,
): Promise<{ failures: number; sinceMs: number }> {
  const at = toDatabase(instantFromMillis(millis))
  const windowStart = toDatabase(instantFromMillis(millis - windowMs))
  const [row] = await db.query<{ failures: number; since: string }>(sql`
    insert into sign_in_failures as held (subject, since, failures) values (${subject}, ${at}, 1)
    on conflict (subject) do update set
      failures = case when held.since > ${windowStart}::timestamptz then held.failures + 1 else 1 end,
      since = case when held.since > ${windowStart}::timestamptz then held.since else excluded.since end
    returning failures, since`)
  return { failures: row!.failures, sinceMs: millisOf(fromDatabase(row!.since)) }
}

export async function forgiveAttempt(db: Db, subject: string): Promise<void> {
  await db.query(sql`update sign_in_failures set failures = failures - 1 where subject = ${subject} and failures > 0`)
}

export async function forgetAttempts(db: Db, beforeMillis: number): Promise<void> {
  await db.query(sql`delete from sign_in_failures where since < ${toDatabase(instantFromMillis(beforeMillis))}`)
}
