import { type SignedIn, openSession } from './sessions.ts'
import { now } from '../kernel/clock.ts'
import { type FieldProblem, type ApiError, apiError } from '../kernel/errors.ts'
import { instantFromMillis } from '../kernel/instant.ts'
import { codePointLength } from '../kernel/json.ts'
import type { Role } from '../kernel/scopes.ts'
import { newLinkToken, sameHash } from '../kernel/secrets.ts'
import { findOrganization } from '../organizations/organizations.sql.ts'
import { type Invitation, deleteInvitation, findInvitation, insertInvitation } from '../users/invitations.sql.ts'
import { addMembership, isMember } from '../users/members.sql.ts'
import { assertNotGuessable } from '../users/password-rules.ts'
import { hashPassword, verifyPassword } from '../users/password.ts'
import { type User, foldEmail } from '../users/user.ts'
import { findUserByEmail, insertMembership, insertUser, membershipsOf } from '../users/users.sql.ts'
import { mailName } from './mail-name.ts'
import { type AccountDeps, hashLinkToken, linkTo } from './deps.ts'
import { assertAccountsOpen } from './signup-policy.ts'

const invitationTtlMs = 7 * 24 * 3_600_000
export const shortestPassword = 10
/** Invitations of one organization in a day: to one address, and to all. */
const maxPerRecipient = 5
const maxPerOrganization = 100

/** A token names its organization and invitation, so that it is looked up where it lives. */
const newToken = (orgId: number, id: number): string => `lsi_${orgId.toString(36)}.${id.toString(36)}.${newLinkToken()}`

function readToken(token: string): { orgId: number; id: number } | null {
  const match = /^lsi_([0-9a-z]{1,11})\.([0-9a-z]{1,11})\.[\w-]{43}$/.exec(token)
  const [orgId, id] = [parseInt(match?.[1] ?? '', 36), parseInt(match?.[2] ?? '', 36)]
  return Number.isSafeInteger(orgId) && Number.isSafeInteger(id) ? { orgId, id } : null
}

/** The link is known at this moment only; it is mailed where mail is set up. */
export async function invite(
  deps: AccountDeps,
  orgId: number,
  draft: { email: string; role: Role },
): Promise<{ invitation: Invitation; link: string }> {
  const email = foldEmail(draft.email)
  if (await isMember(deps.db.read, orgId, email)) throw apiError.conflict('This person is a member already')
  await deps.quotas.assertRoom(orgId, 'members')
  await deps.throttle.consume('day', `invite:${orgId} ${email}`, maxPerRecipient)
  await deps.throttle.consume('day', `invite:${orgId}`, maxPerOrganization)
  const id = await deps.ids.next(orgId)
  const token = newToken(orgId, id)
  const millis = deps.clock.millis()
  const [createdAt, expiresAt] = [instantFromMillis(millis), instantFromMillis(millis + invitationTtlMs)]
  const invitation: Invitation = { id, email, role: draft.role, createdAt, expiresAt }
  const tokenHash = hashLinkToken(deps, token)
  if (!(await deps.db.withTenant(orgId, (tx) => insertInvitation(tx, orgId, invitation, tokenHash))))
    throw apiError.conflict('An invitation to this address is open already')
  const link = linkTo(deps, 'join', token)
  const organization = await findOrganization(deps.db.read, orgId)
  const name = mailName(organization?.name ?? '') || 'an organization'
  deps.post.send({
    to: email,
    subject: `Join ${name} on Lastseen`,
    text: `You are invited to join ${name} on Lastseen. To accept, open\n\n${link}\n\nThe link works once, within seven days.\n`,
  })
  return { invitation, link }
}

export async function withdrawInvitation(deps: AccountDeps, orgId: number, id: number): Promise<void> {
  if (!(await deps.db.withTenant(orgId, (tx) => deleteInvitation(tx, orgId, id)))) throw apiError.notFound('Invitation')
}

interface Offer {
  orgId: number
  invitation: Invitation
  organizationName: string
  account: { userId: number; email: string; passwordHash: string } | null
}

const usedUp = (): ApiError =>
  apiError.invalid({ field: 'token', code: 'invalid_value', message: 'This link was used, withdrawn or has expired' })

/** What a link offers, while it is good. */
export function readInvitation(deps: AccountDeps, given: { token: string; address: string }): Promise<Offer> {
  return deps.throttle.guardAccount(null, given.address, () => offerOf(deps, given.token), usedUp)
}

async function offerOf(deps: AccountDeps, token: string): Promise<Offer | null> {
  const named = readToken(token)
  if (named === null) return null
  const invitation = await findInvitation(deps.db.read, named.orgId, named.id, now(deps.clock))
  if (invitation === null || !sameHash(invitation.tokenHash, hashLinkToken(deps, token))) return null
  const organization = await findOrganization(deps.db.read, named.orgId)
  const account = await findUserByEmail(deps.db.read, invitation.email)
  return { orgId: named.orgId, invitation, organizationName: organization?.name ?? '', account }
}

/** Joins and signs in: with a new account, or with the password of the one the address has. */
export async function acceptInvitation(
  deps: AccountDeps,
  given: { token: string; password: string; address: string },
): Promise<SignedIn> {
  const offer = await readInvitation(deps, given)
  const user = offer.account === null ? await joinAsNew(deps, offer, given.password) : await joinAs(deps, offer, given)
  const memberships = await membershipsOf(deps.db.read, user.userId)
  const membership = memberships.find((one) => one.orgId === offer.orgId)
  if (membership === undefined) throw usedUp()
  return openSession(deps, user, membership, memberships)
}

async function joinAs(deps: AccountDeps, offer: Offer, given: { password: string; address: string }): Promise<User> {
  const { userId, email, passwordHash } = offer.account!
  const attempt = async (): Promise<true | null> => (await verifyPassword(passwordHash, given.password)) || null
  const message = 'This is not the password of your account'
  const refusal = (): ApiError => apiError.invalid({ field: 'password', code: 'invalid_value', message })
  await deps.throttle.guardAccount(email, given.address, attempt, refusal)
  await join(deps, offer, { userId, email }, null)
  return { userId, email }
}

async function joinAsNew(deps: AccountDeps, offer: Offer, password: string): Promise<User> {
  assertAccountsOpen(deps.signups)
  if (codePointLength(password) < shortestPassword) throw apiError.invalid(tooShort)
  assertNotGuessable('password', password, offer.invitation.email)
  const user = { userId: await deps.ids.next(0), email: offer.invitation.email }
  await join(deps, offer, user, await hashPassword(password))
  return user
}

const tooShort: FieldProblem = {
  field: 'password',
  code: 'too_short',
  message: `password must be at least ${shortestPassword} characters`,
  params: { min_length: shortestPassword },
}

/** Of two who accept at once, one finds the invitation gone. */
async function join(deps: AccountDeps, offer: Offer, user: User, newHash: string | null): Promise<void> {
  const { orgId, invitation } = offer
  const at = now(deps.clock)
  await deps.quotas.assertRoom(orgId, 'members')
  await deps.db.withTenant(orgId, async (tx) => {
    if (!(await deleteInvitation(tx, orgId, invitation.id))) throw usedUp()
    if (newHash === null) return addMembership(tx, user.userId, orgId, invitation.role, at)
    await insertUser(tx, { ...user, passwordHash: newHash }, at)
    await insertMembership(tx, user.userId, orgId, invitation.role, at)
  })
}
