import { LRUCache } from 'lru-cache'
import type { Database } from '../db/database.ts'
import type { Authenticator, Caller } from '../http/caller.ts'
import { type Clock, now } from '../kernel/clock.ts'
import { millisOf } from '../kernel/instant.ts'
import { grantedScopes, roleScopes } from '../kernel/scopes.ts'
import { membershipsOf } from '../users/users.sql.ts'
import { credentialState } from './credentials.sql.ts'
import { liveSession } from './refresh-chains.sql.ts'
import type { AccessTokens, Claims } from './tokens.ts'

interface Needs {
  db: Database
  clock: Clock
  environment: string
  tokens: AccessTokens
  /** Whether news of revocations reach this process; without them nothing is remembered. */
  isListening: () => boolean
  onUse: (caller: Caller) => void
}

interface Principal {
  caller: Caller | null
  expiresAtMs: number
  loadedAtMs: number
}

const memoryMs = 60_000

/** Who a token was issued to. */
type Holder = Pick<Claims, 'kind' | 'org' | 'sub' | 'sid'>

/** What is revoked as one: a credential with all of its tokens, or one session. */
const keyOf = ({ kind, sub, sid }: Holder): string => (kind === 'credential' ? sub : sid)

/**
 * Says who holds a token. What was looked up is remembered while this process hears of revocations, so that a warm
 * request asks the database nothing, and a revoked credential is still refused at once.
 */
export class Principals implements Authenticator {
  readonly #needs: Needs
  readonly #known = new LRUCache<string, Principal>({ max: 20_000 })
  readonly #loading = new Map<string, Promise<Principal>>()

  constructor(needs: Needs) {
    this.#needs = needs
  }

  async authenticate(token: string): Promise<Caller | null> {
    const claims = await this.#needs.tokens.check(token)
    if (claims === null) return null
    const known = this.#known.get(keyOf(claims))
    const principal = known !== undefined && this.#isFresh(known) ? known : await this.#load(claims)
    const caller = this.#admit(principal)
    if (caller === null) return null
    const expiresAtMs = Math.min(claims.exp * 1000, principal.expiresAtMs)
    return { ...caller, expiresAtMs }
  }

  /** Whether a caller that was admitted before would be admitted now, with the same scopes. */
  async isCurrent(caller: Caller): Promise<boolean> {
    const { kind, orgId: org, subject: sub, sessionId: sid } = caller
    const claims = { kind, org, sub, sid }
    const known = this.#known.get(keyOf(claims))
    const principal = known !== undefined && this.#isFresh(known) ? known : await this.#load(claims)
    const isSameScope = principal.caller?.namedScopes.join() === caller.namedScopes.join()
    return isSameScope && this.#needs.clock.millis() < principal.expiresAtMs
  }

  /** Forgets a credential or session whose standing has changed. */
  forget(key: string): void {
    this.#known.delete(key)
    this.#loading.delete(key)
  }

  forgetAll(): void {
    this.#known.clear()
    this.#loading.clear()
  }

  #isFresh(principal: Principal): boolean {
    return this.#needs.isListening() && this.#needs.clock.millis() - principal.loadedAtMs < memoryMs
  }

  #admit({ caller, expiresAtMs }: Principal): Caller | null {
    if (caller === null || this.#needs.clock.millis() >= expiresAtMs) return null
    this.#needs.onUse(caller)
    return caller
  }

  #load(claims: Holder): Promise<Principal> {
    const key = keyOf(claims)
    const running = this.#loading.get(key)
    if (running !== undefined) return running
    const loading = this.#look(claims).then((principal) => {
      // A revocation heard meanwhile has removed this look-up, and what it saw may be out of date.
      if (this.#loading.get(key) === loading) this.#known.set(key, principal)
      return principal
    })
    this.#loading.set(key, loading)
    const done = (): void => {
      if (this.#loading.get(key) === loading) this.#loading.delete(key)
    }
    loading.then(done, done)
    return loading
  }

  async #look(claims: Holder): Promise<Principal> {
    const loadedAtMs = this.#needs.clock.millis()
    const found = claims.kind === 'credential' ? await this.#credential(claims) : await this.#session(claims)
    return { expiresAtMs: Infinity, loadedAtMs, ...found }
  }

  async #credential(claims: Holder): Promise<Pick<Principal, 'caller'> & { expiresAtMs?: number }> {
    const { db, environment } = this.#needs
    const state = await credentialState(db.read, claims.org, claims.sub)
    if (state === null || state.revokedAt !== null || state.environment !== environment) return { caller: null }
    const caller = callerOf(claims, state.scopes)
    return state.expiresAt === null ? { caller } : { caller, expiresAtMs: millisOf(state.expiresAt) }
  }

  async #session(claims: Holder): Promise<Pick<Principal, 'caller'> & { expiresAtMs?: number }> {
    const { db, environment, clock } = this.#needs
    const session = await liveSession(db.read, claims.org, claims.sid, now(clock))
    if (session === null || session.environment !== environment) return { caller: null }
    const membership = (await membershipsOf(db.read, session.userId)).find((one) => one.orgId === claims.org)
    if (membership === undefined) return { caller: null }
    return { caller: callerOf(claims, roleScopes[membership.role]), expiresAtMs: millisOf(session.expiresAt) }
  }
}

function callerOf(claims: Holder, named: readonly string[]): Caller {
  return {
    kind: claims.kind,
    orgId: claims.org,
    subject: claims.sub,
    sessionId: claims.sid,
    namedScopes: named,
    scopes: grantedScopes(named),
    expiresAtMs: Infinity,
  }
}
