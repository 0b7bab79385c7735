import type { Tx } from '../db/database.ts'
import { type Sql, sql } from '../db/sql.ts'
import { type Instant, fromDatabase, toDatabase } from '../kernel/instant.ts'

/** Why a session was ended; the web app shows the reason to the user. */
export type EndReason = 'signed_out' | 'password_changed' | 'revoked'

export interface RefreshTokenFamily {
  familyId: string
  environment: string
  clientId: string | null
  userId: number | null
  tokenHash: Uint8Array
  expiresAt: Instant
  revokedAt: Instant | null
  endReason: EndReason | null
}

/**
 * The maximum number of families that one statement deletes. The families are selected into an array, because `in (select …)`
 * reads every family of the organization when the statement was planned while the table was empty.
 */
const deleteBatchSize = 1000

export async function insertFamily(tx: Tx, orgId: number, family: RefreshTokenFamily, at: Instant): Promise<void> {
  await tx.query(sql`
    insert into refresh_token_families (org_id, family_id, environment, client_id, user_id, token_hash, created_at, expires_at)
    values (${orgId}, ${family.familyId}, ${family.environment}, ${family.clientId}, ${family.userId}, ${family.tokenHash},
      ${toDatabase(at)}, ${toDatabase(family.expiresAt)})`)
}

/** Locks the family until the transaction ends, so that a concurrent use of the same token sees the result of the first. */
export async function lockFamily(tx: Tx, orgId: number, familyId: string): Promise<RefreshTokenFamily | null> {
  const [row] = await tx.query<{
    family_id: string
    environment: string
    client_id: string | null
    user_id: number | null
    token_hash: Uint8Array
    expires_at: string
    revoked_at: string | null
    end_reason: EndReason | null
  }>(sql`
    select family_id, environment, client_id, user_id, token_hash, expires_at, revoked_at, end_reason
    from refresh_token_families
    where org_id = ${orgId} and family_id = ${familyId} for update`)
  if (row === undefined) return null
  return {
    familyId: row.family_id,
    environment: row.environment,
    clientId: row.client_id,
    userId: row.user_id,
    tokenHash: row.token_hash,
    expiresAt: fromDatabase(row.expires_at),
    revokedAt: row.revoked_at === null ? null : fromDatabase(row.revoked_at),
    endReason: row.end_reason,
  }
}

export async function rotateFamily(tx: Tx, orgId: number, family: RefreshTokenFamily): Promise<void> {
  await tx.query(sql`
    update refresh_token_families set token_hash = ${family.tokenHash}, expires_at = ${toDatabase(family.expiresAt)}
    where org_id = ${orgId} and family_id = ${family.familyId}`)
}

/** Returns false if the family was already revoked. */
export async function revokeFamily(
  tx: Tx,
  orgId: number,
  familyId: string,
  reason: EndReason,
  at: Instant,
): Promise<boolean> {
  const revoked = await tx.query(sql`
    update refresh_token_families set revoked_at = ${toDatabase(at)}, end_reason = ${reason}
    where org_id = ${orgId} and family_id = ${familyId} and revoked_at is null returning family_id`)
  return revoked.length === 1
}

/** Revokes the user's sessions in the organization, except the session `keptFamilyId`. Returns the revoked family ids. */
export async function revokeFamiliesOf(
  tx: Tx,
  orgId: number,
  userId: number,
  reason: EndReason,
  at: Instant,
  keptFamilyId: string | null = null,
): Promise<string[]> {
  const rows = await tx.query<{ family_id: string }>(sql`
    update refresh_token_families set revoked_at = ${toDatabase(at)}, end_reason = ${reason}
    where org_id = ${orgId} and user_id = ${userId} and revoked_at is null
      and family_id is distinct from ${keptFamilyId}::uuid
    returning family_id`)
  return rows.map((row) => row.family_id)
}

