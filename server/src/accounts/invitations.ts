import { type SignedIn, openSession } from '../credentials/sessions.ts'
import { now } from '../kernel/clock.ts'
import { type FieldProblem, type Refusal, refuse } from '../kernel/errors.ts'
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
import { type AccountNeeds, hashLinkToken, linkTo } from './needs.ts'
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
  needs: AccountNeeds,
  orgId: number,
  draft: { email: string; role: Role },
): Promise<{ invitation: Invitation; link: string }> {
  const email = foldEmail(draft.email)
  if (await isMember(needs.db.read, orgId, email)) throw refuse.conflict('This person is a member already')
  await needs.quotas.assertRoom(orgId, 'members')
  await needs.throttle.consume('day', `invite:${orgId} ${email}`, maxPerRecipient)
  await needs.throttle.consume('day', `invite:${orgId}`, maxPerOrganization)
  const id = await needs.ids.next(orgId)
  const token = newToken(orgId, id)
  const millis = needs.clock.millis()
  const [createdAt, expiresAt] = [instantFromMillis(millis), instantFromMillis(millis + invitationTtlMs)]
  const invitation: Invitation = { id, email, role: draft.role, createdAt, expiresAt }
  const tokenHash = hashLinkToken(needs, token)
  if (!(await needs.db.inOrganization(orgId, (tx) => insertInvitation(tx, orgId, invitation, tokenHash))))
    throw refuse.conflict('An invitation to this address is open already')
  const link = linkTo(needs, 'join', token)
  const organization = await findOrganization(needs.db.read, orgId)
  const name = mailName(organization?.name ?? '') || 'an organization'
  needs.post.send({
    to: email,
    subject: `Join ${name} on Lastseen`,
    text: `You are invited to join ${name} on Lastseen. To accept, open\n\n${link}\n\nThe link works once, within seven days.\n`,
  })
  return { invitation, link }
}

export async function withdrawInvitation(needs: AccountNeeds, orgId: number, id: number): Promise<void> {
  if (!(await needs.db.inOrganization(orgId, (tx) => deleteInvitation(tx, orgId, id))))
    throw refuse.notFound('Invitation')
}

interface Offer {
  orgId: number
  invitation: Invitation
  organizationName: string
  account: { userId: number; email: string; passwordHash: string } | null
}

const usedUp = (): Refusal =>
  refuse.invalid({ field: 'token', code: 'invalid_value', message: 'This link was used, withdrawn or has expired' })

/** What a link offers, while it is good. */
export function readInvitation(needs: AccountNeeds, given: { token: string; address: string }): Promise<Offer> {
  return needs.throttle.guardAccount(null, given.address, () => offerOf(needs, given.token), usedUp)
}

async function offerOf(needs: AccountNeeds, token: string): Promise<Offer | null> {
  const named = readToken(token)
  if (named === null) return null
  const invitation = await findInvitation(needs.db.read, named.orgId, named.id, now(needs.clock))
  if (invitation === null || !sameHash(invitation.tokenHash, hashLinkToken(needs, token))) return null
  const organization = await findOrganization(needs.db.read, named.orgId)
  const account = await findUserByEmail(needs.db.read, invitation.email)
  return { orgId: named.orgId, invitation, organizationName: organization?.name ?? '', account }
}

/** Joins and signs in: with a new account, or with the password of the one the address has. */
export async function acceptInvitation(
  needs: AccountNeeds,
  given: { token: string; password: string; address: string },
): Promise<SignedIn> {
  const offer = await readInvitation(needs, given)
  const user =
    offer.account === null ? await joinAsNew(needs, offer, given.password) : await joinAs(needs, offer, given)
  const memberships = await membershipsOf(needs.db.read, user.userId)
  const membership = memberships.find((one) => one.orgId === offer.orgId)
  if (membership === undefined) throw usedUp()
  return openSession(needs, user, membership, memberships)
}

async function joinAs(needs: AccountNeeds, offer: Offer, given: { password: string; address: string }): Promise<User> {
  const { userId, email, passwordHash } = offer.account!
  const attempt = async (): Promise<true | null> => (await verifyPassword(passwordHash, given.password)) || null
  const message = 'This is not the password of your account'
  const refusal = (): Refusal => refuse.invalid({ field: 'password', code: 'invalid_value', message })
  await needs.throttle.guardAccount(email, given.address, attempt, refusal)
  await join(needs, offer, { userId, email }, null)
  return { userId, email }
}

async function joinAsNew(needs: AccountNeeds, offer: Offer, password: string): Promise<User> {
  assertAccountsOpen(needs.signups)
  if (codePointLength(password) < shortestPassword) throw refuse.invalid(tooShort)
  assertNotGuessable('password', password, offer.invitation.email)
  const user = { userId: await needs.ids.next(0), email: offer.invitation.email }
  await join(needs, offer, user, await hashPassword(password))
  return user
}

const tooShort: FieldProblem = {
  field: 'password',
  code: 'too_short',
  message: `password must be at least ${shortestPassword} characters`,
  params: { min_length: shortestPassword },
}

/** Of two who accept at once, one finds the invitation gone. */
async function join(needs: AccountNeeds, offer: Offer, user: User, newHash: string | null): Promise<void> {
  const { orgId, invitation } = offer
  const at = now(needs.clock)
  await needs.quotas.assertRoom(orgId, 'members')
  await needs.db.inOrganization(orgId, async (tx) => {
    if (!(await deleteInvitation(tx, orgId, invitation.id))) throw usedUp()
    if (newHash === null) return addMembership(tx, user.userId, orgId, invitation.role, at)
    await insertUser(tx, { ...user, passwordHash: newHash }, at)
    await insertMembership(tx, user.userId, orgId, invitation.role, at)
  })
}
