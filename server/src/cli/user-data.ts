import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { deleteAccount } from '../accounts/members.ts'
import { countUserRows, exportUser } from '../accounts/user-export.ts'
import { writeArchive } from '../backup/archive-file.ts'
import { now } from '../kernel/clock.ts'
import { formatMillis } from '../kernel/instant.ts'
import { allOrganizations } from '../organizations/organizations.sql.ts'
import { type User, foldEmail } from '../users/user.ts'
import { findUserByEmail } from '../users/users.sql.ts'
import type { AppContext } from '../app/context.ts'
import { type Facts, OperatorError, UsageError } from '../app/operator.ts'

export async function accountOf(context: AppContext, email: string): Promise<User> {
  const user = await findUserByEmail(context.db.read, foldEmail(email))
  if (user !== null) return user
  throw new OperatorError(`There is no account with the address ${JSON.stringify(email)}; create it with user create`)
}

/** Exports everything about a user to a file, in every organization, without hashes and secrets. */
export async function exportAccount(context: AppContext, options: { email: string; out: string }): Promise<Facts> {
  const { userId, email } = await accountOf(context, options.email)
  const path = resolve(options.out)
  if (existsSync(path)) throw new OperatorError(`${path} already exists; an export never overwrites a file`)
  const exportedAt = formatMillis(now(context.clock))
  const user = { userId, email }
  const orgIds = await allOrganizations(context.db.read)
  const tables = {}
  await writeArchive(path, exportUser(context.db, { user, orgIds, exportedAt }, tables))
  return { user_id: userId, email, file: path, exported_at: exportedAt, tables }
}

/** Deletes the account itself, unlike `remove`, which ends one membership. */
export async function deleteUserAccount(
  context: AppContext,
  options: { email: string; confirm: string },
): Promise<Facts> {
  const { userId, email } = await accountOf(context, options.email)
  if (foldEmail(options.confirm) !== email) throw new UsageError(`--confirm must repeat the address, ${email}`)
  const user = { userId, email }
  const memberships = await deleteAccount(context, user)
  const left = await countUserRows(context.db, { user, orgIds: await allOrganizations(context.db.read) })
  const { credentials: keys = 0, sighting_notes: notes = 0, ...ofUser } = left
  const remaining = Object.keys(ofUser).filter((table) => ofUser[table] !== 0)
  if (remaining.length > 0) throw new OperatorError(`rows of the user are still written: ${remaining.join(', ')}`)
  return { user_id: userId, email, deleted: true, memberships, rows_left: 0, kept: { keys, notes } }
}
