import type { Db, Tx } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { type Instant, toDatabase } from '../kernel/instant.ts'
import type { Role } from '../kernel/scopes.ts'
import type { Membership, User } from './user.ts'

export interface UserWithHash extends User {
  passwordHash: string
}

interface UserRow {
  user_id: number
  email: string
  is_email_confirmed: boolean
}

const columns = sql`user_id, email, email_confirmed_at is not null as is_email_confirmed`

const userOf = (row: UserRow): User => ({
  userId: row.user_id,
  email: row.email,
  isEmailConfirmed: row.is_email_confirmed,
})

export async function findUserByEmail(db: Db, email: string): Promise<UserWithHash | null> {
  const [row] = await db.query<UserRow & { password_hash: string }>(
    sql`select ${columns}, password_hash from users where email = ${email}`,
  )
  return row === undefined ? null : { ...userOf(row), passwordHash: row.password_hash }
}

export async function findUser(db: Db, userId: number): Promise<User | null> {
  const [row] = await db.query<UserRow>(sql`select ${columns} from users where user_id = ${userId}`)
  return row === undefined ? null : userOf(row)
}

export async function findPasswordHash(db: Db, userId: number): Promise<string | null> {
  const [row] = await db.query<{ password_hash: string }>(
    sql`select password_hash from users where user_id = ${userId}`,
  )
  return row?.password_hash ?? null
}

export async function setPasswordHash(tx: Tx, userId: number, hash: string): Promise<void> {
  await tx.query(sql`update users set password_hash = ${hash} where user_id = ${userId}`)
}

export async function insertUser(tx: Tx, user: UserWithHash, at: Instant): Promise<void> {
  await tx.query(sql`insert into users (user_id, email, password_hash, created_at, email_confirmed_at)
    values (${user.userId}, ${user.email}, ${user.passwordHash}, ${toDatabase(at)},
      ${user.isEmailConfirmed ? toDatabase(at) : null})`)
}

/** Does nothing if the address is already confirmed or is no longer the user's address. */
export async function confirmEmail(tx: Tx, userId: number, email: string, at: Instant): Promise<void> {
  await tx.query(sql`update users set email_confirmed_at = ${toDatabase(at)}
    where user_id = ${userId} and email = ${email} and email_confirmed_at is null`)
}

/** Returns false if the user does not exist. The caller must delete its memberships first. */
export async function deleteUser(tx: Tx, userId: number): Promise<boolean> {
  return (await tx.query(sql`delete from users where user_id = ${userId} returning user_id`)).length === 1
}

/**
 * Inserts the first membership of a new account. It has no `on conflict` clause, because Citus would then lock the whole
 * table, and two concurrent inserts would wait for each other.
 */
export async function insertMembership(tx: Tx, userId: number, orgId: number, role: Role, at: Instant): Promise<void> {
  await tx.query(sql`insert into memberships (user_id, org_id, role, created_at)
    values (${userId}, ${orgId}, ${role}, ${toDatabase(at)})`)
}

/** Oldest first: a sign-in uses the first membership. */
export async function membershipsOf(db: Db, userId: number): Promise<Membership[]> {
  const rows = await db.query<{ org_id: number; name: string; role: Role }>(sql`
    select m.org_id, n.name, m.role from memberships m join organization_names n on n.org_id = m.org_id
    where m.user_id = ${userId} order by m.created_at, m.org_id`)
  return rows.map((row) => ({ orgId: row.org_id, orgName: row.name, role: row.role }))
}

export interface Account extends Omit<User, 'isEmailConfirmed'> {
  orgId: number | null
  orgName: string | null
  role: Role | null
}

/** Lists every account once per membership, or once if it has none. Sorted by e-mail address. */
export async function listAccounts(db: Db): Promise<Account[]> {
  const rows = await db.query<{
    user_id: number
    email: string
    org_id: number | null
    name: string | null
    role: Role | null
  }>(sql`
    select u.user_id, u.email, m.org_id, n.name, m.role from users u
    left join memberships m on m.user_id = u.user_id left join organization_names n on n.org_id = m.org_id
    order by u.email, n.name, m.org_id`)
  return rows.map((row) => ({
    userId: row.user_id,
    email: row.email,
    orgId: row.org_id,
    orgName: row.name,
    role: row.role,
  }))
}
