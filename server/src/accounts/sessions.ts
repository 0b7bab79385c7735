import type { PubSub } from '../db/pubsub.ts'
import { now } from '../kernel/clock.ts'
import { type ApiError, apiError } from '../kernel/errors.ts'
import type { Instant } from '../kernel/instant.ts'
import type { QuotaCheck } from '../kernel/quota.ts'
import { roleScopes } from '../kernel/scopes.ts'
import type { IdGenerator } from '../db/id-generator.ts'
import { verifyPassword } from '../users/password.ts'
import { type Membership, type User, foldEmail } from '../users/user.ts'
import { findPasswordHash, findUser, findUserByEmail, membershipsOf } from '../users/users.sql.ts'
import { type RefreshRejection, openFamily, readRefreshToken, rotate } from '../auth/refresh-token-family.ts'
import { publishRevocations } from '../auth/commands.ts'
import type { TokenEndpointDeps, TokenPair } from '../auth/token-endpoint.ts'
import {
  type EndReason,
  deleteOldestFamilies,
  liveSession,
  revokeFamiliesOf,
  revokeFamily,
} from '../auth/refresh-token-families.sql.ts'
import { accessTokenTtlSeconds } from '../auth/tokens.ts'

export interface SessionDeps extends TokenEndpointDeps {
  ids: IdGenerator
  quotas: QuotaCheck
  pubsub: Pick<PubSub, 'publishAndWait'>
}

/** Sessions per user and organization. */
const maxSessions = 50

export interface SignedIn {
  pair: TokenPair
  user: User
  membership: Membership
  memberships: Membership[]
}

/** Signs in to the organization that the user joined first. */
export function login(
  deps: SessionDeps,
  request: { email: string; password: string; address: string },
): Promise<SignedIn> {
  const email = foldEmail(request.email)
  const attempt = async (): Promise<SignedIn | null> => {
    const account = await findUserByEmail(deps.db.read, email)
    if (!(await verifyPassword(account?.passwordHash ?? null, request.password)) || account === null) return null
    const { passwordHash, ...user } = account
    const memberships = await membershipsOf(deps.db.read, user.userId)
    const [membership] = memberships
    if (membership === undefined) return null
    const signedIn = await openSession(deps, user, membership, memberships)
    // If the password was changed during this sign-in, the change has ended all other sessions; this one must end, too.
    if ((await findPasswordHash(deps.db.read, user.userId)) === passwordHash) return signedIn
    await logout(deps, membership.orgId, readRefreshToken(signedIn.pair.refreshToken)!.familyId)
    return null
  }
  const unauthorized = (): ApiError => apiError.unauthorized('Invalid e-mail address or password')
  return deps.throttle.guardAccount(email, request.address, attempt, unauthorized)
}

/**
 * Opens a session, which ends at `expiresAt` or, without it, after 30 days. A user with more than 50 sessions in the
 * organization loses the oldest ones.
 */
export async function openSession(
  deps: SessionDeps,
  user: User,
  membership: Membership,
  memberships: Membership[],
  expiresAt?: Instant,
): Promise<SignedIn> {
  const { orgId } = membership
  const { userId } = user
  const { issued, ended } = await deps.db.withTenant(orgId, async (tx) => {
    const issued = await openFamily(tx, deps, orgId, { userId }, expiresAt)
    return { issued, ended: await deleteOldestFamilies(tx, orgId, userId, issued.family.familyId, maxSessions - 1) }
  })
  if (ended.length > 0) await publishRevocations(deps.pubsub, ended)
  const pair = await sessionPair(deps, user.userId, membership, issued.family.familyId, issued.token)
  return { pair, user, membership, memberships }
}

/** Shown to the user. Only a client that presents a token issued by this server learns the reason. */
const rejectionDetails: Record<RefreshRejection, string> = {
  expired: 'The session expired',
  signed_out: 'You signed out',
  password_changed: 'Your password was changed',
  revoked: 'The session was ended',
}

