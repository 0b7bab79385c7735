import type { Db, Tx } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { type Instant, fromDatabase, toDatabase } from '../kernel/instant.ts'
import { type Page, type PageRequest, toPage } from '../kernel/page.ts'
import type { Role } from '../kernel/scopes.ts'

export interface Member {
  userId: number
  email: string
  role: Role
  joinedAt: Instant
}

interface MemberRow {
  user_id: number
  email: string
  role: Role
  created_at: string
}

const memberOf = (row: MemberRow): Member => ({
  userId: row.user_id,
  email: row.email,
  role: row.role,
  joinedAt: fromDatabase(row.created_at),
})

/** Sorted by e-mail address. */
export async function listMembers(db: Db, orgId: number, page: PageRequest): Promise<Page<Member>> {
  const rows = await db.query<{ total: number; user_id: number | null } & MemberRow>(sql`
    with total as (select count(*) as total from memberships where org_id = ${orgId}),
    page as (
      select m.user_id, u.email, m.role, m.created_at from memberships m join users u on u.user_id = m.user_id
      where m.org_id = ${orgId} order by u.email limit ${page.limit} offset ${page.offset}
    )
    select total.total, page.* from total left join page on true order by page.email`)
  return toPage(rows, (row) => (row.user_id === null ? null : memberOf(row)))
}

export async function findMember(db: Db, orgId: number, userId: number): Promise<Member | null> {
  const [row] = await db.query<MemberRow>(sql`
    select m.user_id, u.email, m.role, m.created_at from memberships m join users u on u.user_id = m.user_id
    where m.org_id = ${orgId} and m.user_id = ${userId}`)
  return row === undefined ? null : memberOf(row)
}

/** True if a member has this e-mail address. */
export async function isMember(db: Db, orgId: number, email: string): Promise<boolean> {
  const rows = await db.query(sql`
    select from memberships m join users u on u.user_id = m.user_id
    where m.org_id = ${orgId} and u.email = ${email}`)
  return rows.length > 0
}

/** Locks the admins until the transaction ends, so that the last two admins cannot both step down at the same time. */
export async function lockAdmins(tx: Tx, orgId: number): Promise<number[]> {
  const rows = await tx.query<{ user_id: number }>(sql`
    select user_id from memberships where org_id = ${orgId} and role = 'admin' order by user_id for update`)
  return rows.map((row) => row.user_id)
}

export async function setRole(tx: Tx, orgId: number, userId: number, role: Role): Promise<boolean> {
  const changed = await tx.query(sql`
    update memberships set role = ${role} where org_id = ${orgId} and user_id = ${userId} returning user_id`)
  return changed.length === 1
}

export async function deleteMembership(tx: Tx, orgId: number, userId: number): Promise<boolean> {
  const deleted = await tx.query(sql`
    delete from memberships where org_id = ${orgId} and user_id = ${userId} returning user_id`)
  return deleted.length === 1
}

/** An existing member keeps the current role. */
export async function addMembership(tx: Tx, userId: number, orgId: number, role: Role, at: Instant): Promise<void> {
  await tx.query(sql`insert into memberships (user_id, org_id, role, created_at)
    values (${userId}, ${orgId}, ${role}, ${toDatabase(at)}) on conflict (user_id, org_id) do nothing`)
}

/** Organizations whose only member belongs to no other one and signed up before `before` without confirming the address. */
export async function unconfirmedOrganizations(db: Db, before: Instant): Promise<number[]> {
  const rows = await db.query<{ org_id: number }>(sql`
    select m.org_id from users u join memberships m on m.user_id = u.user_id
    where u.email_confirmed_at is null and u.created_at < ${toDatabase(before)}
      and not exists (
        select from memberships o where (o.user_id = m.user_id or o.org_id = m.org_id)
          and (o.user_id <> m.user_id or o.org_id <> m.org_id))
    order by m.org_id`)
  return rows.map((row) => row.org_id)
}
