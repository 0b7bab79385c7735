import { type Clock, unlessAborted } from './clock.ts'
import type { components } from './generated/primary.ts'
import type { Outgoing, Transport } from './transport.ts'

/** Where access tokens come from. */
export interface TokenSource {
  token(signal?: AbortSignal): Promise<string>
  /** Another token than the one that was refused, or null when there is none. */
  renewed(refused: string, signal?: AbortSignal): Promise<string | null>
}

interface Grant {
  accessToken: string
  refreshToken: string
  goodUntilMs: number
}

/** A token this close to its end is not worth sending. */
const marginMs = 10_000

/**
 * Exchanges a credential for tokens and renews them, at most one exchange at a time however many calls wait for it. A
 * refresh token is forgotten before it is sent: presenting one twice would end the whole chain.
 */
export class CredentialTokens implements TokenSource {
  readonly #transport: Transport
  readonly #clock: Clock
  readonly #url: string
  readonly #credential: { client_id: string; client_secret: string }
  #grant: Grant | null = null
  #underWay: Promise<Grant> | null = null

  constructor(transport: Transport, clock: Clock, baseUrl: string, clientId: string, clientSecret: string) {
    this.#transport = transport
    this.#clock = clock
    this.#url = `${baseUrl}/api/v1/oauth/token`
    this.#credential = { client_id: clientId, client_secret: clientSecret }
  }

  async token(signal?: AbortSignal): Promise<string> {
    const grant = this.#grant
    if (grant !== null && this.#clock.millis() < grant.goodUntilMs - marginMs) return grant.accessToken
    return this.#exchangeOnce(signal)
  }

  async renewed(refused: string, signal?: AbortSignal): Promise<string> {
    // Somebody else may have renewed it since the refused request was sent.
    if (this.#grant !== null && this.#grant.accessToken !== refused) return this.#grant.accessToken
    return this.#exchangeOnce(signal)
  }

  async #exchangeOnce(signal: AbortSignal | undefined): Promise<string> {
    this.#underWay ??= this.#exchange().finally(() => {
      this.#underWay = null
    })
    return (await unlessAborted(this.#underWay, signal)).accessToken
  }

  async #exchange(): Promise<Grant> {
    const refreshToken = this.#grant?.refreshToken
    this.#grant = null
    const refreshed = refreshToken === undefined ? null : await this.#refresh(refreshToken)
    this.#grant = refreshed ?? (await this.#ask({ grant_type: 'client_credentials', ...this.#credential }))
    return this.#grant
  }

  /** Tried once and without conditions: whatever goes wrong, the credential itself is still there. */
  async #refresh(refreshToken: string): Promise<Grant | null> {
    try {
      return await this.#ask({ grant_type: 'refresh_token', refresh_token: refreshToken }, 'never')
    } catch {
      return null
    }
  }

  async #ask(body: components['schemas']['TokenRequest'], again: Outgoing['again'] = 'by the rules'): Promise<Grant> {
    const askedAtMs = this.#clock.millis()
    const answer = await this.#transport.send({ method: 'POST', url: this.#url, body, again })
    const token = answer as components['schemas']['Token']
    return {
      accessToken: token.access_token,
      refreshToken: token.refresh_token,
      goodUntilMs: askedAtMs + token.expires_in * 1000,
    }
  }
}

/** A token that somebody else looks after, given as it is or asked for each time. */
export class GivenTokens implements TokenSource {
  readonly #given: string | (() => string | Promise<string>)

  constructor(given: string | (() => string | Promise<string>)) {
    this.#given = given
  }

  async token(): Promise<string> {
    return typeof this.#given === 'string' ? this.#given : this.#given()
  }

  async renewed(refused: string): Promise<string | null> {
    const token = await this.token()
    return token === refused ? null : token
  }
}
