import type { Db, Tx } from '../db/database.ts'
import { sql } from '../db/sql.ts'

/** A row as JSON text. */
interface JsonRow {
  row: string
}

/** The rows of a table that are about one user, as JSON texts without hashes and secrets. */
export interface UserRows {
  table: string
  rows: string[]
}

async function rowsOf(table: string, query: Promise<JsonRow[]>): Promise<UserRows> {
  return { table, rows: (await query).map(({ row }) => row) }
}

/** The rows that belong to no organization, and the memberships. */
export function accountRows({ read, global }: { read: Db; global: Db }, userId: number): Promise<UserRows>[] {
  return [
    rowsOf(
      'users',
      read.query<JsonRow>(sql`select to_json(r)::text as row from (
        select user_id, email, created_at, email_confirmed_at from users where user_id = ${userId}) r`),
    ),
    rowsOf(
      'memberships',
      read.query<JsonRow>(sql`select to_json(r)::text as row from (
        select m.org_id, n.name as organization, m.role, m.created_at
        from memberships m join organization_names n on n.org_id = m.org_id
        where m.user_id = ${userId} order by m.created_at, m.org_id) r`),
    ),
    rowsOf(
      'password_resets',
      global.query<JsonRow>(sql`select to_json(r)::text as row from (
        select created_at, expires_at from password_resets where user_id = ${userId} order by created_at) r`),
    ),
  ]
}

/** The rows of one organization whose number is limited per user: sessions, saved views and the invitation. */
export function boundedRowsIn(db: Db, orgId: number, user: { userId: number; email: string }): Promise<UserRows>[] {
  const { userId, email } = user
  return [
    rowsOf(
      'refresh_token_families',
      db.query<JsonRow>(sql`select to_json(r)::text as row from (
        select f.org_id, f.environment, f.created_at, f.expires_at, f.revoked_at, f.end_reason
        from refresh_token_families f where f.org_id = ${orgId} and f.user_id = ${userId} order by f.created_at) r`),
    ),
    rowsOf(
      'saved_views',
      db.query<JsonRow>(sql`select to_json(r)::text as row from (
        select v.org_id, v.id, v.name, v.search from saved_views v
        where v.org_id = ${orgId} and v.user_id = ${userId} order by v.id) r`),
    ),
    rowsOf(
      'invitations',
      db.query<JsonRow>(sql`select to_json(r)::text as row from (
        select i.org_id, i.id, i.email, i.role, i.created_at, i.expires_at from invitations i
        where i.org_id = ${orgId} and i.email = ${email} order by i.id) r`),
    ),
  ]
}

const batchRows = 500

/** The API keys that the user created, after the key `afterId`, and the id of the last one if there may be more. */
export async function createdKeys(
  db: Db,
  orgId: number,
  userId: number,
  afterId: number,
): Promise<UserRows & { next: number | null }> {
  const rows = await db.query<JsonRow & { id: number }>(sql`
    select r.id, to_json(r)::text as row from (
      select c.org_id, c.id, c.client_id, c.name, c.scopes, c.created_at, c.expires_at, c.revoked_at, c.last_used_at
      from credentials c where c.org_id = ${orgId} and c.created_by = ${userId} and c.id > ${afterId}
      order by c.id limit ${batchRows}) r order by r.id`)
  const next = rows.length < batchRows ? null : rows.at(-1)!.id
  return { table: 'credentials', rows: rows.map(({ row }) => row), next }
}

export interface NoteCursor {
  assetId: number
  minute: string
  saveId: number
}

/** The notes that the user wrote, after the cursor, and the cursor of the last one if there may be more. */
export async function writtenNotes(
  db: Db,
  orgId: number,
  userId: number,
  after: NoteCursor,
): Promise<UserRows & { next: NoteCursor | null }> {
  const rows = await db.query<JsonRow & { asset_id: number; minute: string; save_id: number }>(sql`
    select r.asset_id, r.minute, r.save_id, to_json(r)::text as row from (
      select n.org_id, n.asset_id, n.minute, n.save_id, n.location_id, n.noted_at, n.note
      from sighting_notes n where n.org_id = ${orgId} and n.user_id = ${userId}
        and (n.asset_id, n.minute, n.save_id) > (${after.assetId}, ${after.minute}::timestamptz, ${after.saveId})
      order by n.asset_id, n.minute, n.save_id limit ${batchRows}) r
    order by r.asset_id, r.minute, r.save_id`)
  const last = rows.length < batchRows ? undefined : rows.at(-1)
  const next = last === undefined ? null : { assetId: last.asset_id, minute: last.minute, saveId: last.save_id }
  return { table: 'sighting_notes', rows: rows.map(({ row }) => row), next }
}

/**
 * Deletes the user's rows in one organization, whether or not the user is still a member: sessions, saved views and the
 * invitation. Notes and API keys belong to the organization.
 */
export async function deleteUserRows(
  tx: Tx,
  orgId: number,
  { userId, email }: { userId: number; email: string },
): Promise<void> {
  await tx.query(sql`delete from saved_views where org_id = ${orgId} and user_id = ${userId}`)
  await tx.query(sql`delete from refresh_token_families where org_id = ${orgId} and user_id = ${userId}`)
  await tx.query(sql`delete from invitations where org_id = ${orgId} and email = ${email}`)
}
