import { beforeAll, describe, expect, it } from 'vitest'
import { type TestOrg, useApp } from '../../support/app.ts'
import {
  ManualClock,
  mintKey,
  newTokens,
  expectedRateLimit,
  rateLimitHeadersOf,
  refresh,
  tokensOf,
  useSql,
  whoAmI,
} from '../../support/auth.ts'
import type { Reply, SendOptions } from '../../support/client.ts'
import { expectApiError } from '../../support/error-response.ts'

describe.each(['memory', 'database'])('The rate limit, with its buckets in the %s', (store) => {
  const clock = new ManualClock()
  const alone = store === 'memory' ? { singleServerReason: 'buckets in the memory are for a single process' } : {}
  const context = useApp({ clock, settings: { LASTSEEN_RATE_LIMIT_STORE: store }, ...alone })
  const database = useSql(context)

  let org: TestOrg
  beforeAll(async () => {
    org = await context.app.newOrg()
  })

  const send = (token: string, method = 'GET', path = '/api/v1/orgs/me', options: SendOptions = {}): Promise<Reply> =>
    context.app.anonymous(method, path, { ...options, token })

  /** Sends requests and expects that each is admitted. */
  async function consume(token: string, count: number): Promise<void> {
    const replies = await Promise.all(Array.from({ length: count }, () => send(token)))
    expect(new Set(replies.map((reply) => reply.status))).toEqual(new Set([200]))
  }

  function expectDrained(reply: Reply): void {
    expectApiError(reply, 'rate_limited', { detail: 'Rate limit exceeded; retry after 1 second' })
    expect(reply.headers['retry-after']).toBe('1')
    expect(rateLimitHeadersOf(reply)).toEqual(expectedRateLimit(120, clock.seconds))
  }

  const remaining = async (token: string): Promise<number> => Number(rateLimitHeadersOf(await send(token)).remaining)

  it('admits 120 requests at once, each taking one off Remaining and moving Reset a second on', async () => {
    const { access } = await newTokens(org)
    for (let used = 1; used <= 120; used++) {
      const reply = await send(access)
      expect(reply.status).toBe(200)
      expect(rateLimitHeadersOf(reply)).toEqual(expectedRateLimit(used, clock.seconds))
      expect(reply.headers['retry-after']).toBeUndefined()
    }
  })

  it('answers 429 with Retry-After when the bucket is empty, however often', async () => {
    const { access } = await newTokens(org)
    await consume(access, 120)
    for (let turn = 0; turn < 5; turn++) expectDrained(await send(access))
  })

  it('refills one token a second: after one second one request is admitted and the next is not', async () => {
    const { access } = await newTokens(org)
    await consume(access, 120)
    expectDrained(await send(access))
    clock.advance(1)
    const reply = await send(access)
    expect(reply.status).toBe(200)
    expect(rateLimitHeadersOf(reply)).toEqual(expectedRateLimit(120, clock.seconds))
    expectDrained(await send(access))
  })

  it('admits nothing before the second is over, and a rejected request consumes no token', async () => {
    const { access } = await newTokens(org)
    await consume(access, 120)
    for (let turn = 0; turn < 3; turn++) {
      clock.advance(0.3)
      const reply = await send(access)
      expectApiError(reply, 'rate_limited')
      expect(reply.headers['retry-after']).toBe('1')
      expect(reply.headers['x-ratelimit-remaining']).toBe('0')
    }
    clock.advance(0.1)
    expect((await send(access)).status).toBe(200)
  })

  it('sustains 60 requests per 60 seconds', async () => {
    const { access } = await newTokens(org)
    await consume(access, 120)
    clock.advance(60)
    await consume(access, 60)
    expectDrained(await send(access))
  })

  it('never holds more than 120 tokens, however long it is unused', async () => {
    const { access } = await newTokens(org)
    await consume(access, 30)
    clock.advance(600)
    await consume(access, 120)
    expectDrained(await send(access))
  })

  it('is full again at Reset and not a second earlier', async () => {
    const { access } = await newTokens(org)
    await consume(access, 49)
    const { reset } = rateLimitHeadersOf(await send(access))
    clock.advance(Number(reset) - clock.seconds - 1)
    expect(await remaining(access)).toBe(118)
    const later = Number(rateLimitHeadersOf(await send(access)).reset)
    clock.advance(later - clock.seconds)
    expect(await remaining(access)).toBe(119)
  })

  it.each([0, 0.001, 0.25, 0.5, 0.999])(
    'shows a Reset at which Remaining equals Limit, when a token is consumed %d s after a whole second [D45]',
    async (offset) => {
      clock.advance(Math.ceil(clock.millis() / 1000) - clock.millis() / 1000)
      const { access } = await newTokens(org)
      clock.advance(offset)
      const exact = clock.millis() / 1000 + 3
      let rate = rateLimitHeadersOf(await send(access))
      for (let count = 1; count < 3; count++) rate = rateLimitHeadersOf(await send(access))
      expect(Number(rate.reset)).toBe(Math.ceil(exact - 1e-6))
      clock.advance(Number(rate.reset) - clock.millis() / 1000)
      expect(await remaining(access)).toBe(119)
    },
  )

  it('belongs to the key: another key of the same organization has its own bucket', async () => {
    const [first, second] = [await newTokens(org), await newTokens(org)]
    await consume(first.access, 120)
    expectDrained(await send(first.access))
    expect(await remaining(second.access)).toBe(119)
    expectDrained(await send(first.access))
  })

  it('belongs to the key, not to the token: all tokens of a key share one bucket', async () => {
    const key = await mintKey(org)
    const first = await tokensOf(context.app, key)
    const second = await tokensOf(context.app, key)
    await consume(first.access, 60)
    await consume(second.access, 60)
    expectDrained(await send(first.access))
    const third = await refresh(context.app, second.refresh)
    expect(third.status).toBe(200)
    expectDrained(await send(third.json.access_token as string))
  })

  describe('A token is consumed', () => {
    const bad = { headers: { 'content-type': 'text/plain' }, raw: 'x' }
    it.each<[string, string, string, SendOptions, number]>([
      ['a read', 'GET', '/api/v1/assets', {}, 200],
      ['a HEAD', 'HEAD', '/api/v1/assets', {}, 200],
      ['who am I', 'GET', '/api/v1/orgs/me', {}, 200],
      ['a create', 'POST', '/api/v1/assets', { json: { name: 'a' } }, 201],
      ['a parameter it does not know', 'GET', '/api/v1/assets', { query: 'colour=red' }, 400],
      [
        'a body that is not JSON',
        'POST',
        '/api/v1/assets',
        { raw: '{', headers: { 'content-type': 'application/json' } },
        400,
      ],
      ['a missing scope', 'GET', '/api/v1/locations', {}, 403],
      ['a record that is not there', 'GET', '/api/v1/assets/9007199254740991', {}, 404],
      ['a duplicate', 'POST', '/api/v1/assets', { json: { name: 'a', external_key: 'taken' } }, 409],
      ['a wrong media type', 'POST', '/api/v1/assets', bad, 415],
      ['a read by natural key', 'GET', '/natural/api/v1/assets', {}, 200],
      ['who am I on the natural-key base', 'GET', '/natural/api/v1/orgs/me', {}, 200],
      ['a create by natural key', 'POST', '/natural/api/v1/assets', { json: { name: 'a' } }, 201],
    ])('for %s', async (what, method, path, options, status) => {
      if (what === 'a duplicate') await org.full.post('/api/v1/assets', { name: 'a', external_key: 'taken' })
      const { access } = await newTokens(org, 'assets:read', 'assets:write')
      const reply = await send(access, method, path, options)
      expect(reply.status, reply.text).toBe(status)
      expect(rateLimitHeadersOf(reply)).toEqual(expectedRateLimit(1, clock.seconds))
      expect(await remaining(access)).toBe(118)
    })

    it('for every kind of write', async () => {
      const { access } = await newTokens(org, 'assets:write')
      const made = await send(access, 'POST', '/api/v1/assets', { json: { name: 'a' } })
      const path = `/api/v1/assets/${made.json.data.id}`
      const patched = await send(access, 'PATCH', path, { json: {} })
      const renamed = await send(access, 'POST', `${path}/rename`, { json: { external_key: `K-${made.json.data.id}` } })
      const tag = { tag_type: 'barcode', value: `V-${made.json.data.id}` }
      const tagged = await send(access, 'POST', `${path}/tags`, { json: tag })
      const untagged = await send(access, 'DELETE', `${path}/tags/${tagged.json.data.id}`)
      const deleted = await send(access, 'DELETE', path)
      const replies = [made, patched, renamed, tagged, untagged, deleted]
      expect(replies.map((reply) => reply.status)).toEqual([201, 200, 200, 201, 204, 204])
      expect(replies.map((reply) => rateLimitHeadersOf(reply).remaining)).toEqual([
        '119',
        '118',
        '117',
        '116',
        '115',
        '114',
      ])
    })

    it('for an internal error', async () => {
      const { access } = await newTokens(org)
      await database.sql`alter table organization_names rename to organization_names_away`
      const reply = await send(access)
      await database.sql`alter table organization_names_away rename to organization_names`
      expectApiError(reply, 'internal_error')
      expect(rateLimitHeadersOf(reply)).toEqual(expectedRateLimit(1, clock.seconds))
      expect(await remaining(access)).toBe(118)
    })
  })

  describe('No token is consumed and the headers show a full bucket (D10)', () => {
    it.each<[string, string, string, number]>([
      ['an unknown path', 'GET', '/api/v1/nothing', 404],
      ['a trailing slash', 'GET', '/api/v1/assets/', 404],
      ['a wrong method', 'PUT', '/api/v1/assets', 405],
      ['a preflight', 'OPTIONS', '/api/v1/assets', 204],
      ['the description', 'GET', '/api/openapi.json', 200],
    ])('for %s, even with a token whose bucket is not full', async (_what, method, path, status) => {
      const { access } = await newTokens(org)
      await consume(access, 5)
      const reply = await send(access, method, path)
      expect(reply.status).toBe(status)
      expect(rateLimitHeadersOf(reply)).toEqual(expectedRateLimit(0, clock.seconds))
      expect(await remaining(access)).toBe(114)
    })

    it('for a request that is answered 401', async () => {
      const { access } = await newTokens(org)
      await consume(access, 5)
      const replies = [await send(`${access}x`), await context.app.anonymous('GET', '/api/v1/assets')]
      for (const reply of replies) {
        expectApiError(reply, 'unauthorized')
        expect(rateLimitHeadersOf(reply)).toEqual(expectedRateLimit(0, clock.seconds))
      }
      expect(await remaining(access)).toBe(114)
    })

    it('for a session, whose requests are not counted at all', async () => {
      const { accessToken } = await org.signIn('manager')
      for (let turn = 0; turn < 130; turn++) {
        const reply = await send(accessToken, 'GET', '/api/v1/assets', { query: 'limit=1' })
        expect(reply.status).toBe(200)
        expect(rateLimitHeadersOf(reply)).toEqual(expectedRateLimit(0, clock.seconds))
      }
      const rejections = [
        await send(accessToken, 'GET', '/api/v1/assets/0'),
        await send(accessToken, 'GET', `/api/v1/orgs/${org.orgId}/api-keys`),
      ]
      expect(rejections.map((reply) => reply.status)).toEqual([400, 403])
      for (const reply of rejections) expect(rateLimitHeadersOf(reply)).toEqual(expectedRateLimit(0, clock.seconds))
    })

    it('for a revoked credential', async () => {
      const key = await mintKey(org)
      const { access } = await tokensOf(context.app, key)
      const { accessToken } = await org.signIn('admin')
      await consume(access, 5)
      const revoked = await send(accessToken, 'DELETE', `/api/v1/orgs/${org.orgId}/api-keys/${key.id}`)
      expect(revoked.status).toBe(204)
      const reply = await whoAmI(context.app, access)
      expectApiError(reply, 'unauthorized')
      expect(rateLimitHeadersOf(reply)).toEqual(expectedRateLimit(0, clock.seconds))
    })
  })

  describe('With an empty bucket', () => {
    it.each<[string, string, string, SendOptions]>([
      ['a wrong media type', 'POST', '/api/v1/assets', { headers: { 'content-type': 'text/plain' }, raw: 'x' }],
      ['a missing scope', 'GET', '/api/v1/locations', {}],
      ['a parameter it does not know', 'GET', '/api/v1/assets', { query: 'colour=red' }],
      ['an id out of range', 'GET', '/api/v1/assets/0', {}],
      ['a write', 'POST', '/api/v1/assets', { json: { name: 'never' } }],
      ['a write by natural key', 'POST', '/natural/api/v1/assets', { json: { name: 'never' } }],
    ])('the response is 429 before %s is checked (D6)', async (_what, method, path, options) => {
      const { access } = await newTokens(org, 'assets:read', 'assets:write')
      await consume(access, 120)
      expectDrained(await send(access, method, path, options))
      const found = await org.full.get('/api/v1/assets', { q: 'never' })
      expect(found.json.total_count).toBe(0)
    })

    it('404, 405, 401 and a preflight still come first (D6)', async () => {
      const { access } = await newTokens(org)
      await consume(access, 120)
      const replies = [
        await send(access, 'GET', '/api/v1/nothing'),
        await send(access, 'PUT', '/api/v1/assets'),
        await send(`${access}x`),
        await send(access, 'OPTIONS', '/api/v1/assets'),
      ]
      expect(replies.map((reply) => reply.status)).toEqual([404, 405, 401, 204])
    })

    it('the credential and its refresh token can still be exchanged', async () => {
      const key = await mintKey(org)
      const { access } = await tokensOf(context.app, key)
      await consume(access, 120)
      const { refresh: token } = await tokensOf(context.app, key)
      expect((await refresh(context.app, token)).status).toBe(200)
      expectDrained(await send(access))
    })
  })
})
