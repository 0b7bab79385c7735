import { announceRevoked } from '../auth/commands.ts'
import { liveFamiliesOf, revokeFamiliesOf } from '../auth/refresh-token-families.sql.ts'
import type { SessionDeps } from './sessions.ts'
import type { Tx } from '../db/database.ts'
import { now } from '../kernel/clock.ts'
import { apiError } from '../kernel/errors.ts'
import type { Role } from '../kernel/scopes.ts'
import { deleteResetsOf } from '../users/resets.sql.ts'
import { deleteUser, membershipsOf } from '../users/users.sql.ts'
import { type Member, deleteMembership, findMember, lockAdmins, setRole } from '../users/members.sql.ts'

type Deps = Pick<SessionDeps, 'db' | 'clock' | 'pubsub'>

export async function getMember(deps: Deps, orgId: number, userId: number): Promise<Member> {
  const member = await findMember(deps.db.read, orgId, userId)
  if (member === null) throw apiError.notFound('Member')
  return member
}

/** An organization without an admin could never be administered again. */
async function keepAnAdmin(tx: Tx, orgId: number, leaving: number): Promise<void> {
  const admins = await lockAdmins(tx, orgId)
  if (admins.length === 1 && admins[0] === leaving) throw apiError.conflict('An organization needs at least one admin')
}

/** Counts from the member's next request on, in every process. */
export async function changeRole(deps: Deps, orgId: number, userId: number, role: Role): Promise<Member> {
  const sessions = await deps.db.withTenant(orgId, async (tx) => {
    if (role !== 'admin') await keepAnAdmin(tx, orgId, userId)
    if (!(await setRole(tx, orgId, userId, role))) throw apiError.notFound('Member')
    return liveFamiliesOf(tx, orgId, userId)
  })
  await announceRevoked(deps.pubsub, sessions)
  return getMember(deps, orgId, userId)
}

/** The account stays; its sessions in this organization end. */
export async function removeMember(deps: Deps, orgId: number, userId: number): Promise<void> {
  const sessions = await deps.db.withTenant(orgId, async (tx) => {
    await keepAnAdmin(tx, orgId, userId)
    if (!(await deleteMembership(tx, orgId, userId))) throw apiError.notFound('Member')
    return revokeFamiliesOf(tx, orgId, userId, null, now(deps.clock))
  })
  await announceRevoked(deps.pubsub, sessions)
}

/** The account goes with its memberships and sessions, unless an organization would then be without an admin. */
export async function deleteAccount(deps: Deps, userId: number): Promise<number> {
  const memberships = await membershipsOf(deps.db.read, userId)
  for (const { orgId } of memberships) await deps.db.withTenant(orgId, (tx) => keepAnAdmin(tx, orgId, userId))
  for (const { orgId } of memberships) await removeMember(deps, orgId, userId)
  await deps.db.globalTransaction(async (tx) => {
    await deleteResetsOf(tx, userId)
    await deleteUser(tx, userId)
  })
  return memberships.length
}
