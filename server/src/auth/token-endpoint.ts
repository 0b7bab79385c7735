import type { WindowCounter } from '../admission/window-counter.ts'
import type { Database } from '../db/database.ts'
import { type Clock, now } from '../kernel/clock.ts'
import { hashSecret, sameHash, uuidPattern } from '../kernel/secrets.ts'
import type { FamilyLimit } from './family-limit.ts'
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
  /** Limits the exchanges per credential. Only exchanges with a valid secret or token count. */
  exchanges: WindowCounter
  familyLimit: FamilyLimit
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

/** `client_credentials`: exchanges the client id and secret for an access token and the refresh token of a new family. */
export function exchangeCredentials(
  deps: TokenEndpointDeps,
  request: { clientId: string; clientSecret: string; address: string },
): Promise<TokenPair> {
  const clientId = request.clientId.toLowerCase()
  return deps.throttle.guardToken(
    clientId,
    request.address,
    async () => {
      const orgId = uuidPattern.test(clientId) ? await findOrganizationOfClient(deps.db.read, clientId) : null
      if (orgId === null) return null
      return deps.db.withTenant(orgId, async (tx) => {
        const state = await credentialState(tx, orgId, clientId)
        if (!isUsable(deps, state) || !sameHash(state.secretHash, hashSecret(request.clientSecret))) return null
        deps.exchanges.consume(clientId)
        const { family, token } = await openFamily(tx, deps, orgId, { clientId })
        await deps.familyLimit.apply(tx, orgId, clientId)
        return credentialPair(deps, orgId, clientId, state, family.familyId, token)
      })
    },
    'Invalid client credentials',
  )
}

/** `refresh_token`: exchanges a refresh token, which can be used once, for a new pair. */
export function exchangeRefresh(
  deps: TokenEndpointDeps,
  request: { token: string; address: string },
): Promise<TokenPair> {
  return deps.throttle.guardToken(
    null,
    request.address,
    async () => {
      const orgId = readRefreshToken(request.token)?.orgId
      if (orgId === undefined) return null
      return deps.db.withTenant(orgId, async (tx) => {
        const issued = await rotate(tx, deps, orgId, request.token, 'credential')
        if (issued === null || 'ended' in issued || issued.family.clientId === null) return null
        const { clientId, familyId } = issued.family
        const state = await credentialState(tx, orgId, clientId)
        if (!isUsable(deps, state)) return null
        // If the limit rejects the exchange, the transaction is rolled back and the refresh token stays valid.
        deps.exchanges.consume(clientId)
        return credentialPair(deps, orgId, clientId, state, familyId, issued.token)
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
  familyId: string,
  refreshToken: string,
): Promise<TokenPair> {
  const scope = state.scopes.join(' ')
  const accessToken = await deps.tokens.issue({ kind: 'credential', sub: clientId, org: orgId, scope, sid: familyId })
  return { accessToken, refreshToken, expiresInSeconds: accessTokenTtlSeconds }
}
