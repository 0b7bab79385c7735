import type { WindowCounter } from '../admission/window-counter.ts'
import type { Database } from '../db/database.ts'
import { type Clock, now } from '../kernel/clock.ts'
import { hashSecret, sameHash, uuidPattern } from '../kernel/secrets.ts'
import { advance, openChain, readRefreshToken } from './chains.ts'
import { type CredentialState, credentialState, findOrganizationOfClient } from './credentials.sql.ts'
import type { Throttle } from './throttle.ts'
import { type AccessTokens, accessTokenTtlSeconds } from './tokens.ts'

export interface ExchangeNeeds {
  db: Database
  clock: Clock
  environment: string
  tokens: AccessTokens
  throttle: Throttle
  /** Limits the exchanges of one credential. Only those with a right secret or token count. */
  exchanges: WindowCounter
}

export interface TokenPair {
  accessToken: string
  refreshToken: string
  expiresInSeconds: number
}

function isUsable(needs: ExchangeNeeds, state: CredentialState | null): state is CredentialState {
  if (state === null || state.environment !== needs.environment || state.revokedAt !== null) return false
  return state.expiresAt === null || now(needs.clock) < state.expiresAt
}

/** `client_credentials`: the long-lived pair for a short-lived token and the first refresh token of a new chain. */
export function exchangeCredentials(
  needs: ExchangeNeeds,
  given: { clientId: string; clientSecret: string; address: string },
): Promise<TokenPair> {
  const clientId = given.clientId.toLowerCase()
  return needs.throttle.guardToken(
    clientId,
    given.address,
    async () => {
      const orgId = uuidPattern.test(clientId) ? await findOrganizationOfClient(needs.db.read, clientId) : null
      if (orgId === null) return null
      return needs.db.inOrganization(orgId, async (tx) => {
        const state = await credentialState(tx, orgId, clientId)
        if (!isUsable(needs, state) || !sameHash(state.secretHash, hashSecret(given.clientSecret))) return null
        needs.exchanges.consume(clientId)
        const { chain, token } = await openChain(tx, needs, orgId, { clientId })
        return credentialPair(needs, orgId, clientId, state, chain.chainId, token)
      })
    },
    'Invalid client credentials',
  )
}

/** `refresh_token`: no secret needed, the token itself is the proof, once. */
export function exchangeRefresh(needs: ExchangeNeeds, given: { token: string; address: string }): Promise<TokenPair> {
  return needs.throttle.guardToken(
    null,
    given.address,
    async () => {
      const orgId = readRefreshToken(given.token)?.orgId
      if (orgId === undefined) return null
      return needs.db.inOrganization(orgId, async (tx) => {
        const issued = await advance(tx, needs, orgId, given.token, 'credential')
        if (issued === null || 'fallen' in issued || issued.chain.clientId === null) return null
        const { clientId, chainId } = issued.chain
        const state = await credentialState(tx, orgId, clientId)
        if (!isUsable(needs, state)) return null
        // A rejection rolls back, so that the refresh token stays good.
        needs.exchanges.consume(clientId)
        return credentialPair(needs, orgId, clientId, state, chainId, issued.token)
      })
    },
    'Invalid or expired refresh token',
  )
}

async function credentialPair(
  needs: ExchangeNeeds,
  orgId: number,
  clientId: string,
  state: CredentialState,
  chainId: string,
  refreshToken: string,
): Promise<TokenPair> {
  const scope = state.scopes.join(' ')
  const accessToken = await needs.tokens.issue({ kind: 'credential', sub: clientId, org: orgId, scope, sid: chainId })
  return { accessToken, refreshToken, expiresInSeconds: accessTokenTtlSeconds }
}