/**
 * Deletes the user's oldest sessions in the organization, all except the session `keptFamilyId` and the `others` newest,
 * and the rows of ended sessions. Returns the family ids of deleted sessions that were still valid. Families that a
 * concurrent sign-in deletes are skipped, so that the two transactions never wait for each other.
 */
export async function deleteOldestFamilies(
  tx: Tx,
  orgId: number,
  userId: number,
  keptFamilyId: string,
  others: number,
): Promise<string[]> {
  const rows = await tx.query<{ family_id: string; revoked_at: string | null }>(sql`
    delete from refresh_token_families where org_id = ${orgId} and family_id = any(array(
      select family_id from refresh_token_families
      where org_id = ${orgId} and user_id = ${userId} and (revoked_at is not null or family_id = any(array(
        select family_id from refresh_token_families
        where org_id = ${orgId} and user_id = ${userId} and revoked_at is null and family_id <> ${keptFamilyId}::uuid
        order by created_at desc, family_id offset ${others})))
      for update skip locked))
    returning family_id, revoked_at`)
  return rows.flatMap((row) => (row.revoked_at === null ? [row.family_id] : []))
}

/**
 * Deletes a batch of the API key's families, all except the `kept` that were used last; revoked families first. Families
 * that a concurrent exchange deletes are skipped, so that the two transactions never wait for each other.
 */
export async function deleteLeastRecentFamilies(tx: Tx, orgId: number, clientId: string, kept: number): Promise<void> {
  await tx.query(sql`
    delete from refresh_token_families where org_id = ${orgId} and family_id = any(array(
      select family_id from refresh_token_families
      where org_id = ${orgId} and family_id = any(array(
        select family_id from refresh_token_families where org_id = ${orgId} and client_id = ${clientId}
        order by revoked_at is not null, expires_at desc, family_id offset ${kept} limit ${deleteBatchSize}))
      for update skip locked))`)
}

export async function liveFamiliesOf(tx: Tx, orgId: number, userId: number): Promise<string[]> {
  const rows = await tx.query<{ family_id: string }>(sql`
    select family_id from refresh_token_families where org_id = ${orgId} and user_id = ${userId} and revoked_at is null`)
  return rows.map((row) => row.family_id)
}

/** Returns a session that is neither revoked nor expired. */
export async function liveSession(
  tx: Pick<Tx, 'query'>,
  orgId: number,
  familyId: string,
  at: Instant,
): Promise<{ userId: number; environment: string; expiresAt: Instant } | null> {
  const [row] = await tx.query<{ user_id: number; environment: string; expires_at: string }>(sql`
    select user_id, environment, expires_at from refresh_token_families
    where org_id = ${orgId} and family_id = ${familyId} and user_id is not null and revoked_at is null
      and expires_at > ${toDatabase(at)}`)
  if (row === undefined) return null
  return { userId: row.user_id, environment: row.environment, expiresAt: fromDatabase(row.expires_at) }
}

/** Deletes a batch of expired families; returns whether there may be more. Called whenever a new family is created. */
export const deleteExpiredFamilies = (tx: Tx, orgId: number, before: Instant): Promise<boolean> =>
  deleteBatch(tx, orgId, sql`expires_at < ${toDatabase(before)}`)

/**
 * Deletes a batch of the families that were revoked before an instant; returns whether there may be more. Tokens of deleted
 * and revoked families are rejected alike.
 */
export const deleteRevokedFamilies = (tx: Tx, orgId: number, before: Instant): Promise<boolean> =>
  deleteBatch(tx, orgId, sql`revoked_at < ${toDatabase(before)}`)

async function deleteBatch(tx: Tx, orgId: number, isDue: Sql): Promise<boolean> {
  const deleted = await tx.query(sql`
    delete from refresh_token_families where org_id = ${orgId} and family_id = any(array(
      select family_id from refresh_token_families where org_id = ${orgId} and ${isDue}
      limit ${deleteBatchSize} for update skip locked))
    returning family_id`)
  return deleted.length === deleteBatchSize
}
