import { createHmac } from 'node:crypto'
import postgres from 'postgres'
import { afterAll, beforeAll, expect } from 'vitest'
import { mintCredentials } from '../../src/auth/commands.ts'
import type { InstallationKeys } from '../../src/db/installation.ts'
import type { Clock } from '../../src/kernel/clock.ts'
import { instantFromMillis } from '../../src/kernel/instant.ts'
import type { TestApp, TestOrg } from './app.ts'
import type { Pair, Reply } from './client.ts'

/** A clock that only the test advances. */
export class ManualClock implements Clock {
  #now = Date.UTC(2026, 4, 4, 8)

  millis = (): number => this.#now

  get seconds(): number {
    return Math.floor(this.#now / 1000)
  }

  advance(seconds: number): void {
    this.#now += seconds * 1000
  }
}

export type TestSql = postgres.Sql<{ bigint: number }>

/** A superuser connection, for set-up that no API operation offers and for reading what was written. */
export function useSql(context: { readonly app: TestApp }): { readonly sql: TestSql } {
  const fixture: { sql: TestSql } = { sql: undefined as never }
  beforeAll(() => {
    const bigint = { to: 20, from: [20], parse: Number, serialize: String }
    fixture.sql = postgres(context.app.databaseUrl, { max: 2, onnotice: () => undefined, types: { bigint } })
  })
  afterAll(() => fixture.sql.end({ timeout: 5 }))
  return fixture
}

export interface Key extends Pair {
  id: number
}

interface KeyOptions {
  scopes?: readonly string[]
  expiresAtMs?: number
}

/** Creates credentials as the operator does. */
export async function mintKeys(org: TestOrg, count: number, options: KeyOptions = {}): Promise<Key[]> {
  const { scopes = ['assets:read'], expiresAtMs } = options
  const expiresAt = expiresAtMs === undefined ? null : instantFromMillis(expiresAtMs)
  const draft = { name: 'test', scopes, expiresAt, createdBy: null }
  const minted = await mintCredentials(org.app.context, org.orgId, draft, count)
  return minted.map(({ credential: { id, clientId }, clientSecret }) => ({ id, clientId, clientSecret }))
}

export async function mintKey(org: TestOrg, options: KeyOptions = {}): Promise<Key> {
  const [key] = await mintKeys(org, 1, options)
  return key!
}

type Headers = Record<string, string>

export const exchange = (app: TestApp, { clientId, clientSecret }: Pair, headers: Headers = {}): Promise<Reply> =>
  app.anonymous('POST', '/api/v1/oauth/token', {
    headers,
    json: { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret },
  })

export const refresh = (app: TestApp, token: string, headers: Headers = {}): Promise<Reply> =>
  app.anonymous('POST', '/api/v1/oauth/token', { headers, json: { grant_type: 'refresh_token', refresh_token: token } })

export interface Tokens {
  access: string
  refresh: string
}

/** Expects a successful grant and returns its tokens. */
export async function expectTokens(reply: Reply | Promise<Reply>): Promise<Tokens> {
  const { status, text, json } = await reply
  expect(status, text).toBe(200)
  return { access: json.access_token, refresh: json.refresh_token }
}

export const tokensOf = (app: TestApp, pair: Pair): Promise<Tokens> => expectTokens(exchange(app, pair))

/** The tokens of a new credential. */
export const newTokens = async (org: TestOrg, ...scopes: string[]): Promise<Tokens> =>
  tokensOf(org.app, await mintKey(org, scopes.length === 0 ? {} : { scopes }))

export const whoAmI = (app: TestApp, token: string): Promise<Reply> =>
  app.anonymous('GET', '/api/v1/orgs/me', { token })

const decode = (part: string): Record<string, unknown> =>
  JSON.parse(Buffer.from(part, 'base64url').toString('utf8')) as Record<string, unknown>

export const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url')

/** Signs a token as the contract describes, with the installation's key and without the code under test. */
export function signedToken({ signingKeys }: InstallationKeys, claims: object): string {
  const { kid, key } = signingKeys.find(({ isCurrent }) => isCurrent)!
  const text = `${encode({ alg: 'HS256', typ: 'JWT', kid })}.${encode(claims)}`
  return `${text}.${createHmac('sha256', key).update(text).digest('base64url')}`
}

export const claimsOf = (token: string): Record<string, unknown> => decode(token.split('.')[1]!)

export interface RateLimitHeaders {
  policy: string | undefined
  limit: string | undefined
  remaining: string | undefined
  reset: string | undefined
}

export const rateLimitHeadersOf = ({ headers }: { headers: Record<string, string | undefined> }): RateLimitHeaders => ({
  policy: headers['ratelimit-policy'],
  limit: headers['x-ratelimit-limit'],
  remaining: headers['x-ratelimit-remaining'],
  reset: headers['x-ratelimit-reset'],
})

/** The four headers with `used` requests missing from the bucket. */
export const expectedRateLimit = (used: number, nowSeconds: number): RateLimitHeaders => ({
  policy: '60;w=60',
  limit: '120',
  remaining: String(120 - used),
  reset: String(nowSeconds + used),
})
