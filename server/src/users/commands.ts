import type { Database, Tx } from '../db/database.ts'
import type { IdGenerator } from '../db/id-generator.ts'
import { type Clock, now } from '../kernel/clock.ts'
import type { QuotaCheck } from '../kernel/quota.ts'
import type { Role } from '../kernel/scopes.ts'
import { hashPassword } from './password.ts'
import { type User, foldEmail } from './user.ts'
import { insertMembership, insertUser } from './users.sql.ts'

interface Deps {
  db: Database
  clock: Clock
  ids: IdGenerator
  quotas: QuotaCheck
}

export interface Account {
  email: string
  password: string
  role: Role
  isEmailConfirmed: boolean
}

/** Hashes the password outside the transaction and returns a function that inserts the account and its first membership. */
export async function prepareUser({ clock, ids }: Pick<Deps, 'clock' | 'ids'>, account: Account) {
  const { isEmailConfirmed } = account
  const user: User = { userId: await ids.next(0), email: foldEmail(account.email), isEmailConfirmed }
  const passwordHash = await hashPassword(account.password)
  return async (tx: Tx, orgId: number): Promise<User> => {
    const at = now(clock)
    await insertUser(tx, { ...user, passwordHash }, at)
    await insertMembership(tx, user.userId, orgId, account.role, at)
    return user
  }
}

/** Creates an account with its first membership for the operator. Throws 409 if the address already has an account. */
export async function createUser(deps: Deps, orgId: number, account: Omit<Account, 'isEmailConfirmed'>): Promise<User> {
  await deps.quotas.assertRoom(orgId, 'members')
  const write = await prepareUser(deps, { ...account, isEmailConfirmed: true })
  return deps.db.globalTransaction((tx) => write(tx, orgId))
}
