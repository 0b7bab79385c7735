import { type Clock, raceAbort } from './clock.ts'
import { UnauthorizedError } from './errors.ts'
import type { components } from './generated/primary.ts'
import type { Transport, TransportRequest } from './transport.ts'

/** Provides the access tokens of requests. */
export interface TokenSource {
  token(signal?: AbortSignal): Promise<string>
  /** Returns another token than the rejected one, or null when there is none. */
  refresh(rejected: string, signal?: AbortSignal): Promise<string | null>
}

/** Sends a request with a token, and again with a new token when that one is rejected. */
export async function withToken<Result>(
  tokens: TokenSource,
  signal: AbortSignal | undefined,
  send: (token: string) => Promise<Result>,
): Promise<Result> {
  const token = await tokens.token(signal)
  try {
    return await send(token)
  } catch (error) {
    if (!(error instanceof UnauthorizedError)) throw error
    const refreshed = await tokens.refresh(token, signal)
    if (refreshed === null) throw error
    return send(refreshed)
  }
}

interface Grant {
  accessToken: string
  refreshToken: string
  expiresAtMs: number
}

/** A token that expires within this time is refreshed before it is used. */
const expiryMarginMs = 10_000

/**
 * Exchanges a credential for tokens and refreshes them. Concurrent calls share one exchange. A refresh token is discarded
 * before it is sent, because the server revokes all tokens of a family when a refresh token is used twice.
 */
export class CredentialTokens implements TokenSource {
  readonly #transport: Transport
  readonly #clock: Clock
  readonly #url: string
  readonly #credential: { client_id: string; client_secret: string }
  #grant: Grant | null = null
  #inFlight: Promise<Grant> | null = null

  constructor(transport: Transport, clock: Clock, baseUrl: string, clientId: string, clientSecret: string) {
    this.#transport = transport
    this.#clock = clock
    this.#url = `${baseUrl}/api/v1/oauth/token`
    this.#credential = { client_id: clientId, client_secret: clientSecret }
  }

  async token(signal?: AbortSignal): Promise<string> {
    const grant = this.#grant
    if (grant !== null && this.#clock.millis() < grant.expiresAtMs - expiryMarginMs) return grant.accessToken
    return this.#exchangeOnce(signal)
  }

  async refresh(rejected: string, signal?: AbortSignal): Promise<string> {
    // Another call may have refreshed the token since the rejected request was sent.
    if (this.#grant !== null && this.#grant.accessToken !== rejected) return this.#grant.accessToken
    return this.#exchangeOnce(signal)
  }

  async #exchangeOnce(signal: AbortSignal | undefined): Promise<string> {
    this.#inFlight ??= this.#exchange().finally(() => {
      this.#inFlight = null
    })
    return (await raceAbort(this.#inFlight, signal)).accessToken
  }

  async #exchange(): Promise<Grant> {
    const refreshToken = this.#grant?.refreshToken
    this.#grant = null
    const refreshed = refreshToken === undefined ? null : await this.#tryRefreshToken(refreshToken)
    this.#grant = refreshed ?? (await this.#requestToken({ grant_type: 'client_credentials', ...this.#credential }))
    return this.#grant
  }

  /** Sends the refresh token once. On any error it returns null, and the credential is exchanged instead. */
  async #tryRefreshToken(refreshToken: string): Promise<Grant | null> {
    try {
      return await this.#requestToken({ grant_type: 'refresh_token', refresh_token: refreshToken }, 'never')
    } catch {
      return null
    }
  }

  async #requestToken(
    body: components['schemas']['TokenRequest'],
    retry: TransportRequest['retry'] = 'default',
  ): Promise<Grant> {
    const sentAtMs = this.#clock.millis()
    const response = await this.#transport.send({ method: 'POST', url: this.#url, body, retry })
    const token = response as components['schemas']['Token']
    return {
      accessToken: token.access_token,
      refreshToken: token.refresh_token,
      expiresAtMs: sentAtMs + token.expires_in * 1000,
    }
  }
}

/**
 * Provides the access tokens of an application that manages them itself. It is called for every request without an
 * argument. When the server rejects its token, it is called with that token, and the request is sent again unless it
 * returns the same token or an empty one.
 */
export type AccessTokenProvider = (rejected?: string) => string | Promise<string>

/** A token that the application manages: a fixed token, or a function that provides one. */
export class StaticTokens implements TokenSource {
  readonly #accessToken: string | AccessTokenProvider

  constructor(accessToken: string | AccessTokenProvider) {
    this.#accessToken = accessToken
  }

  async token(): Promise<string> {
    return typeof this.#accessToken === 'string' ? this.#accessToken : this.#accessToken()
  }

  async refresh(rejected: string): Promise<string | null> {
    if (typeof this.#accessToken === 'string') return null
    const token = await this.#accessToken(rejected)
    return token === rejected || token === '' ? null : token
  }
}
