import type { Db, Tx } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { type Instant, fromDatabase, toDatabase } from '../kernel/instant.ts'
import { type Page, type PageRequest, toPage } from '../kernel/page.ts'
import type { Role } from '../kernel/scopes.ts'

export interface Invitation {
  id: number
  email: string
  role: Role
  createdAt: Instant
  expiresAt: Instant
}

interface InvitationRow {
  id: number
  email: string
  role: Role
  created_at: string
  expires_at: string
}

const invitationOf = (row: InvitationRow): Invitation => ({
  id: row.id,
  email: row.email,
  role: row.role,
  createdAt: fromDatabase(row.created_at),
  expiresAt: fromDatabase(row.expires_at),
})

/** Returns false if an invitation to this address is open. Deletes expired invitations first. */
export async function insertInvitation(
  tx: Tx,
  orgId: number,
  invitation: Invitation,
  tokenHash: Uint8Array,
): Promise<boolean> {
  const { id, email, role } = invitation
  const [createdAt, expiresAt] = [toDatabase(invitation.createdAt), toDatabase(invitation.expiresAt)]
  await deleteExpiredInvitations(tx, orgId, invitation.createdAt)
  const inserted = await tx.query(sql`
    insert into invitations (org_id, id, email, role, token_hash, created_at, expires_at)
    values (${orgId}, ${id}, ${email}, ${role}, ${tokenHash}, ${createdAt}, ${expiresAt})
    on conflict (org_id, email) do nothing returning id`)
  return inserted.length === 1
}

/** Lists the open invitations by e-mail address. */
export async function listInvitations(
  db: Db,
  orgId: number,
  page: PageRequest,
  at: Instant,
): Promise<Page<Invitation>> {
  const rows = await db.query<InvitationRow & { total: number; id: number | null }>(sql`
    with open as materialized (
      select id, email, role, created_at, expires_at from invitations
      where org_id = ${orgId} and expires_at > ${toDatabase(at)}
    ),
    total as (select count(*) as total from open),
    page as (select * from open order by email limit ${page.limit} offset ${page.offset})
    select total.total, page.* from total left join page on true order by page.email`)
  return toPage(rows, (row) => (row.id === null ? null : invitationOf(row)))
}

export async function findInvitation(
  db: Db,
  orgId: number,
  id: number,
  at: Instant,
): Promise<(Invitation & { tokenHash: Uint8Array }) | null> {
  const [row] = await db.query<InvitationRow & { token_hash: Uint8Array }>(sql`
    select id, email, role, created_at, expires_at, token_hash from invitations
    where org_id = ${orgId} and id = ${id} and expires_at > ${toDatabase(at)}`)
  return row === undefined ? null : { ...invitationOf(row), tokenHash: row.token_hash }
}

/** Deletes an accepted or withdrawn invitation. Returns false if it does not exist. */
export async function deleteInvitation(tx: Tx, orgId: number, id: number): Promise<boolean> {
  const deleted = await tx.query(sql`delete from invitations where org_id = ${orgId} and id = ${id} returning id`)
  return deleted.length === 1
}

export async function deleteExpiredInvitations(tx: Tx, orgId: number, at: Instant): Promise<void> {
  await tx.query(sql`delete from invitations where org_id = ${orgId} and expires_at <= ${toDatabase(at)}`)
}
