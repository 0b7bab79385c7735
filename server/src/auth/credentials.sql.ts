import type { Db, Tx } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { type Instant, fromDatabase, toDatabase } from '../kernel/instant.ts'
import type { PageRequest } from '../kernel/page.ts'
import type { Credential } from './credential.ts'

interface CredentialRow {
  id: number
  client_id: string
  name: string
  scopes: string[]
  created_at: string
  created_by: number | null
  expires_at: string | null
  revoked_at: string | null
  last_used_at: string | null
}

const instantOrNull = (text: string | null): Instant | null => (text === null ? null : fromDatabase(text))

const credentialOf = (row: CredentialRow): Credential => ({
  id: row.id,
  clientId: row.client_id,
  name: row.name,
  scopes: row.scopes,
  createdAt: fromDatabase(row.created_at),
  createdBy: row.created_by,
  expiresAt: instantOrNull(row.expires_at),
  revokedAt: instantOrNull(row.revoked_at),
  lastUsedAt: instantOrNull(row.last_used_at),
})

const columns = sql`id, client_id, name, scopes, created_at, created_by, expires_at, revoked_at, last_used_at`

export async function insertCredentials(
  tx: Tx,
  orgId: number,
  environment: string,
  minted: readonly { credential: Credential; secretHash: Buffer }[],
): Promise<void> {
  const first = minted[0]?.credential
  if (first === undefined) return
  await tx.query(sql`
    insert into credentials as made (org_id, id, client_id, name, secret_hash, scopes, environment, created_at, created_by,
      expires_at)
    select o.org_id, u.id, u.client_id, ${first.name}::text, decode(u.secret_hash, 'hex'), ${first.scopes}::text[],
      ${environment}::text, ${toDatabase(first.createdAt)}::timestamptz, ${first.createdBy}::bigint,
      ${first.expiresAt && toDatabase(first.expiresAt)}::timestamptz
    from organizations o cross join unnest(
      ${minted.map((one) => one.credential.id)}::bigint[], ${minted.map((one) => one.credential.clientId)}::uuid[],
      ${minted.map((one) => one.secretHash.toString('hex'))}::text[]
    ) u (id, client_id, secret_hash)
    where o.org_id = ${orgId}
    returning id`)
  await tx.query(sql`
    insert into client_ids as made (client_id, org_id)
    select u.client_id, ${orgId}::bigint from unnest(${minted.map((one) => one.credential.clientId)}::uuid[]) u (client_id)
    returning client_id`)
}

export async function findOrganizationOfClient(db: Db, clientId: string): Promise<number | null> {
  const [row] = await db.query<{ org_id: number }>(sql`select org_id from client_ids where client_id = ${clientId}`)
  return row?.org_id ?? null
}

export interface CredentialState {
  secretHash: Uint8Array
  scopes: string[]
  environment: string
  expiresAt: Instant | null
  revokedAt: Instant | null
}

export async function credentialState(db: Db, orgId: number, clientId: string): Promise<CredentialState | null> {
  const [row] = await db.query<{
    secret_hash: Uint8Array
    scopes: string[]
    environment: string
    expires_at: string | null
    revoked_at: string | null
  }>(sql`
    select secret_hash, scopes, environment, expires_at, revoked_at from credentials
    where org_id = ${orgId} and client_id = ${clientId}`)
  if (row === undefined) return null
  return {
    secretHash: row.secret_hash,
    scopes: row.scopes,
    environment: row.environment,
    expiresAt: instantOrNull(row.expires_at),
    revokedAt: instantOrNull(row.revoked_at),
  }
}

/** Lists the credentials that are not revoked, newest first. */
export async function listCredentials(
  db: Db,
  orgId: number,
  page: PageRequest,
): Promise<{ rows: Credential[]; total: number }> {
  const rows = await db.query<CredentialRow & { total: number }>(sql`
    with live as materialized (
      select ${columns} from credentials where org_id = ${orgId} and revoked_at is null
    ),
    page as (select * from live order by created_at desc, id limit ${page.limit} offset ${page.offset})
    select (select count(*) from live) as total, page.* from (select 1) one left join page on true
    order by page.created_at desc, page.id`)
  return {
    rows: rows.filter((row) => row.id !== null).map(credentialOf),
    total: rows[0]?.total ?? 0,
  }
}

/** Revokes a credential and all its refresh token families. Returns its client id, or null if it was not active. */
export async function revokeCredentialRow(
  tx: Tx,
  orgId: number,
  by: { id: number } | { clientId: string },
  at: Instant,
): Promise<string | null> {
  const condition = 'id' in by ? sql`id = ${by.id}` : sql`client_id = ${by.clientId}`
  const [row] = await tx.query<{ client_id: string }>(sql`
    update credentials set revoked_at = ${toDatabase(at)}
    where org_id = ${orgId} and ${condition} and revoked_at is null returning client_id`)
  if (row === undefined) return null
  await tx.query(sql`
    update refresh_token_families set revoked_at = ${toDatabase(at)}
    where org_id = ${orgId} and client_id = ${row.client_id} and revoked_at is null`)
  return row.client_id
}

/** Processes write the time of last use with a delay and in any order, so the statement keeps the latest time. */
export async function noteUse(
  tx: Tx,
  orgId: number,
  uses: readonly { clientId: string; at: Instant }[],
): Promise<void> {
  await tx.query(sql`
    update credentials c set last_used_at = greatest(c.last_used_at, u.used_at)
    from unnest(${uses.map((use) => use.clientId)}::uuid[], ${uses.map((use) => toDatabase(use.at))}::timestamptz[])
      u (client_id, used_at)
    where c.org_id = ${orgId} and c.client_id = u.client_id`)
}

/** The maximum number of credentials that one transaction deletes. */
const deleteBatchSize = 1000

/**
 * Deletes a batch of the credentials that were revoked before an instant; returns whether there may be more. Deleted and
 * revoked credentials are rejected alike.
 */
export async function deleteRevokedCredentials(tx: Tx, orgId: number, before: Instant): Promise<boolean> {
  const deleted = await tx.query<{ client_id: string }>(sql`
    delete from credentials where org_id = ${orgId} and id in (
      select id from credentials where org_id = ${orgId} and revoked_at < ${toDatabase(before)} limit ${deleteBatchSize})
    returning client_id`)
  if (deleted.length > 0)
    await tx.query(sql`delete from client_ids where client_id = any(${deleted.map((row) => row.client_id)}::uuid[])`)
  return deleted.length === deleteBatchSize
}
