import type { PubSub } from '../db/pubsub.ts'
import { now } from '../kernel/clock.ts'
import { type ApiError, apiError } from '../kernel/errors.ts'
import type { QuotaCheck } from '../kernel/quota.ts'
import { roleScopes } from '../kernel/scopes.ts'
import type { IdGenerator } from '../db/id-generator.ts'
import { verifyPassword } from '../users/password.ts'
import { type Membership, type User, foldEmail } from '../users/user.ts'
import { findPasswordHash, findUser, findUserByEmail, membershipsOf } from '../users/users.sql.ts'
import { rotate, openFamily, readRefreshToken } from '../auth/refresh-token-family.ts'
import { announceRevoked } from '../auth/commands.ts'
import type { TokenEndpointDeps, TokenPair } from '../auth/token-endpoint.ts'
import { deleteOldestFamilies, revokeFamily, revokeFamiliesOf } from '../auth/refresh-token-families.sql.ts'
import { accessTokenTtlSeconds } from '../auth/tokens.ts'

export interface SessionDeps extends TokenEndpointDeps {
  ids: IdGenerator
  quotas: QuotaCheck
  pubsub: Pick<PubSub, 'publishAndWait'>
}

/** Sessions of one person in one organization. */
const maxSessions = 50

export interface SignedIn {
  pair: TokenPair
  user: User
  membership: Membership
  memberships: Membership[]
}

/** Signs in to the organization the person joined first. */
export function login(
  deps: SessionDeps,
  given: { email: string; password: string; address: string },
): Promise<SignedIn> {
  const email = foldEmail(given.email)
  const attempt = async (): Promise<SignedIn | null> => {
    const found = await findUserByEmail(deps.db.read, email)
    if (!(await verifyPassword(found?.passwordHash ?? null, given.password)) || found === null) return null
    const user = { userId: found.userId, email: found.email }
    const memberships = await membershipsOf(deps.db.read, user.userId)
    const [membership] = memberships
    if (membership === undefined) return null
    const signedIn = await openSession(deps, user, membership, memberships)
    // A password changed during the check has ended every session but this one.
    if ((await findPasswordHash(deps.db.read, user.userId)) === found.passwordHash) return signedIn
    await logout(deps, membership.orgId, readRefreshToken(signedIn.pair.refreshToken)!.chainId)
    return null
  }
  const refusal = (): ApiError => apiError.unauthorized('Invalid e-mail address or password')
  return deps.throttle.guardAccount(email, given.address, attempt, refusal)
}

/** The oldest sessions of the person in the organization end when there are more than 50. */
export async function openSession(
  deps: SessionDeps,
  user: User,
  membership: Membership,
  memberships: Membership[],
): Promise<SignedIn> {
  const { orgId } = membership
  const { userId } = user
  const { issued, ended } = await deps.db.withTenant(orgId, async (tx) => {
    const issued = await openFamily(tx, deps, orgId, { userId })
    return { issued, ended: await deleteOldestFamilies(tx, orgId, userId, issued.chain.chainId, maxSessions - 1) }
  })
  if (ended.length > 0) await announceRevoked(deps.pubsub, ended)
  const pair = await sessionPair(deps, user.userId, membership, issued.chain.chainId, issued.token)
  return { pair, user, membership, memberships }
}

export function refreshSession(deps: SessionDeps, given: { token: string; address: string }): Promise<SignedIn> {
  const attempt = async (): Promise<SignedIn | null> => {
    const orgId = readRefreshToken(given.token)?.orgId
    if (orgId === undefined) return null
    const issued = await deps.db.withTenant(orgId, (tx) => rotate(tx, deps, orgId, given.token, 'session'))
    if (issued !== null && 'reuseDetected' in issued) {
      await announceRevoked(deps.pubsub, [issued.reuseDetected])
      return null
    }
    if (issued === null || issued.chain.userId === null) return null
    const { userId, chainId } = issued.chain
    const user = await findUser(deps.db.read, userId)
    const memberships = await membershipsOf(deps.db.read, userId)
    const membership = memberships.find((one) => one.orgId === orgId)
    if (user === null || membership === undefined) return null
    const pair = await sessionPair(deps, userId, membership, chainId, issued.token)
    return { pair, user, membership, memberships }
  }
  const refusal = (): ApiError => apiError.unauthorized('Invalid or expired refresh token')
  return deps.throttle.guardAccount(null, given.address, attempt, refusal)
}

/** Ends this session for good: its refresh token and the access tokens made from it. False when it had ended before. */
export async function logout(deps: SessionDeps, orgId: number, sessionId: string): Promise<boolean> {
  const hasEnded = await deps.db.withTenant(orgId, (tx) => revokeFamily(tx, orgId, sessionId, now(deps.clock)))
  await announceRevoked(deps.pubsub, [sessionId])
  return hasEnded
}

/** Ends a person's sessions in every organization, all but one when it is named. */
export async function endSessions(
  deps: Pick<SessionDeps, 'db' | 'clock' | 'pubsub'>,
  userId: number,
  except: string | null = null,
): Promise<void> {
  const at = now(deps.clock)
  for (const { orgId } of await membershipsOf(deps.db.read, userId)) {
    const ended = await deps.db.withTenant(orgId, (tx) => revokeFamiliesOf(tx, orgId, userId, except, at))
    await announceRevoked(deps.pubsub, ended)
  }
}

/** Who a session is, as signing in tells it. */
export async function whoIs(deps: SessionDeps, orgId: number, userId: number): Promise<Omit<SignedIn, 'pair'>> {
  const user = await findUser(deps.db.read, userId)
  const memberships = await membershipsOf(deps.db.read, userId)
  const membership = memberships.find((one) => one.orgId === orgId)
  if (user === null || membership === undefined) throw apiError.unauthorized('Invalid or expired token')
  return { user, membership, memberships }
}

/** A new session in another organization of the same person; the old one ends. */
export async function switchOrganization(
  deps: SessionDeps,
  current: { orgId: number; sessionId: string; userId: number },
  targetOrgId: number,
): Promise<SignedIn> {
  const user = await findUser(deps.db.read, current.userId)
  const memberships = await membershipsOf(deps.db.read, current.userId)
  const membership = memberships.find((one) => one.orgId === targetOrgId)
  if (user === null || membership === undefined) throw apiError.forbidden('You are not a member of this organization')
  const signedIn = await openSession(deps, user, membership, memberships)
  if (await logout(deps, current.orgId, current.sessionId)) return signedIn
  // Ended from elsewhere at this very moment: what came out of it ends too.
  await logout(deps, targetOrgId, readRefreshToken(signedIn.pair.refreshToken)!.chainId)
  throw apiError.unauthorized('Invalid or expired token')
}

async function sessionPair(
  deps: SessionDeps,
  userId: number,
  membership: Membership,
  chainId: string,
  refreshToken: string,
): Promise<TokenPair> {
  const scope = roleScopes[membership.role].join(' ')
  const holder = { kind: 'session', sub: String(userId), org: membership.orgId, scope, sid: chainId } as const
  return { accessToken: await deps.tokens.issue(holder), refreshToken, expiresInSeconds: accessTokenTtlSeconds }
}
