import type { Wake } from '../db/wake.ts'
import { now } from '../kernel/clock.ts'
import { type Refusal, refuse } from '../kernel/errors.ts'
import type { QuotaCheck } from '../kernel/quota.ts'
import { roleScopes } from '../kernel/scopes.ts'
import type { IdSource } from '../db/id-source.ts'
import { verifyPassword } from '../users/password.ts'
import { type Membership, type User, foldEmail } from '../users/user.ts'
import { findPasswordHash, findUser, findUserByEmail, membershipsOf } from '../users/users.sql.ts'
import { advance, openChain, readRefreshToken } from './chains.ts'
import { announceRevoked } from './commands.ts'
import type { ExchangeNeeds, TokenPair } from './exchange.ts'
import { deleteOldestChains, revokeChain, revokeChainsOf } from './refresh-chains.sql.ts'
import { accessTokenTtlSeconds } from './tokens.ts'

export interface SessionNeeds extends ExchangeNeeds {
  ids: IdSource
  quotas: QuotaCheck
  wake: Pick<Wake, 'announce'>
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
  needs: SessionNeeds,
  given: { email: string; password: string; address: string },
): Promise<SignedIn> {
  const email = foldEmail(given.email)
  const attempt = async (): Promise<SignedIn | null> => {
    const found = await findUserByEmail(needs.db.read, email)
    if (!(await verifyPassword(found?.passwordHash ?? null, given.password)) || found === null) return null
    const user = { userId: found.userId, email: found.email }
    const memberships = await membershipsOf(needs.db.read, user.userId)
    const [membership] = memberships
    if (membership === undefined) return null
    const signedIn = await openSession(needs, user, membership, memberships)
    // A password changed during the check has ended every session but this one.
    if ((await findPasswordHash(needs.db.read, user.userId)) === found.passwordHash) return signedIn
    await logout(needs, membership.orgId, readRefreshToken(signedIn.pair.refreshToken)!.chainId)
    return null
  }
  const refusal = (): Refusal => refuse.unauthorized('Invalid e-mail address or password')
  return needs.throttle.guardAccount(email, given.address, attempt, refusal)
}

/** The oldest sessions of the person in the organization end when there are more than 50. */
export async function openSession(
  needs: SessionNeeds,
  user: User,
  membership: Membership,
  memberships: Membership[],
): Promise<SignedIn> {
  const { orgId } = membership
  const { userId } = user
  const { issued, ended } = await needs.db.inOrganization(orgId, async (tx) => {
    const issued = await openChain(tx, needs, orgId, { userId })
    return { issued, ended: await deleteOldestChains(tx, orgId, userId, issued.chain.chainId, maxSessions - 1) }
  })
  if (ended.length > 0) await announceRevoked(needs.wake, ended)
  const pair = await sessionPair(needs, user.userId, membership, issued.chain.chainId, issued.token)
  return { pair, user, membership, memberships }
}

export function refreshSession(needs: SessionNeeds, given: { token: string; address: string }): Promise<SignedIn> {
  const attempt = async (): Promise<SignedIn | null> => {
    const orgId = readRefreshToken(given.token)?.orgId
    if (orgId === undefined) return null
    const issued = await needs.db.inOrganization(orgId, (tx) => advance(tx, needs, orgId, given.token, 'session'))
    if (issued !== null && 'fallen' in issued) {
      await announceRevoked(needs.wake, [issued.fallen])
      return null
    }
    if (issued === null || issued.chain.userId === null) return null
    const { userId, chainId } = issued.chain
    const user = await findUser(needs.db.read, userId)
    const memberships = await membershipsOf(needs.db.read, userId)
    const membership = memberships.find((one) => one.orgId === orgId)
    if (user === null || membership === undefined) return null
    const pair = await sessionPair(needs, userId, membership, chainId, issued.token)
    return { pair, user, membership, memberships }
  }
  const refusal = (): Refusal => refuse.unauthorized('Invalid or expired refresh token')
  return needs.throttle.guardAccount(null, given.address, attempt, refusal)
}

/** Ends this session for good: its refresh token and the access tokens made from it. False when it had ended before. */
export async function logout(needs: SessionNeeds, orgId: number, sessionId: string): Promise<boolean> {
  const hasEnded = await needs.db.inOrganization(orgId, (tx) => revokeChain(tx, orgId, sessionId, now(needs.clock)))
  await announceRevoked(needs.wake, [sessionId])
  return hasEnded
}

/** Ends a person's sessions in every organization, all but one when it is named. */
export async function endSessions(
  needs: Pick<SessionNeeds, 'db' | 'clock' | 'wake'>,
  userId: number,
  except: string | null = null,
): Promise<void> {
  const at = now(needs.clock)
  for (const { orgId } of await membershipsOf(needs.db.read, userId)) {
    const ended = await needs.db.inOrganization(orgId, (tx) => revokeChainsOf(tx, orgId, userId, except, at))
    await announceRevoked(needs.wake, ended)
  }
}

/** Who a session is, as signing in tells it. */
export async function whoIs(needs: SessionNeeds, orgId: number, userId: number): Promise<Omit<SignedIn, 'pair'>> {
  const user = await findUser(needs.db.read, userId)
  const memberships = await membershipsOf(needs.db.read, userId)
  const membership = memberships.find((one) => one.orgId === orgId)
  if (user === null || membership === undefined) throw refuse.unauthorized('Invalid or expired token')
  return { user, membership, memberships }
}

/** A new session in another organization of the same person; the old one ends. */
export async function switchOrganization(
  needs: SessionNeeds,
  current: { orgId: number; sessionId: string; userId: number },
  targetOrgId: number,
): Promise<SignedIn> {
  const user = await findUser(needs.db.read, current.userId)
  const memberships = await membershipsOf(needs.db.read, current.userId)
  const membership = memberships.find((one) => one.orgId === targetOrgId)
  if (user === null || membership === undefined) throw refuse.forbidden('You are not a member of this organization')
  const signedIn = await openSession(needs, user, membership, memberships)
  if (await logout(needs, current.orgId, current.sessionId)) return signedIn
  // Ended from elsewhere at this very moment: what came out of it ends too.
  await logout(needs, targetOrgId, readRefreshToken(signedIn.pair.refreshToken)!.chainId)
  throw refuse.unauthorized('Invalid or expired token')
}

async function sessionPair(
  needs: SessionNeeds,
  userId: number,
  membership: Membership,
  chainId: string,
  refreshToken: string,
): Promise<TokenPair> {
  const scope = roleScopes[membership.role].join(' ')
  const holder = { kind: 'session', sub: String(userId), org: membership.orgId, scope, sid: chainId } as const
  return { accessToken: await needs.tokens.issue(holder), refreshToken, expiresInSeconds: accessTokenTtlSeconds }
}
