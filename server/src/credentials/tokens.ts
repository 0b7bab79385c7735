import { createHmac, webcrypto } from 'node:crypto'
import { SignJWT, errors, jwtVerify } from 'jose'
import { LRUCache } from 'lru-cache'
import type { Clock } from '../kernel/clock.ts'
import { newUuid } from '../kernel/secrets.ts'

export interface Claims {
  /** The environment, so that a token of one never authenticates in another. */
  aud: string
  sub: string
  org: number
  kind: 'credential' | 'session'
  /** What the holder may do, for the client to read; the server looks up what is granted now. */
  scope: string
  iat: number
  exp: number
  jti: string
  /** The chain of refresh tokens this token came with. */
  sid: string
}

export const accessTokenTtlSeconds = 900
export const refreshTokenTtlMs = 30 * 24 * 3600 * 1000

export type Holder = Pick<Claims, 'kind' | 'sub' | 'org' | 'scope' | 'sid'>

const header = { alg: 'HS256', typ: 'JWT' } as const

/** A base64url text has one spelling: no padding, and no bits set behind the last byte. */
const isCanonical = (text: string): boolean => Buffer.from(text, 'base64url').toString('base64url') === text

/** How far the clocks of two servers of one installation may differ. */
const clockSkewSeconds = 60

/** A token is issued at a whole second that is not ahead, and never lives longer than the tokens of this service do. */
const hasOurTimes = ({ iat, exp }: Claims, nowSeconds: number): boolean =>
  Number.isInteger(iat) &&
  Number.isInteger(exp) &&
  iat <= nowSeconds + clockSkewSeconds &&
  exp > iat &&
  exp - iat <= accessTokenTtlSeconds

/** Signs and checks the access tokens of one environment. */
export class AccessTokens {
  readonly #secret: Uint8Array
  readonly #key: Promise<webcrypto.CryptoKey>
  readonly #environment: string
  readonly #clock: Clock
  readonly #verified = new LRUCache<string, Claims>({ max: 20_000 })

  constructor(secret: Uint8Array, environment: string, clock: Clock) {
    this.#secret = secret
    const algorithm = { name: 'HMAC', hash: 'SHA-256' }
    this.#key = webcrypto.subtle.importKey('raw', secret, algorithm, false, ['sign', 'verify'])
    this.#environment = environment
    this.#clock = clock
  }

  async issue(holder: Holder): Promise<string> {
    const iat = Math.floor(this.#clock.millis() / 1000)
    const claims: Claims = {
      ...holder,
      aud: this.#environment,
      iat,
      exp: iat + accessTokenTtlSeconds,
      jti: newUuid(),
    }
    return new SignJWT({ ...claims }).setProtectedHeader(header).sign(await this.#key)
  }

  /** A mark that only this installation can make of a text. */
  stamp(text: string): Buffer {
    return createHmac('sha256', this.#secret).update(`stamp ${text}`).digest().subarray(0, 16)
  }

  /** The claims of a token that is genuine, of this environment and not expired. */
  async check(token: string): Promise<Claims | null> {
    const claims = this.#verified.get(token)
    if (claims === undefined) return this.#verify(token)
    return claims.exp * 1000 > this.#clock.millis() ? claims : null
  }

  async #verify(token: string): Promise<Claims | null> {
    if (!token.split('.').every(isCanonical)) return null
    try {
      const { payload } = await jwtVerify<Claims>(token, await this.#key, {
        algorithms: [header.alg],
        typ: header.typ,
        audience: this.#environment,
        currentDate: new Date(this.#clock.millis()),
        requiredClaims: ['exp'],
      })
      if (!hasOurTimes(payload, this.#clock.millis() / 1000)) return null
      this.#verified.set(token, payload)
      return payload
    } catch (error) {
      if (error instanceof errors.JOSEError) return null
      throw error
    }
  }
}
