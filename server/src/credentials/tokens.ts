import { createHmac } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Clock } from '../kernel/clock.ts'
import { type Claims, signJwt, verifyJwt } from '../kernel/jwt.ts'
import { newUuid } from '../kernel/secrets.ts'

export const accessTokenTtlSeconds = 900
export const refreshTokenTtlMs = 30 * 24 * 3600 * 1000

export type Holder = Pick<Claims, 'kind' | 'sub' | 'org' | 'scope' | 'sid'>

/** Signs and checks the access tokens of one environment. */
export class AccessTokens {
  readonly #key: Uint8Array
  readonly #environment: string
  readonly #clock: Clock
  readonly #verified = new LRUCache<string, Claims>({ max: 20_000 })

  constructor(key: Uint8Array, environment: string, clock: Clock) {
    this.#key = key
    this.#environment = environment
    this.#clock = clock
  }

  issue(holder: Holder): string {
    const iat = Math.floor(this.#clock.millis() / 1000)
    return signJwt(this.#key, {
      ...holder,
      aud: this.#environment,
      iat,
      exp: iat + accessTokenTtlSeconds,
      jti: newUuid(),
    })
  }

  /** A mark that only this installation can make of a text. */
  stamp(text: string): Buffer {
    return createHmac('sha256', this.#key).update(`stamp ${text}`).digest().subarray(0, 16)
  }

  /** The claims of a token that is genuine, of this environment and not expired. */
  check(token: string): Claims | null {
    let claims = this.#verified.get(token)
    if (claims === undefined) {
      const verified = verifyJwt(this.#key, token)
      if (verified === null || verified.aud !== this.#environment) return null
      this.#verified.set(token, verified)
      claims = verified
    }
    return claims.exp * 1000 > this.#clock.millis() ? claims : null
  }
}
