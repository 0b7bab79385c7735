import { type Clock, systemClock } from './clock.ts'
import type { CallOptions } from './operations.ts'
import { Assets } from './resources/assets.ts'
import { Locations } from './resources/locations.ts'
import { Reports } from './resources/reports.ts'
import { type NaturalKey, type Primary, naturalKeySurface, primarySurface } from './surfaces.ts'
import { CredentialTokens, GivenTokens } from './tokens.ts'
import { Transport } from './transport.ts'
import type { InventorySave, InventorySaved, Organization } from './types.ts'
import { version } from './version.ts'

interface Options {
  /** Where the id-based API is, without `/api/v1`, such as `https://lastseen.example.com`. */
  baseUrl: string
  /** Where the natural-key API is; `/natural` under the base address when absent. */
  naturalUrl?: string
  /** Put before the client's own name in `User-Agent`, such as `erp-sync/2.1`. */
  userAgent?: string
  /** How often a request is sent when the answer is 500; 5 when absent, 1 for never again. */
  attempts?: number
  /** How often a request is sent when the answer is 429; 10 when absent. */
  rateLimitAttempts?: number
  fetch?: typeof fetch
  clock?: Clock
}

interface WithCredential extends Options {
  clientId: string
  clientSecret: string
}

interface WithToken extends Options {
  /** A token that somebody else looks after, or a function that gives one. */
  accessToken: string | (() => string | Promise<string>)
}

export type LastseenOptions = WithCredential | WithToken

const trimmed = (url: string): string => url.replace(/\/+$/, '')

/** The Lastseen API, for one credential. */
export class Lastseen {
  readonly assets: Assets
  readonly locations: Locations
  readonly reports: Reports
  /** Every operation of the id-based API by its name. */
  readonly primary: Primary
  /** Every operation of the natural-key API by its name, with the same token. */
  readonly natural: NaturalKey

  constructor(options: LastseenOptions) {
    const { attempts = 5, rateLimitAttempts = 10, clock = systemClock, userAgent, naturalUrl } = options
    const baseUrl = trimmed(options.baseUrl)
    const means = {
      // Some browsers refuse a fetch that is called on anything but the window.
      fetch: options.fetch ?? ((...given: Parameters<typeof fetch>) => globalThis.fetch(...given)),
      userAgent: [userAgent, `lastseen-client/${version}`].filter((one) => one !== undefined).join(' '),
      clock,
      attempts,
      rateLimitAttempts,
    }
    const transport = new Transport(means)
    // Exchanges have a limit of their own, and do not stand in line with the requests that need them.
    const tokens =
      'accessToken' in options
        ? new GivenTokens(options.accessToken)
        : new CredentialTokens(new Transport(means), clock, baseUrl, options.clientId, options.clientSecret)
    this.primary = primarySurface(baseUrl, tokens, transport)
    this.natural = naturalKeySurface(trimmed(naturalUrl ?? `${baseUrl}/natural`), tokens, transport)
    this.assets = new Assets(this.primary, this.natural)
    this.locations = new Locations(this.primary, this.natural)
    this.reports = new Reports(this.primary)
  }

  /** The organization and scopes of the credential. */
  async me(options: CallOptions = {}): Promise<Organization> {
    return (await this.primary.request('orgs.me', options)).data
  }

  /** Says that assets are at a location, now: all of them or none. */
  async saveInventory(save: InventorySave, options: CallOptions = {}): Promise<InventorySaved> {
    return (await this.primary.request('inventory.save', { body: save, ...options })).data
  }
}
