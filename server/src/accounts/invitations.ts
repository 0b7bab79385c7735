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
import { type UserWithHash, findUserByEmail, insertMembership, insertUser, membershipsOf } from '../users/users.sql.ts'
import { mailName } from './mail-name.ts'
import { type AccountDeps, hashLinkToken, linkTo } from './deps.ts'
import { mailConfirmation } from './email-confirmation.ts'
import { assertAccountsOpen } from './signup-policy.ts'

const invitationTtlMs = 7 * 24 * 3_600_000
export const shortestPassword = 10
/** Invitations per organization and day, to one address and in total. */
const maxPerRecipient = 5
const maxPerOrganization = 100
/** Invitations per day to one address, over all organizations. */
const maxPerRecipientInTotal = 10

/** A token contains the ids of its organization and invitation, so that the lookup reads a single tenant. */
const newToken = (orgId: number, id: number): string => `lsi_${orgId.toString(36)}.${id.toString(36)}.${newLinkToken()}`

type TagDeps = Pick<AccountDeps, 'tokens' | 'environment'>

/**
 * The mailed token ends with this tag, which the inviter cannot compute from the token that the response shows. A client with
 * the tag has therefore read the mail.
 */
const mailTag = ({ tokens, environment }: TagDeps, token: string): Buffer =>
  tokens.hmacTag(`mailed invitation ${environment} ${token}`)

interface ParsedToken {
  orgId: number
  id: number
  /** The token as the inviter has seen it. */
  shownToken: string
  isMailed: boolean
}

function readToken(deps: TagDeps, token: string): ParsedToken | null {
  const match = /^(lsi_([0-9a-z]{1,11})\.([0-9a-z]{1,11})\.[\w-]{43})(?:\.([\w-]{22}))?$/.exec(token)
  const [shownToken = '', tag] = [match?.[1], match?.[4]]
  const [orgId, id] = [parseInt(match?.[2] ?? '', 36), parseInt(match?.[3] ?? '', 36)]
  if (!Number.isSafeInteger(orgId) || !Number.isSafeInteger(id)) return null
  if (tag === undefined) return { orgId, id, shownToken, isMailed: false }
  const isValid = sameHash(mailTag(deps, shownToken), Buffer.from(tag, 'base64url'))
  return isValid ? { orgId, id, shownToken, isMailed: true } : null
}

/**
 * Creates an invitation, and mails a link if mail is configured. Only the mailed link confirms the e-mail address. The
 * returned link cannot be read again later.
 */
export async function invite(
  deps: AccountDeps,
  orgId: number,
  draft: { email: string; role: Role },
): Promise<{ invitation: Invitation; link: string }> {
  const email = foldEmail(draft.email)
  if (await isMember(deps.db.read, orgId, email)) throw apiError.conflict('This user is already a member')
  await deps.quotas.assertRoom(orgId, 'members')
  await deps.throttle.consume('day', `invite:${orgId} ${email}`, maxPerRecipient)
  await deps.throttle.consume('day', `invite:${orgId}`, maxPerOrganization)
  await deps.throttle.consume('day', `invite-to:${email}`, maxPerRecipientInTotal)
  const id = await deps.ids.next(orgId)
  const token = newToken(orgId, id)
  const millis = deps.clock.millis()
  const [createdAt, expiresAt] = [instantFromMillis(millis), instantFromMillis(millis + invitationTtlMs)]
  const invitation: Invitation = { id, email, role: draft.role, createdAt, expiresAt }
  const tokenHash = hashLinkToken(deps, token)
  if (!(await deps.db.withTenant(orgId, (tx) => insertInvitation(tx, orgId, invitation, tokenHash))))
    throw apiError.conflict('This address was already invited; withdraw that invitation first')
  const mailedLink = linkTo(deps, 'join', `${token}.${mailTag(deps, token).toString('base64url')}`)
  const organization = await findOrganization(deps.db.read, orgId)
  const name = mailName(organization?.name ?? '') || 'an organization'
  deps.mailer.send({
    to: email,
    subject: `Join ${name} on Lastseen`,
    text: `You are invited to join ${name} on Lastseen. To accept, open\n\n${mailedLink}\n\nThe link works once, within seven days.\n`,
  })
  return { invitation, link: linkTo(deps, 'join', token) }
}

