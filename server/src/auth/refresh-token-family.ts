import type { Tx } from '../db/database.ts'
import { type Clock, now } from '../kernel/clock.ts'
import { instantFromMillis } from '../kernel/instant.ts'
import { hashSecret, newNonce, newUuid, sameHash, uuidPattern } from '../kernel/secrets.ts'
import {
  type EndReason,
  type RefreshTokenFamily,
  rotateFamily,
  deleteExpiredFamilies,
  insertFamily,
  lockFamily,
  revokeFamily,
} from './refresh-token-families.sql.ts'
import { type AccessTokens, refreshTokenTtlMs } from './tokens.ts'

export interface IssuedRefresh {
  family: RefreshTokenFamily
  token: string
}

interface FamilyDeps {
  clock: Clock
  environment: string
  tokens: Pick<AccessTokens, 'hmacTag'>
}

/**
 * A refresh token contains the ids of its organization and family, so that the lookup reads a single tenant. It also
 * contains an HMAC tag, which distinguishes an issued token from a forged one: only reuse of an issued token revokes the
 * family.
 */
function newToken({ tokens }: FamilyDeps, orgId: number, familyId: string): string {
  const random = newNonce()
  const secret = Buffer.concat([random, tokens.hmacTag(`${familyId} ${random.toString('hex')}`)])
  return `lsr_${orgId.toString(36)}.${familyId}.${secret.toString('base64url')}`
}

function isIssued({ tokens }: FamilyDeps, familyId: string, token: string): boolean {
  const secret = Buffer.from(token.slice(token.lastIndexOf('.') + 1), 'base64url')
  return sameHash(secret.subarray(16), tokens.hmacTag(`${familyId} ${secret.subarray(0, 16).toString('hex')}`))
}

export function readRefreshToken(token: string): { orgId: number; familyId: string } | null {
  const match = /^lsr_([0-9a-z]{1,11})\.([0-9a-f-]{36})\.[\w-]{43}$/.exec(token)
  if (match === null || !uuidPattern.test(match[2]!)) return null
  const orgId = parseInt(match[1]!, 36)
  return Number.isSafeInteger(orgId) ? { orgId, familyId: match[2]! } : null
}

/** Opens a family that expires after 30 days or, if it continues another session, at that session's `expiresAt`. */
export async function openFamily(
  tx: Tx,
  deps: FamilyDeps,
  orgId: number,
  subject: { clientId: string } | { userId: number },
  expiresAt = instantFromMillis(deps.clock.millis() + refreshTokenTtlMs),
): Promise<IssuedRefresh> {
  const { clock, environment } = deps
  const familyId = newUuid()
  const token = newToken(deps, orgId, familyId)
  const family: RefreshTokenFamily = {
    familyId,
    environment,
    clientId: 'clientId' in subject ? subject.clientId : null,
    userId: 'userId' in subject ? subject.userId : null,
    tokenHash: hashSecret(token),
    expiresAt,
    revokedAt: null,
    endReason: null,
  }
  await Promise.all([insertFamily(tx, orgId, family, now(clock)), deleteExpiredFamilies(tx, orgId, now(clock))])
  return { family, token }
}

/** Why the client that presents an issued refresh token has to authenticate again. */
export type RefreshRejection = EndReason | 'expired'

/**
 * The next token; for an issued token of an ended family, the reason, and the family if it was revoked because of reuse; or
 * null for an invalid token.
 */
type RotateResult = IssuedRefresh | { ended: RefreshRejection; reuseDetected?: string } | null

/**
 * Exchanges the family's current token for the next one. A token that is not the current one was used before: the family is
 * then revoked, and the caller must commit the transaction so that the revocation takes effect.
 */
export async function rotate(
  tx: Tx,
  deps: FamilyDeps,
  orgId: number,
  presented: string,
  kind: 'credential' | 'session',
): Promise<RotateResult> {
  const { clock, environment } = deps
  const familyId = readRefreshToken(presented)?.familyId
  if (familyId === undefined || !isIssued(deps, familyId, presented)) return null
  const family = await lockFamily(tx, orgId, familyId)
  if (family === null || family.environment !== environment) return null
  if ((family.clientId === null) !== (kind === 'session')) return null
  if (family.revokedAt !== null) return { ended: family.endReason ?? 'revoked' }
  if (family.expiresAt <= now(clock)) return { ended: 'expired' }
  if (!sameHash(family.tokenHash, hashSecret(presented))) {
    await revokeFamily(tx, orgId, family.familyId, 'revoked', now(clock))
    return { ended: 'revoked', reuseDetected: family.familyId }
  }
  const token = newToken(deps, orgId, family.familyId)
  // A session ends 30 days after its sign-in, however often it is refreshed.
  const expiresAt = kind === 'session' ? family.expiresAt : instantFromMillis(clock.millis() + refreshTokenTtlMs)
  const next = { ...family, tokenHash: hashSecret(token), expiresAt }
  await rotateFamily(tx, orgId, next)
  return { family: next, token }
}
