import { type Clock, systemClock } from './clock.ts'
import type { CallOptions } from './operations.ts'
import { type LiveEvent, type LiveOptions, watchLive } from './live.ts'
import { checkOptions } from './options.ts'
import { type RequestOptions, Requests } from './requests.ts'
import { Assets } from './resources/assets.ts'
import { Bulk } from './resources/bulk.ts'
import { Locations } from './resources/locations.ts'
import { Reports } from './resources/reports.ts'
import { type NaturalKey, type Primary, naturalKeySurface, primarySurface } from './surfaces.ts'
import { type AccessTokenProvider, CredentialTokens, StaticTokens } from './tokens.ts'
import { type RequestInfo, type ResponseInfo, Transport } from './transport.ts'
import type { InventorySave, InventorySaved, Organization } from './types.ts'
import { version } from './version.ts'

interface CommonOptions {
  /** The URL of the id-based API without `/api/v1`, such as `https://lastseen.example.com`. */
  baseUrl: string
  /** The URL of the natural-key API without `/api/v1`. Default: `/natural` under `baseUrl`. */
  naturalUrl?: string
  /** The name of your application, such as `erp-sync/2.1`. It precedes the client's own name in `User-Agent`. */
  userAgent?: string
  /**
   * How often a request is sent while the response is 500; a GET also while it is 502, 503 or 504 or there is no response.
   * Default: 5; 1 disables these retries.
   */
  attempts?: number
  /** How often a request is sent while the response is 429. Default: 10; 1 disables these retries. */
  rateLimitAttempts?: number
  /** How long an attempt may take, in milliseconds. Default: 30,000; for uploads 40 times, for exports twice as long. */
  timeoutMs?: number
  /** Called before every attempt, for logs. */
  onRequest?: (info: RequestInfo) => void
  /** Called after every attempt, for logs. */
  onResponse?: (info: ResponseInfo) => void
  /** Replaces the global `fetch`, for example to use a proxy. */
  fetch?: typeof fetch
  /** Replaces the system's clock in tests. */
  clock?: Clock
}

interface CredentialOptions extends CommonOptions {
  /** The client id of an API key. */
  clientId: string
  /** The client secret of the API key. Do not use it in a browser. */
  clientSecret: string
}

interface AccessTokenOptions extends CommonOptions {
  /** An access token that your application manages, or a function that provides one. */
  accessToken: string | AccessTokenProvider
}

/** The base URL with either a credential, which the client exchanges for tokens, or an access token. */
export type LastseenOptions = CredentialOptions | AccessTokenOptions

const withoutTrailingSlash = (url: string): string => url.replace(/\/+$/, '')

/** A client of the Lastseen API for one credential or access token. */
export class Lastseen {
  readonly assets: Assets
  readonly locations: Locations
  readonly reports: Reports
  /** Imports and exports of many records. */
  readonly bulk: Bulk
  readonly #clock: Clock
  readonly #requests: Requests
  /** Every operation of the id-based API by name. */
  readonly primary: Primary
  /** Every operation of the natural-key API by name, with the same tokens. */
  readonly natural: NaturalKey

  constructor(options: LastseenOptions) {
    checkOptions(options)
    const {
      attempts = 5,
      rateLimitAttempts = 10,
      timeoutMs = 30_000,
      clock = systemClock,
      userAgent,
      naturalUrl,
    } = options
    const baseUrl = withoutTrailingSlash(options.baseUrl)
    const transportOptions = {
      // Some browsers reject a fetch that is called as a method of another object than the window.
      fetch: options.fetch ?? ((...args: Parameters<typeof fetch>) => globalThis.fetch(...args)),
      userAgent: [userAgent, `lastseen-client/${version}`].filter((name) => name !== undefined).join(' '),
      clock,
      attempts,
      rateLimitAttempts,
      timeoutMs,
      onRequest: options.onRequest,
      onResponse: options.onResponse,
    }
    const transport = new Transport(transportOptions)
    // Token exchanges have their own rate limit and transport: they must not queue behind requests that wait for a token.
    const tokens =
      'accessToken' in options
        ? new StaticTokens(options.accessToken)
        : new CredentialTokens(new Transport(transportOptions), clock, baseUrl, options.clientId, options.clientSecret)
    this.primary = primarySurface(baseUrl, tokens, transport)
    this.natural = naturalKeySurface(withoutTrailingSlash(naturalUrl ?? `${baseUrl}/natural`), tokens, transport)
    this.assets = new Assets(this.primary, this.natural)
    this.locations = new Locations(this.primary, this.natural)
    this.reports = new Reports(this.primary)
    this.bulk = new Bulk(this.primary, clock, timeoutMs)
    this.#clock = clock
    this.#requests = new Requests(baseUrl, tokens, transport)
  }

  /**
   * Yields moves and reader activity as they happen, until `signal` is aborted or the loop ends. After an interruption it
   * connects again and yields the moves that happened meanwhile; `gap` says that some may be missing.
   */
  live(options: LiveOptions = {}): AsyncGenerator<LiveEvent, void, undefined> {
    return watchLive(this.primary, this.#clock, options)
  }

  /**
   * Sends a request to a path under `baseUrl`, such as `/api/v1/assets`, with the tokens, retries and errors of every
   * other method. Returns the parsed body of the response, undefined when it has none. Prefer a typed method.
   */
  request(path: string, options: RequestOptions = {}): Promise<unknown> {
    return this.#requests.send(path, options)
  }

  /** Like `request`, but returns the response once its headers are received, to read its body as a file or stream. */
  open(path: string, options: RequestOptions = {}): Promise<Response> {
    return this.#requests.open(path, options)
  }

  /** Returns the organization and the scopes of the credential. */
  async me(options: CallOptions = {}): Promise<Organization> {
    return (await this.primary.request('orgs.me', options)).data
  }

  /** Records that assets are at a location now. When one of them is invalid, none is recorded. */
  async saveInventory(save: InventorySave, options: CallOptions = {}): Promise<InventorySaved> {
    return (await this.primary.request('inventory.save', { body: save, ...options })).data
  }
}
