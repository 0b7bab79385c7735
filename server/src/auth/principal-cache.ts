import { LRUCache } from 'lru-cache'
import type { Database } from '../db/database.ts'
import type { PubSub } from '../db/pubsub.ts'
import type { Authenticator, Principal } from '../http/principal.ts'
import { type Clock, now } from '../kernel/clock.ts'
import { millisOf } from '../kernel/instant.ts'
import { grantedScopes, roleScopes } from '../kernel/scopes.ts'
import { membershipsOf } from '../users/users.sql.ts'
import { credentialState } from './credentials.sql.ts'
import type { LastUsedRecorder } from './last-used-recorder.ts'
import { liveSession } from './refresh-token-families.sql.ts'
import type { AccessTokens, Claims } from './tokens.ts'

interface Deps {
  db: Database
  clock: Clock
  environment: string
  tokens: AccessTokens
  /** While this process receives no revocation events, nothing is cached. */
  pubsub: Pick<PubSub, 'isConnected'>
  lastUsed: LastUsedRecorder
}

interface CachedPrincipal {
  principal: Principal | null
  expiresAtMs: number
  loadedAtMs: number
}

const cacheTtlMs = 60_000

/** The credential or session to which a token was issued. */
type TokenSubject = Pick<Claims, 'kind' | 'org' | 'sub' | 'sid'>

/** The key for revocation: a credential with all of its tokens, or a single session. */
const keyOf = ({ kind, sub, sid }: TokenSubject): string => (kind === 'credential' ? sub : sid)

/**
 * Authenticates access tokens. Principals are cached while this process receives revocation events, so that most requests
 * need no query and a revoked credential is still rejected at once.
 */
export class PrincipalCache implements Authenticator {
  readonly #deps: Deps
  readonly #cache = new LRUCache<string, CachedPrincipal>({ max: 20_000 })
  readonly #loading = new Map<string, Promise<CachedPrincipal>>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  async authenticate(token: string): Promise<Principal | null> {
    const claims = await this.#deps.tokens.check(token)
    if (claims === null) return null
    const entry = this.#cache.get(keyOf(claims))
    const cached = entry !== undefined && this.#isFresh(entry) ? entry : await this.#load(claims)
    const principal = this.#admit(cached)
    if (principal === null) return null
    const expiresAtMs = Math.min(claims.exp * 1000, cached.expiresAtMs)
    return { ...principal, kid: claims.kid, expiresAtMs, credentialExpiresAtMs: cached.expiresAtMs }
  }

  /** True if an already authenticated principal would still be authenticated with the same scopes. */
  async isCurrent(principal: Principal): Promise<boolean> {
    const { kind, orgId: org, subject: sub, sessionId: sid, kid } = principal
    if (!this.#deps.tokens.hasKey(kid)) return false
    const claims = { kind, org, sub, sid }
    const entry = this.#cache.get(keyOf(claims))
    const cached = entry !== undefined && this.#isFresh(entry) ? entry : await this.#load(claims)
    const isSameScope = cached.principal?.namedScopes.join() === principal.namedScopes.join()
    return isSameScope && this.#deps.clock.millis() < cached.expiresAtMs
  }

  /** Removes a credential or session that was revoked or changed. */
  invalidate(key: string): void {
    this.#cache.delete(key)
    this.#loading.delete(key)
  }

  invalidateAll(): void {
    this.#cache.clear()
    this.#loading.clear()
  }

  #isFresh(cached: CachedPrincipal): boolean {
    return this.#deps.pubsub.isConnected() && this.#deps.clock.millis() - cached.loadedAtMs < cacheTtlMs
  }

  #admit({ principal, expiresAtMs }: CachedPrincipal): Principal | null {
    if (principal === null || this.#deps.clock.millis() >= expiresAtMs) return null
    this.#deps.lastUsed.note(principal)
    return principal
  }

  #load(claims: TokenSubject): Promise<CachedPrincipal> {
    const key = keyOf(claims)
    const running = this.#loading.get(key)
    if (running !== undefined) return running
    const loading = this.#query(claims).then((principal) => {
      // A revocation event during the query has removed the entry, because the result may be out of date.
      if (this.#loading.get(key) === loading) this.#cache.set(key, principal)
      return principal
    })
    this.#loading.set(key, loading)
    const done = (): void => {
      if (this.#loading.get(key) === loading) this.#loading.delete(key)
    }
    loading.then(done, done)
    return loading
  }

  async #query(claims: TokenSubject): Promise<CachedPrincipal> {
    const loadedAtMs = this.#deps.clock.millis()
    const loaded = claims.kind === 'credential' ? await this.#credential(claims) : await this.#session(claims)
    return { expiresAtMs: Infinity, loadedAtMs, ...loaded }
  }

  async #credential(claims: TokenSubject): Promise<Pick<CachedPrincipal, 'principal'> & { expiresAtMs?: number }> {
    const { db, environment } = this.#deps
    const state = await credentialState(db.read, claims.org, claims.sub)
    if (state === null || state.revokedAt !== null || state.environment !== environment) return { principal: null }
    const principal = principalOf(claims, state.scopes)
    return state.expiresAt === null ? { principal } : { principal, expiresAtMs: millisOf(state.expiresAt) }
  }

  async #session(claims: TokenSubject): Promise<Pick<CachedPrincipal, 'principal'> & { expiresAtMs?: number }> {
    const { db, environment, clock } = this.#deps
    const session = await liveSession(db.read, claims.org, claims.sid, now(clock))
    if (session === null || session.environment !== environment) return { principal: null }
    const membership = (await membershipsOf(db.read, session.userId)).find((one) => one.orgId === claims.org)
    if (membership === undefined) return { principal: null }
    return { principal: principalOf(claims, roleScopes[membership.role]), expiresAtMs: millisOf(session.expiresAt) }
  }
}

function principalOf(claims: TokenSubject, namedScopes: readonly string[]): Principal {
  return {
    kind: claims.kind,
    orgId: claims.org,
    subject: claims.sub,
    sessionId: claims.sid,
    namedScopes,
    scopes: grantedScopes(namedScopes),
    kid: '',
    expiresAtMs: Infinity,
    credentialExpiresAtMs: Infinity,
  }
}
