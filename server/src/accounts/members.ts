import { announceRevoked } from '../credentials/commands.ts'
import { liveChainsOf, revokeChainsOf } from '../credentials/refresh-chains.sql.ts'
import type { SessionNeeds } from '../credentials/sessions.ts'
import type { Tx } from '../db/database.ts'
import { now } from '../kernel/clock.ts'
import { refuse } from '../kernel/errors.ts'
import type { Role } from '../kernel/scopes.ts'
import { deleteResetsOf } from '../users/resets.sql.ts'
import { deleteUser, membershipsOf } from '../users/users.sql.ts'
import { type Member, deleteMembership, findMember, lockAdmins, setRole } from '../users/members.sql.ts'

type Needs = Pick<SessionNeeds, 'db' | 'clock' | 'wake'>

export async function getMember(needs: Needs, orgId: number, userId: number): Promise<Member> {
  const member = await findMember(needs.db.read, orgId, userId)
  if (member === null) throw refuse.notFound('Member')
  return member
}

/** An organization without an admin could never be administered again. */
async function keepAnAdmin(tx: Tx, orgId: number, leaving: number): Promise<void> {
  const admins = await lockAdmins(tx, orgId)
  if (admins.length === 1 && admins[0] === leaving) throw refuse.conflict('An organization needs at least one admin')
}

/** Counts from the member's next request on, in every process. */
export async function changeRole(needs: Needs, orgId: number, userId: number, role: Role): Promise<Member> {
  const sessions = await needs.db.inOrganization(orgId, async (tx) => {
    if (role !== 'admin') await keepAnAdmin(tx, orgId, userId)
    if (!(await setRole(tx, orgId, userId, role))) throw refuse.notFound('Member')
    return liveChainsOf(tx, orgId, userId)
  })
  await announceRevoked(needs.wake, sessions)
  return getMember(needs, orgId, userId)
}

/** The account stays; its sessions in this organization end. */
export async function removeMember(needs: Needs, orgId: number, userId: number): Promise<void> {
  const sessions = await needs.db.inOrganization(orgId, async (tx) => {
    await keepAnAdmin(tx, orgId, userId)
    if (!(await deleteMembership(tx, orgId, userId))) throw refuse.notFound('Member')
    return revokeChainsOf(tx, orgId, userId, null, now(needs.clock))
  })
  await announceRevoked(needs.wake, sessions)
}

/** The account goes with its memberships and sessions, unless an organization would then be without an admin. */
export async function deleteAccount(needs: Needs, userId: number): Promise<number> {
  const memberships = await membershipsOf(needs.db.read, userId)
  for (const { orgId } of memberships) await needs.db.inOrganization(orgId, (tx) => keepAnAdmin(tx, orgId, userId))
  for (const { orgId } of memberships) await removeMember(needs, orgId, userId)
  await needs.db.shared(async (tx) => {
    await deleteResetsOf(tx, userId)
    await deleteUser(tx, userId)
  })
  return memberships.length
}
