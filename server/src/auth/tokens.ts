import { createHmac } from 'node:crypto'
import { SignJWT, errors, jwtVerify } from 'jose'
import { LRUCache } from 'lru-cache'
import type { SigningKey } from '../db/installation.ts'
import type { Clock } from '../kernel/clock.ts'
import { newUuid } from '../kernel/secrets.ts'

export interface Claims {
  /** The environment. A token is valid only in its own environment. */
  aud: string
  sub: string
  org: number
  kind: 'credential' | 'session'
  /** The scopes when the token was issued, for the client. The server checks the current scopes instead. */
  scope: string
  iat: number
  exp: number
  jti: string
  /** The refresh token family with which the token was issued. */
  sid: string
}

/** The claims of a valid token, and the key that signed it. */
export type VerifiedClaims = Claims & { kid: string }

export const accessTokenTtlSeconds = 900
export const refreshTokenTtlMs = 30 * 24 * 3600 * 1000

export type TokenSubject = Pick<Claims, 'kind' | 'sub' | 'org' | 'scope' | 'sid'>

const header = { alg: 'HS256', typ: 'JWT' } as const

/** Accepts only the canonical base64url form: no padding, and no trailing bits after the last byte. */
const isCanonical = (text: string): boolean => Buffer.from(text, 'base64url').toString('base64url') === text

/** The allowed difference between the clocks of two servers of one installation. */
const clockSkewSeconds = 60

/** True if the token was issued at a whole second, not in the future, and lives no longer than our tokens do. */
const hasValidTimes = ({ iat, exp }: Claims, nowSeconds: number): boolean =>
  Number.isInteger(iat) &&
  Number.isInteger(exp) &&
  iat <= nowSeconds + clockSkewSeconds &&
  exp > iat &&
  exp - iat <= accessTokenTtlSeconds

export interface AccessTokenOptions {
  signingKeys: readonly SigningKey[]
  /** The key of the HMAC tag in refresh tokens. Unlike the signing keys, it is never rotated. */
  secretKey: Uint8Array
  environment: string
  clock: Clock
}

/** Signs and checks the access tokens of one environment. */
export class AccessTokens {
  readonly #options: Omit<AccessTokenOptions, 'signingKeys'>
  readonly #verified = new LRUCache<string, VerifiedClaims>({ max: 20_000 })
  #signingKeys: ReadonlyMap<string, Uint8Array> = new Map()
  #current: SigningKey | undefined

  constructor({ signingKeys, ...options }: AccessTokenOptions) {
    this.#options = options
    this.replaceKeys(signingKeys)
  }

  /** Replaces the signing keys. Tokens of removed keys are invalid from now on. */
  replaceKeys(signingKeys: readonly SigningKey[]): void {
    this.#signingKeys = new Map(signingKeys.map(({ kid, key }) => [kid, key]))
    this.#current = signingKeys.find(({ isCurrent }) => isCurrent)
    this.#verified.clear()
  }

  hasKey(kid: string): boolean {
    return this.#signingKeys.has(kid)
  }

  async issue(subject: TokenSubject): Promise<string> {
    if (this.#current === undefined) throw new Error('there is no signing key')
    const { kid, key } = this.#current
    const iat = Math.floor(this.#options.clock.millis() / 1000)
    const claims: Claims = {
      ...subject,
      aud: this.#options.environment,
      iat,
      exp: iat + accessTokenTtlSeconds,
      jti: newUuid(),
    }
    return new SignJWT({ ...claims }).setProtectedHeader({ ...header, kid }).sign(key)
  }

  /** An HMAC of the text that only this installation can compute. */
  hmacTag(text: string): Buffer {
    return createHmac('sha256', this.#options.secretKey).update(`stamp ${text}`).digest().subarray(0, 16)
  }

  /** Returns the claims of a token if its signature, environment and expiry are valid. */
  async check(token: string): Promise<VerifiedClaims | null> {
    const claims = this.#verified.get(token)
    if (claims === undefined) return this.#verify(token)
    return claims.exp * 1000 > this.#options.clock.millis() ? claims : null
  }

  async #verify(token: string): Promise<VerifiedClaims | null> {
    if (!token.split('.').every(isCanonical)) return null
    try {
      const { payload, protectedHeader } = await jwtVerify<Claims>(token, ({ kid = '' }) => this.#keyOf(kid), {
        algorithms: [header.alg],
        typ: header.typ,
        audience: this.#options.environment,
        currentDate: new Date(this.#options.clock.millis()),
        requiredClaims: ['exp'],
      })
      if (!hasValidTimes(payload, this.#options.clock.millis() / 1000)) return null
      const claims = { ...payload, kid: protectedHeader.kid! }
      this.#verified.set(token, claims)
      return claims
    } catch (error) {
      if (error instanceof errors.JOSEError) return null
      throw error
    }
  }

  #keyOf(kid: string): Uint8Array {
    const key = this.#signingKeys.get(kid)
    if (key === undefined) throw new errors.JWKSNoMatchingKey()
    return key
  }
}
