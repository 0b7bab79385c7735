import type { Tx } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { type Instant, fromDatabase, toDatabase } from '../kernel/instant.ts'

export interface RefreshTokenFamily {
  chainId: string
  environment: string
  clientId: string | null
  userId: number | null
  tokenHash: Uint8Array
  expiresAt: Instant
  revokedAt: Instant | null
}

export async function insertFamily(tx: Tx, orgId: number, chain: RefreshTokenFamily, at: Instant): Promise<void> {
  await tx.query(sql`
    insert into refresh_token_families (org_id, family_id, environment, client_id, user_id, token_hash, created_at, expires_at)
    values (${orgId}, ${chain.chainId}, ${chain.environment}, ${chain.clientId}, ${chain.userId}, ${chain.tokenHash},
      ${toDatabase(at)}, ${toDatabase(chain.expiresAt)})`)
}

/** The chain, held until the transaction ends: of two uses of one token the second sees what the first did. */
export async function lockFamily(tx: Tx, orgId: number, chainId: string): Promise<RefreshTokenFamily | null> {
  const [row] = await tx.query<{
    family_id: string
    environment: string
    client_id: string | null
    user_id: number | null
    token_hash: Uint8Array
    expires_at: string
    revoked_at: string | null
  }>(sql`
    select family_id, environment, client_id, user_id, token_hash, expires_at, revoked_at from refresh_token_families
    where org_id = ${orgId} and family_id = ${chainId} for update`)
  if (row === undefined) return null
  return {
    chainId: row.family_id,
    environment: row.environment,
    clientId: row.client_id,
    userId: row.user_id,
    tokenHash: row.token_hash,
    expiresAt: fromDatabase(row.expires_at),
    revokedAt: row.revoked_at === null ? null : fromDatabase(row.revoked_at),
  }
}

export async function rotateFamily(tx: Tx, orgId: number, chain: RefreshTokenFamily): Promise<void> {
  await tx.query(sql`
    update refresh_token_families set token_hash = ${chain.tokenHash}, expires_at = ${toDatabase(chain.expiresAt)}
    where org_id = ${orgId} and family_id = ${chain.chainId}`)
}

/** False when it was revoked before. */
export async function revokeFamily(tx: Tx, orgId: number, chainId: string, at: Instant): Promise<boolean> {
  const revoked = await tx.query(sql`
    update refresh_token_families set revoked_at = ${toDatabase(at)}
    where org_id = ${orgId} and family_id = ${chainId} and revoked_at is null returning family_id`)
  return revoked.length === 1
}

/** Ends a person's sessions in the organization, all but one when it is named. Gives their chains. */
export async function revokeFamiliesOf(
  tx: Tx,
  orgId: number,
  userId: number,
  except: string | null,
  at: Instant,
): Promise<string[]> {
  const rows = await tx.query<{ family_id: string }>(sql`
    update refresh_token_families set revoked_at = ${toDatabase(at)}
    where org_id = ${orgId} and user_id = ${userId} and revoked_at is null
      and family_id is distinct from ${except}::uuid
    returning family_id`)
  return rows.map((row) => row.family_id)
}

/**
 * Deletes the person's oldest sessions in the organization, all but this one and the `others` newest, and what is left of
 * sessions that have ended. Gives the chains of those that were still good. Chains that another sign-in deletes at the same
 * time are left to it, so that the two never wait for each other.
 */
export async function deleteOldestFamilies(
  tx: Tx,
  orgId: number,
  userId: number,
  except: string,
  others: number,
): Promise<string[]> {
  const rows = await tx.query<{ family_id: string; revoked_at: string | null }>(sql`
    delete from refresh_token_families where org_id = ${orgId} and family_id in (
      select family_id from refresh_token_families
      where org_id = ${orgId} and user_id = ${userId} and (revoked_at is not null or family_id in (
        select family_id from refresh_token_families
        where org_id = ${orgId} and user_id = ${userId} and revoked_at is null and family_id <> ${except}::uuid
        order by created_at desc, family_id offset ${others}))
      for update skip locked)
    returning family_id, revoked_at`)
  return rows.flatMap((row) => (row.revoked_at === null ? [row.family_id] : []))
}

export async function liveFamiliesOf(tx: Tx, orgId: number, userId: number): Promise<string[]> {
  const rows = await tx.query<{ family_id: string }>(sql`
    select family_id from refresh_token_families where org_id = ${orgId} and user_id = ${userId} and revoked_at is null`)
  return rows.map((row) => row.family_id)
}

/** The chain of a signed-in session, as long as it lasts. */
export async function liveSession(
  tx: Pick<Tx, 'query'>,
  orgId: number,
  chainId: string,
  at: Instant,
): Promise<{ userId: number; environment: string; expiresAt: Instant } | null> {
  const [row] = await tx.query<{ user_id: number; environment: string; expires_at: string }>(sql`
    select user_id, environment, expires_at from refresh_token_families
    where org_id = ${orgId} and family_id = ${chainId} and user_id is not null and revoked_at is null
      and expires_at > ${toDatabase(at)}`)
  if (row === undefined) return null
  return { userId: row.user_id, environment: row.environment, expiresAt: fromDatabase(row.expires_at) }
}

/** Chains nobody can use any more, cleared away as new ones are made. */
export async function deleteExpiredFamilies(tx: Tx, orgId: number, before: Instant): Promise<void> {
  await tx.query(sql`delete from refresh_token_families where org_id = ${orgId} and expires_at < ${toDatabase(before)}`)
}

/** Chains that were revoked before an instant: a token of one that is gone is refused like a token of a revoked one. */
export async function deleteRevokedFamilies(tx: Tx, orgId: number, before: Instant): Promise<void> {
  await tx.query(sql`delete from refresh_token_families where org_id = ${orgId} and revoked_at < ${toDatabase(before)}`)
}
