import type { Tx } from '../db/database.ts'
import { type Clock, now } from '../kernel/clock.ts'
import { instantFromMillis } from '../kernel/instant.ts'
import { hashSecret, newNonce, newUuid, sameHash, uuidPattern } from '../kernel/secrets.ts'
import {
  type RefreshTokenFamily,
  rotateFamily,
  deleteExpiredFamilies,
  insertFamily,
  lockFamily,
  revokeFamily,
} from './refresh-token-families.sql.ts'
import { type AccessTokens, refreshTokenTtlMs } from './tokens.ts'

export interface IssuedRefresh {
  chain: RefreshTokenFamily
  token: string
}

interface ChainDeps {
  clock: Clock
  environment: string
  tokens: Pick<AccessTokens, 'hmacTag'>
}

/**
 * A refresh token names its organization and chain, so that it is looked up where it lives. It carries a stamp, so that
 * one that was used before can be told from one that was never issued: only the former may bring the chain down.
 */
function newToken({ tokens }: ChainDeps, orgId: number, chainId: string): string {
  const random = newNonce()
  const secret = Buffer.concat([random, tokens.hmacTag(`${chainId} ${random.toString('hex')}`)])
  return `lsr_${orgId.toString(36)}.${chainId}.${secret.toString('base64url')}`
}

function isIssued({ tokens }: ChainDeps, chainId: string, token: string): boolean {
  const secret = Buffer.from(token.slice(token.lastIndexOf('.') + 1), 'base64url')
  return sameHash(secret.subarray(16), tokens.hmacTag(`${chainId} ${secret.subarray(0, 16).toString('hex')}`))
}

export function readRefreshToken(token: string): { orgId: number; chainId: string } | null {
  const match = /^lsr_([0-9a-z]{1,11})\.([0-9a-f-]{36})\.[\w-]{43}$/.exec(token)
  if (match === null || !uuidPattern.test(match[2]!)) return null
  const orgId = parseInt(match[1]!, 36)
  return Number.isSafeInteger(orgId) ? { orgId, chainId: match[2]! } : null
}

export async function openFamily(
  tx: Tx,
  deps: ChainDeps,
  orgId: number,
  holder: { clientId: string } | { userId: number },
): Promise<IssuedRefresh> {
  const { clock, environment } = deps
  const chainId = newUuid()
  const token = newToken(deps, orgId, chainId)
  const chain: RefreshTokenFamily = {
    chainId,
    environment,
    clientId: 'clientId' in holder ? holder.clientId : null,
    userId: 'userId' in holder ? holder.userId : null,
    tokenHash: hashSecret(token),
    expiresAt: instantFromMillis(clock.millis() + refreshTokenTtlMs),
    revokedAt: null,
  }
  await Promise.all([insertFamily(tx, orgId, chain, now(clock)), deleteExpiredFamilies(tx, orgId, now(clock))])
  return { chain, token }
}

/** What became of a token that was presented: the next one, a chain that falls with it, or nothing. */
type Advanced = IssuedRefresh | { reuseDetected: string } | null

/**
 * Trades the chain's current token for the next one. A token that is no longer the current one was used before: the
 * whole chain falls, and the caller must let the transaction commit so that it stays fallen.
 */
export async function rotate(
  tx: Tx,
  deps: ChainDeps,
  orgId: number,
  presented: string,
  kind: 'credential' | 'session',
): Promise<Advanced> {
  const { clock, environment } = deps
  const chainId = readRefreshToken(presented)?.chainId
  if (chainId === undefined || !isIssued(deps, chainId, presented)) return null
  const chain = await lockFamily(tx, orgId, chainId)
  if (chain === null || chain.environment !== environment || chain.revokedAt !== null) return null
  if (chain.expiresAt <= now(clock) || (chain.clientId === null) !== (kind === 'session')) return null
  if (!sameHash(chain.tokenHash, hashSecret(presented))) {
    await revokeFamily(tx, orgId, chain.chainId, now(clock))
    return { reuseDetected: chain.chainId }
  }
  const token = newToken(deps, orgId, chain.chainId)
  // A session ends 30 days after its sign-in, however often it is refreshed.
  const expiresAt = kind === 'session' ? chain.expiresAt : instantFromMillis(clock.millis() + refreshTokenTtlMs)
  const next = { ...chain, tokenHash: hashSecret(token), expiresAt }
  await rotateFamily(tx, orgId, next)
  return { chain: next, token }
}
