import type { Db, Tx } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { type Instant, toDatabase } from '../kernel/instant.ts'

export interface Reset {
  tokenHash: Uint8Array
  userId: number
  createdAt: Instant
  expiresAt: Instant
}

/**
 * Inserts the reset unless the account has a reset that was created after `notAfter`. Returns whether it was inserted.
 */
export async function insertReset(tx: Tx, reset: Reset, notAfter: Instant): Promise<boolean> {
  await tx.query(sql`delete from password_resets where user_id = ${reset.userId}
    and expires_at <= ${toDatabase(reset.createdAt)}`)
  // A concurrent request waits for this lock and then sees the reset of the first one.
  await tx.query(sql`select from users where user_id = ${reset.userId} for no key update`)
  const inserted = await tx.query(sql`
    insert into password_resets as made (token_hash, user_id, created_at, expires_at)
    select ${reset.tokenHash}::bytea, ${reset.userId}::bigint, ${toDatabase(reset.createdAt)}::timestamptz,
      ${toDatabase(reset.expiresAt)}::timestamptz
    where not exists (select from password_resets
      where user_id = ${reset.userId} and created_at > ${toDatabase(notAfter)})
    returning user_id`)
  return inserted.length === 1
}

/** Returns the user of an unexpired reset. */
export async function findReset(db: Db, tokenHash: Uint8Array, at: Instant): Promise<number | null> {
  const [row] = await db.query<{ user_id: number }>(sql`
    select user_id from password_resets where token_hash = ${tokenHash} and expires_at > ${toDatabase(at)}`)
  return row?.user_id ?? null
}

/** Deletes the reset. Returns false if another request has already used it. */
export async function takeReset(tx: Tx, tokenHash: Uint8Array): Promise<boolean> {
  const deleted = await tx.query(sql`delete from password_resets where token_hash = ${tokenHash} returning user_id`)
  return deleted.length === 1
}

export async function deleteResetsOf(tx: Tx, userId: number): Promise<void> {
  await tx.query(sql`delete from password_resets where user_id = ${userId}`)
}

export async function deleteExpiredResets(db: Db, at: Instant): Promise<void> {
  await db.query(sql`delete from password_resets where expires_at <= ${toDatabase(at)}`)
}
