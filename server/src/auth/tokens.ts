import { createHmac } from 'node:crypto'
import { SignJWT, errors, jwtVerify } from 'jose'
import { LRUCache } from 'lru-cache'
import type { SigningKey } from '../db/installation.ts'
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

export type TokenHolder = Pick<Claims, 'kind' | 'sub' | 'org' | 'scope' | 'sid'>

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

export interface AccessTokenOptions {
  signingKeys: readonly SigningKey[]
  /** Marks refresh tokens. Unlike the signing keys it is never replaced. */
  secretKey: Uint8Array
  environment: string
  clock: Clock
}

/** Signs and checks the access tokens of one environment. */
export class AccessTokens {
  readonly #options: Omit<AccessTokenOptions, 'signingKeys'>
  readonly #verified = new LRUCache<string, Claims>({ max: 20_000 })
  #signingKeys: ReadonlyMap<string, Uint8Array> = new Map()
  #current: SigningKey | undefined

  constructor({ signingKeys, ...options }: AccessTokenOptions) {
    this.#options = options
    this.replaceKeys(signingKeys)
  }

  /** The tokens of a key that is gone are invalid from now on. */
  replaceKeys(signingKeys: readonly SigningKey[]): void {
    this.#signingKeys = new Map(signingKeys.map(({ kid, key }) => [kid, key]))
    this.#current = signingKeys.find(({ isCurrent }) => isCurrent)
    this.#verified.clear()
  }

  async issue(holder: TokenHolder): Promise<string> {
    if (this.#current === undefined) throw new Error('there is no signing key')
    const { kid, key } = this.#current
    const iat = Math.floor(this.#options.clock.millis() / 1000)
    const claims: Claims = {
      ...holder,
      aud: this.#options.environment,
      iat,
      exp: iat + accessTokenTtlSeconds,
      jti: newUuid(),
    }
    return new SignJWT({ ...claims }).setProtectedHeader({ ...header, kid }).sign(key)
  }

  /** A mark that only this installation can make of a text. */
  hmacTag(text: string): Buffer {
    return createHmac('sha256', this.#options.secretKey).update(`stamp ${text}`).digest().subarray(0, 16)
  }

  /** The claims of a token that is genuine, of this environment and not expired. */
  async check(token: string): Promise<Claims | null> {
    const claims = this.#verified.get(token)
    if (claims === undefined) return this.#verify(token)
    return claims.exp * 1000 > this.#options.clock.millis() ? claims : null
  }

  async #verify(token: string): Promise<Claims | null> {
    if (!token.split('.').every(isCanonical)) return null
    try {
      const { payload } = await jwtVerify<Claims>(token, ({ kid = '' }) => this.#keyOf(kid), {
        algorithms: [header.alg],
        typ: header.typ,
        audience: this.#options.environment,
        currentDate: new Date(this.#options.clock.millis()),
        requiredClaims: ['exp'],
      })
      if (!hasOurTimes(payload, this.#options.clock.millis() / 1000)) return null
      this.#verified.set(token, payload)
      return payload
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
