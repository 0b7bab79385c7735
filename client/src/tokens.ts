import { type Clock, raceAbort } from './clock.ts'
import type { components } from './generated/primary.ts'
import type { Transport, TransportRequest } from './transport.ts'

/** Provides the access tokens of requests. */
export interface TokenSource {
  token(signal?: AbortSignal): Promise<string>
  /** Returns another token than the rejected one, or null when there is none. */
  refresh(rejected: string, signal?: AbortSignal): Promise<string | null>
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

/** A token that the application manages: a fixed token, or a function that is called for every request. */
export class StaticTokens implements TokenSource {
  readonly #accessToken: string | (() => string | Promise<string>)

  constructor(accessToken: string | (() => string | Promise<string>)) {
    this.#accessToken = accessToken
  }

  async token(): Promise<string> {
    return typeof this.#accessToken === 'string' ? this.#accessToken : this.#accessToken()
  }

  async refresh(rejected: string): Promise<string | null> {
    const token = await this.token()
    return token === rejected ? null : token
  }
}
