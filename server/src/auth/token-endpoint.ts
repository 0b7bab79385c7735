import type { WindowCounter } from '../admission/window-counter.ts'
import type { Database } from '../db/database.ts'
import { type Clock, now } from '../kernel/clock.ts'
import { hashSecret, sameHash, uuidPattern } from '../kernel/secrets.ts'
import { rotate, openFamily, readRefreshToken } from './refresh-token-family.ts'
import { type CredentialState, credentialState, findOrganizationOfClient } from './credentials.sql.ts'
import type { LoginThrottle } from './login-throttle.ts'
import { type AccessTokens, accessTokenTtlSeconds } from './tokens.ts'

export interface TokenEndpointDeps {
  db: Database
  clock: Clock
  environment: string
  tokens: AccessTokens
  throttle: LoginThrottle
  /** Limits the exchanges of one credential. Only those with a right secret or token count. */
  exchanges: WindowCounter
}

export interface TokenPair {
  accessToken: string
  refreshToken: string
  expiresInSeconds: number
}

function isUsable(deps: TokenEndpointDeps, state: CredentialState | null): state is CredentialState {
  if (state === null || state.environment !== deps.environment || state.revokedAt !== null) return false
  return state.expiresAt === null || now(deps.clock) < state.expiresAt
}

/** `client_credentials`: the long-lived pair for a short-lived token and the first refresh token of a new chain. */
export function exchangeCredentials(
  deps: TokenEndpointDeps,
  given: { clientId: string; clientSecret: string; address: string },
): Promise<TokenPair> {
  const clientId = given.clientId.toLowerCase()
  return deps.throttle.guardToken(
    clientId,
    given.address,
    async () => {
      const orgId = uuidPattern.test(clientId) ? await findOrganizationOfClient(deps.db.read, clientId) : null
      if (orgId === null) return null
      return deps.db.withTenant(orgId, async (tx) => {
        const state = await credentialState(tx, orgId, clientId)
        if (!isUsable(deps, state) || !sameHash(state.secretHash, hashSecret(given.clientSecret))) return null
        deps.exchanges.consume(clientId)
        const { chain, token } = await openFamily(tx, deps, orgId, { clientId })
        return credentialPair(deps, orgId, clientId, state, chain.chainId, token)
      })
    },
    'Invalid client credentials',
  )
}

/** `refresh_token`: no secret needed, the token itself is the proof, once. */
export function exchangeRefresh(
  deps: TokenEndpointDeps,
  given: { token: string; address: string },
): Promise<TokenPair> {
  return deps.throttle.guardToken(
    null,
    given.address,
    async () => {
      const orgId = readRefreshToken(given.token)?.orgId
      if (orgId === undefined) return null
      return deps.db.withTenant(orgId, async (tx) => {
        const issued = await rotate(tx, deps, orgId, given.token, 'credential')
        if (issued === null || 'reuseDetected' in issued || issued.chain.clientId === null) return null
        const { clientId, chainId } = issued.chain
        const state = await credentialState(tx, orgId, clientId)
        if (!isUsable(deps, state)) return null
        // A rejection rolls back, so that the refresh token stays good.
        deps.exchanges.consume(clientId)
        return credentialPair(deps, orgId, clientId, state, chainId, issued.token)
      })
    },
    'Invalid or expired refresh token',
  )
}

async function credentialPair(
  deps: TokenEndpointDeps,
  orgId: number,
  clientId: string,
  state: CredentialState,
  chainId: string,
  refreshToken: string,
): Promise<TokenPair> {
  const scope = state.scopes.join(' ')
  const accessToken = await deps.tokens.issue({ kind: 'credential', sub: clientId, org: orgId, scope, sid: chainId })
  return { accessToken, refreshToken, expiresInSeconds: accessTokenTtlSeconds }
}