export async function withdrawInvitation(deps: AccountDeps, orgId: number, id: number): Promise<void> {
  if (!(await deps.db.withTenant(orgId, (tx) => deleteInvitation(tx, orgId, id)))) throw apiError.notFound('Invitation')
}

interface Offer {
  orgId: number
  invitation: Invitation
  organizationName: string
  account: UserWithHash | null
  isMailed: boolean
}

const invalidLink = (): ApiError =>
  apiError.invalid({
    field: 'token',
    code: 'invalid_value',
    message: 'This link was used or withdrawn, or it has expired',
  })

/** Returns the invitation of a link; throws if the link was used, withdrawn or has expired. */
export function readInvitation(deps: AccountDeps, request: { token: string; address: string }): Promise<Offer> {
  return deps.throttle.guardAccount(null, request.address, () => offerOf(deps, request.token), invalidLink)
}

async function offerOf(deps: AccountDeps, token: string): Promise<Offer | null> {
  const parsed = readToken(deps, token)
  if (parsed === null) return null
  const { orgId, id, shownToken, isMailed } = parsed
  const invitation = await findInvitation(deps.db.read, orgId, id, now(deps.clock))
  if (invitation === null || !sameHash(invitation.tokenHash, hashLinkToken(deps, shownToken))) return null
  const organization = await findOrganization(deps.db.read, orgId)
  const account = await findUserByEmail(deps.db.read, invitation.email)
  return { orgId, invitation, organizationName: organization?.name ?? '', account, isMailed }
}

/** Joins the organization and signs in, with a new account or with the password of the existing account. */
export async function acceptInvitation(
  deps: AccountDeps,
  request: { token: string; password: string; address: string },
): Promise<SignedIn> {
  const offer = await readInvitation(deps, request)
  const user =
    offer.account === null
      ? await joinWithNewAccount(deps, offer, request.password)
      : await joinWithExistingAccount(deps, offer, request)
  const memberships = await membershipsOf(deps.db.read, user.userId)
  const membership = memberships.find((one) => one.orgId === offer.orgId)
  if (membership === undefined) throw invalidLink()
  return openSession(deps, user, membership, memberships)
}

async function joinWithExistingAccount(
  deps: AccountDeps,
  offer: Offer,
  request: { password: string; address: string },
): Promise<User> {
  const { passwordHash, ...user } = offer.account!
  const attempt = async (): Promise<true | null> => (await verifyPassword(passwordHash, request.password)) || null
  const message = 'This is not the password of your account'
  const wrongPassword = (): ApiError => apiError.invalid({ field: 'password', code: 'invalid_value', message })
  await deps.throttle.guardAccount(user.email, request.address, attempt, wrongPassword)
  await join(deps, offer, user, null)
  return user
}

async function joinWithNewAccount(deps: AccountDeps, offer: Offer, password: string): Promise<User> {
  assertAccountsOpen(deps.signups)
  if (codePointLength(password) < shortestPassword) throw apiError.invalid(tooShort)
  assertNotGuessable('password', password, offer.invitation.email)
  const isEmailConfirmed = offer.isMailed || !deps.mailer.hasTransport
  const user = { userId: await deps.ids.next(0), email: offer.invitation.email, isEmailConfirmed }
  await join(deps, offer, user, await hashPassword(password))
  if (!isEmailConfirmed) mailConfirmation(deps, user)
  return user
}

const tooShort: FieldProblem = {
  field: 'password',
  code: 'too_short',
  message: `password must be at least ${shortestPassword} characters`,
  params: { min_length: shortestPassword },
}

/** If an invitation is accepted twice at the same time, the second transaction finds it deleted and fails. */
async function join(deps: AccountDeps, offer: Offer, user: User, newHash: string | null): Promise<void> {
  const { orgId, invitation } = offer
  const at = now(deps.clock)
  await deps.quotas.assertRoom(orgId, 'members')
  await deps.db.withTenant(orgId, async (tx) => {
    if (!(await deleteInvitation(tx, orgId, invitation.id))) throw invalidLink()
    if (newHash === null) return addMembership(tx, user.userId, orgId, invitation.role, at)
    await insertUser(tx, { ...user, passwordHash: newHash }, at)
    await insertMembership(tx, user.userId, orgId, invitation.role, at)
  })
}
