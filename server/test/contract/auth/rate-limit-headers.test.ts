import { beforeAll, describe, expect, it } from 'vitest'
import { type TestOrg, useApp } from '../../support/app.ts'
import {
  ManualClock,
  exchange,
  mintKey,
  newTokens,
  expectedRateLimit,
  rateLimitHeadersOf,
  refresh,
  tokensOf,
  useSql,
} from '../../support/auth.ts'
import type { Reply, SendOptions } from '../../support/client.ts'
import { sendRaw } from '../../support/raw-http.ts'

const clock = new ManualClock()
const context = useApp({ clock })
const database = useSql(context)

let org: TestOrg
let token: string
beforeAll(async () => {
  org = await context.app.newOrg()
  token = (await newTokens(org, 'assets:read', 'assets:write')).access
})

const full = () => expectedRateLimit(0, clock.seconds)

describe('The rate-limit headers', () => {
  it('are RateLimit-Policy, X-RateLimit-Limit, X-RateLimit-Remaining and X-RateLimit-Reset', async () => {
    const { access } = await newTokens(org)
    const reply = await context.app.anonymous('GET', '/api/v1/orgs/me', { token: access })
    expect(reply.headers['ratelimit-policy']).toBe('60;w=60')
    expect(reply.headers['x-ratelimit-limit']).toBe('120')
    expect(reply.headers['x-ratelimit-remaining']).toBe('119')
    expect(reply.headers['x-ratelimit-reset']).toBe(String(clock.seconds + 1))
  })

  const json = { headers: { 'content-type': 'application/json' } }
  const text = { headers: { 'content-type': 'text/plain' }, raw: 'x' }

  it.each<[number, string, string, string, SendOptions]>([
    [200, 'a list', 'GET', '/api/v1/assets', {}],
    [200, 'a HEAD', 'HEAD', '/api/v1/assets', {}],
    [201, 'a create', 'POST', '/api/v1/assets', { json: { name: 'a', external_key: 'taken' } }],
    [400, 'a validation error', 'GET', '/api/v1/assets', { query: 'colour=red' }],
    [400, 'a bad request', 'POST', '/api/v1/assets', { ...json, raw: '{' }],
    [403, 'a missing scope', 'GET', '/api/v1/locations', {}],
    [404, 'a missing record', 'GET', '/api/v1/assets/9007199254740991', {}],
    [409, 'a duplicate', 'POST', '/api/v1/assets', { json: { name: 'a', external_key: 'taken' } }],
    [415, 'a wrong media type', 'POST', '/api/v1/assets', text],
  ])('are on a %i, %s, with the bucket of the key', async (status, _what, method, path, options) => {
    const before = Number(rateLimitHeadersOf(await context.app.anonymous('GET', '/api/v1/assets', { token })).remaining)
    const reply = await context.app.anonymous(method, path, { ...options, token })
    expect(reply.status, reply.text).toBe(status)
    expect(rateLimitHeadersOf(reply)).toEqual(expectedRateLimit(121 - before, clock.seconds))
  })

  it('are on a 204 to DELETE and on a 422', async () => {
    const made = await context.app.anonymous('POST', '/api/v1/assets', { json: { name: 'a' }, token })
    const deleted = await context.app.anonymous('DELETE', `/api/v1/assets/${made.json.data.id}`, { token })
    expect(deleted.status).toBe(204)
    expect(Number(rateLimitHeadersOf(deleted).remaining)).toBe(Number(rateLimitHeadersOf(made).remaining) - 1)
    const lost = await context.app.newOrg()
    const { access } = await newTokens(lost)
    await database.sql`delete from organization_names where org_id = ${lost.orgId}`
    const reply = await context.app.anonymous('GET', '/api/v1/orgs/me', { token: access })
    expect(reply.status).toBe(422)
    expect(rateLimitHeadersOf(reply)).toEqual(expectedRateLimit(1, clock.seconds))
  })

  it('are on a 429 with an empty bucket, a Reset two minutes ahead and Retry-After in seconds', async () => {
    const { access } = await newTokens(org)
    const send = (): Promise<Reply> => context.app.anonymous('GET', '/api/v1/orgs/me', { token: access })
    const admitted = await Promise.all(Array.from({ length: 120 }, send))
    expect(new Set(admitted.map((reply) => reply.status))).toEqual(new Set([200]))
    const reply = await send()
    expect(reply.status).toBe(429)
    expect(rateLimitHeadersOf(reply)).toEqual(expectedRateLimit(120, clock.seconds))
    expect(reply.headers['retry-after']).toBe('1')
  })

  it('are on a 500 with the bucket of the key', async () => {
    const { access } = await newTokens(org)
    await database.sql`alter table assets rename to assets_away`
    const reply = await context.app.anonymous('GET', '/api/v1/assets', { token: access })
    await database.sql`alter table assets_away rename to assets`
    expect(reply.status).toBe(500)
    expect(rateLimitHeadersOf(reply)).toEqual(expectedRateLimit(1, clock.seconds))
  })

  it.each<[number, string, string, string, SendOptions]>([
    [401, 'a missing token', 'GET', '/api/v1/assets', {}],
    [401, 'a bad token', 'GET', '/api/v1/assets', { token: 'bad' }],
    [401, 'a wrong pair', 'POST', '/api/v1/oauth/token', { json: { grant_type: 'refresh_token', refresh_token: 'x' } }],
    [400, 'a bad token request', 'POST', '/api/v1/oauth/token', { json: {} }],
    [415, 'a token request in another type', 'POST', '/api/v1/oauth/token', text],
    [404, 'an unknown path', 'GET', '/api/v1/nothing', {}],
    [405, 'a wrong method', 'PUT', '/api/v1/assets', {}],
    [204, 'a preflight', 'OPTIONS', '/api/v1/assets', {}],
    [200, 'the description', 'GET', '/api/openapi.json', {}],
    [301, 'the old address of the description', 'GET', '/openapi.json', {}],
  ])('are on a %i, %s, and show a full bucket and Reset now (D10)', async (status, _what, method, path, options) => {
    const reply = await context.app.anonymous(method, path, options)
    expect(reply.status, reply.text).toBe(status)
    expect(rateLimitHeadersOf(reply)).toEqual(full())
  })

  it('are on the response to bytes that are not an HTTP request', async () => {
    const reply = await sendRaw(context.app.url, ['NONSENSE'])
    expect(reply.status).toBe(400)
    expect(rateLimitHeadersOf(reply)).toEqual(full())
  })

  it('are on a token exchange and a refresh, and show a full bucket however empty the bucket of the key is (D10)', async () => {
    const key = await mintKey(org)
    const { access } = await tokensOf(context.app, key)
    await context.app.anonymous('GET', '/api/v1/assets', { token: access })
    const exchanged = await exchange(context.app, key)
    expect(rateLimitHeadersOf(exchanged)).toEqual(full())
    expect(rateLimitHeadersOf(await refresh(context.app, exchanged.json.refresh_token))).toEqual(full())
  })

  it('are on the responses to a session and show a full bucket (D10)', async () => {
    const { email, password, accessToken, refreshToken } = await org.signIn('admin')
    const post = (path: string, body: object, more: SendOptions = {}): Promise<Reply> =>
      context.app.anonymous('POST', `/api/v1/auth/${path}`, { json: body, ...more })
    const keys = `/api/v1/orgs/${org.orgId}/api-keys`
    const replies = [
      await post('login', { email, password }),
      await post('login', { email, password: 'wrong' }),
      await post('refresh', { refresh_token: refreshToken }),
      await context.app.anonymous('GET', '/api/v1/assets', { token: accessToken }),
      await context.app.anonymous('GET', keys, { token: accessToken }),
      await context.app.anonymous('GET', '/api/v1/orgs/me', { token: accessToken }),
      await post('logout', {}, { token: accessToken }),
    ]
    expect(replies.map((reply) => reply.status)).toEqual([200, 401, 200, 200, 200, 401, 204])
    for (const reply of replies) expect(rateLimitHeadersOf(reply)).toEqual(full())
  })

  it('show Remaining and Reset as whole numbers between two seconds', async () => {
    const { access } = await newTokens(org)
    for (const pause of [0, 0.25, 0.25, 0.4, 0.7]) {
      clock.advance(pause)
      const { remaining, reset } = rateLimitHeadersOf(
        await context.app.anonymous('GET', '/api/v1/orgs/me', { token: access }),
      )
      expect(remaining).toMatch(/^\d+$/)
      expect(reset).toMatch(/^\d+$/)
      expect(Number(reset)).toBeGreaterThanOrEqual(clock.seconds)
      expect(Number(reset)).toBeLessThanOrEqual(clock.seconds + 121 - Number(remaining))
    }
  })
})