export function refreshSession(deps: SessionDeps, request: { token: string; address: string }): Promise<SignedIn> {
  // A sign-in deletes the rows of the user's ended sessions, and with them the reason.
  let detail = 'The session expired or was ended'
  const attempt = async (): Promise<SignedIn | null> => {
    const orgId = readRefreshToken(request.token)?.orgId
    if (orgId === undefined) return null
    const issued = await deps.db.withTenant(orgId, (tx) => rotate(tx, deps, orgId, request.token, 'session'))
    if (issued !== null && 'ended' in issued) {
      detail = rejectionDetails[issued.ended]
      if (issued.reuseDetected !== undefined) await publishRevocations(deps.pubsub, [issued.reuseDetected])
      return null
    }
    if (issued === null || issued.family.userId === null) return null
    const { userId, familyId } = issued.family
    const user = await findUser(deps.db.read, userId)
    const memberships = await membershipsOf(deps.db.read, userId)
    const membership = memberships.find((one) => one.orgId === orgId)
    if (user === null || membership === undefined) return null
    const pair = await sessionPair(deps, userId, membership, familyId, issued.token)
    return { pair, user, membership, memberships }
  }
  const unauthorized = (): ApiError => apiError.unauthorized(detail)
  return deps.throttle.guardAccount(null, request.address, attempt, unauthorized)
}

/** Revokes the session's refresh token and its access tokens. Returns false if the session had already ended. */
export async function logout(deps: SessionDeps, orgId: number, sessionId: string): Promise<boolean> {
  const hasEnded = await deps.db.withTenant(orgId, (tx) =>
    revokeFamily(tx, orgId, sessionId, 'signed_out', now(deps.clock)),
  )
  await publishRevocations(deps.pubsub, [sessionId])
  return hasEnded
}

/** Ends the user's sessions in every organization, except the session `keptSessionId`. */
export async function endSessions(
  deps: Pick<SessionDeps, 'db' | 'clock' | 'pubsub'>,
  userId: number,
  reason: EndReason,
  keptSessionId: string | null = null,
): Promise<void> {
  const at = now(deps.clock)
  for (const { orgId } of await membershipsOf(deps.db.read, userId)) {
    const ended = await deps.db.withTenant(orgId, (tx) =>
      revokeFamiliesOf(tx, orgId, userId, reason, at, keptSessionId),
    )
    await publishRevocations(deps.pubsub, ended)
  }
}

/** Returns the user and memberships of a session, like a sign-in. */
export async function whoIs(deps: SessionDeps, orgId: number, userId: number): Promise<Omit<SignedIn, 'pair'>> {
  const user = await findUser(deps.db.read, userId)
  const memberships = await membershipsOf(deps.db.read, userId)
  const membership = memberships.find((one) => one.orgId === orgId)
  if (user === null || membership === undefined) throw apiError.unauthorized('Invalid or expired token')
  return { user, membership, memberships }
}

/**
 * Opens a session in an organization of the user and ends the current session. The new session ends when the current one
 * would have ended: 30 days after signing in.
 */
export async function switchOrganization(
  deps: SessionDeps,
  current: { orgId: number; sessionId: string; userId: number },
  targetOrgId: number,
): Promise<SignedIn> {
  const user = await findUser(deps.db.read, current.userId)
  const memberships = await membershipsOf(deps.db.read, current.userId)
  const membership = memberships.find((one) => one.orgId === targetOrgId)
  if (user === null || membership === undefined) throw apiError.forbidden('You are not a member of this organization')
  const session = await liveSession(deps.db.read, current.orgId, current.sessionId, now(deps.clock))
  if (session === null) throw apiError.unauthorized('Invalid or expired token')
  const signedIn = await openSession(deps, user, membership, memberships, session.expiresAt)
  if (await logout(deps, current.orgId, current.sessionId)) return signedIn
  // The current session was ended concurrently by another request, so the new session must end, too.
  await logout(deps, targetOrgId, readRefreshToken(signedIn.pair.refreshToken)!.familyId)
  throw apiError.unauthorized('Invalid or expired token')
}

async function sessionPair(
  deps: SessionDeps,
  userId: number,
  membership: Membership,
  familyId: string,
  refreshToken: string,
): Promise<TokenPair> {
  const scope = roleScopes[membership.role].join(' ')
  const subject = { kind: 'session', sub: String(userId), org: membership.orgId, scope, sid: familyId } as const
  return { accessToken: await deps.tokens.issue(subject), refreshToken, expiresInSeconds: accessTokenTtlSeconds }
}
