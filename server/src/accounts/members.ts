import { publishRevocations } from '../auth/commands.ts'
import { deleteAttemptsOf } from '../auth/login-throttle.sql.ts'
import { deleteSavedViewsOf } from '../users/saved-views.sql.ts'
import { liveFamiliesOf, revokeFamiliesOf } from '../auth/refresh-token-families.sql.ts'
import type { SessionDeps } from './sessions.ts'
import type { Tx } from '../db/database.ts'
import { now } from '../kernel/clock.ts'
import { apiError } from '../kernel/errors.ts'
import type { Role } from '../kernel/scopes.ts'
import { allOrganizations } from '../organizations/organizations.sql.ts'
import { deleteUserRows } from '../users/user-data.sql.ts'
import type { User } from '../users/user.ts'
import { deleteResetsOf } from '../users/resets.sql.ts'
import { deleteUser, membershipsOf } from '../users/users.sql.ts'
import { type Member, deleteMembership, findMember, lockAdmins, setRole } from '../users/members.sql.ts'

type Deps = Pick<SessionDeps, 'db' | 'clock' | 'pubsub'>

export async function getMember(deps: Deps, orgId: number, userId: number): Promise<Member> {
  const member = await findMember(deps.db.read, orgId, userId)
  if (member === null) throw apiError.notFound('Member')
  return member
}

/** Throws if the user is the last admin: an organization without an admin could not be administered any more. */
async function assertNotLastAdmin(tx: Tx, orgId: number, userId: number): Promise<void> {
  const admins = await lockAdmins(tx, orgId)
  if (admins.length === 1 && admins[0] === userId) throw apiError.conflict('An organization needs at least one admin')
}

/** The new role applies from the member's next request on, in every process. */
export async function changeRole(deps: Deps, orgId: number, userId: number, role: Role): Promise<Member> {
  const sessions = await deps.db.withTenant(orgId, async (tx) => {
    if (role !== 'admin') await assertNotLastAdmin(tx, orgId, userId)
    if (!(await setRole(tx, orgId, userId, role))) throw apiError.notFound('Member')
    return liveFamiliesOf(tx, orgId, userId)
  })
  await publishRevocations(deps.pubsub, sessions)
  return getMember(deps, orgId, userId)
}

/** Ends the member's sessions in this organization. The account is kept. */
export async function removeMember(deps: Deps, orgId: number, userId: number): Promise<void> {
  const sessions = await deps.db.withTenant(orgId, async (tx) => {
    await assertNotLastAdmin(tx, orgId, userId)
    if (!(await deleteMembership(tx, orgId, userId))) throw apiError.notFound('Member')
    await deleteSavedViewsOf(tx, orgId, userId)
    return revokeFamiliesOf(tx, orgId, userId, 'revoked', now(deps.clock))
  })
  await publishRevocations(deps.pubsub, sessions)
}

/**
 * Deletes the account with its memberships, and its sessions, saved views and invitations in every organization, unless the
 * user is the last admin of an organization. Returns the number of memberships.
 */
export async function deleteAccount(deps: Deps, user: Pick<User, 'userId' | 'email'>): Promise<number> {
  const { userId } = user
  const memberships = await membershipsOf(deps.db.read, userId)
  for (const { orgId } of memberships) await deps.db.withTenant(orgId, (tx) => assertNotLastAdmin(tx, orgId, userId))
  for (const { orgId } of memberships) await removeMember(deps, orgId, userId)
  await deps.db.globalTransaction(async (tx) => {
    await deleteResetsOf(tx, userId)
    await deleteUser(tx, userId)
    await deleteAttemptsOf(tx, [user.email])
  })
  // Also organizations that the user has left, and invitations to others.
  for (const orgId of await allOrganizations(deps.db.read))
    await deps.db.withTenant(orgId, (tx) => deleteUserRows(tx, orgId, user))
  return memberships.length
}
