import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { revokeCredential } from '../../server/src/auth/commands.ts'
import { type TestOrg, useApp } from '../../server/test/support/app.ts'
import { ManualClock, refresh, tokensOf } from '../../server/test/support/auth.ts'
import { ForbiddenError, Lastseen, UnauthorizedError } from '../src/index.ts'
import { SleepClock, newClient, newKey, rejection } from './support/clients.ts'
import { useProxy } from './support/proxy.ts'

const serverClock = new ManualClock()
const context = useApp({ clock: serverClock })
const proxy = useProxy()
let org: TestOrg

beforeAll(async () => {
  org = await context.app.newOrg('Northwind')
})
beforeEach(() => {
  proxy.reset()
  proxy.target = context.app.url
})

const open = (clock = new SleepClock()) => newClient(org, { baseUrl: proxy.url, clock })
const grantTypes = (): string[] => proxy.grants.map(({ body }) => body.grant_type)
const callConcurrently = (count: number, client: Lastseen) =>
  Promise.all(Array.from({ length: count }, () => client.me()))

describe('tokens', () => {
  it('are exchanged once for any number of concurrent calls', async () => {
    const { client, key } = await open()
    const responses = await callConcurrently(50, client)
    expect(responses.map(({ name }) => name)).toEqual(Array(50).fill('Northwind'))
    expect(responses[0]!.api_key_id).toBe(key.clientId)
    expect(grantTypes()).toEqual(['client_credentials'])
    expect(proxy.calls).toHaveLength(50)
  })

  it('are refreshed once when concurrent calls use an expired token, and every refresh token is sent once', async () => {
    const { client } = await open()
    await client.me()
    for (const _round of [1, 2]) {
      serverClock.advance(901)
      await callConcurrently(20, client)
    }
    expect(grantTypes()).toEqual(['client_credentials', 'refresh_token', 'refresh_token'])
    const sent = proxy.grants.slice(1).map(({ body }) => body.refresh_token)
    expect(sent).toEqual(proxy.grants.slice(0, 2).map(({ response }) => response.refresh_token))
  })

  it('are refreshed before they expire, without a rejected request', async () => {
    const clock = new SleepClock()
    const { client } = await open(clock)
    await client.me()
    serverClock.advance(891)
    clock.advance(891)
    await client.me()
    expect(grantTypes()).toEqual(['client_credentials', 'refresh_token'])
    expect(proxy.calls.map(({ status }) => status)).toEqual([200, 200])
  })

  it('come from the credential again when the refresh token is rejected', async () => {
    const { client } = await open()
    await client.me()
    expect((await refresh(context.app, proxy.grants[0]!.response.refresh_token)).status).toBe(200)
    serverClock.advance(901)
    expect((await client.me()).name).toBe('Northwind')
    expect(grantTypes()).toEqual(['client_credentials', 'refresh_token', 'client_credentials'])
  })

  it.each([
    ['fails', { status: 500, forward: true }],
    ['is throttled', { status: 429, headers: { 'retry-after': '1' } }],
    ['gets no response', 'disconnect'],
  ] as const)(
    'come from the credential when a refresh %s, and the refresh token is not sent twice',
    async (_case, replacement) => {
      const { client } = await open()
      await client.me()
      serverClock.advance(901)
      proxy.intercept = ({ body }) => (body.grant_type === 'refresh_token' ? replacement : undefined)
      await client.me()
      expect(grantTypes()).toEqual(['client_credentials', 'refresh_token', 'client_credentials'])
    },
  )

  it('of a revoked credential are rejected after one refresh and one exchange', async () => {
    const { client, key } = await open()
    await client.me()
    await revokeCredential(context.app.context, org.orgId, { id: key.id })
    const error = (await rejection(client.me())) as UnauthorizedError
    expect(error).toBeInstanceOf(UnauthorizedError)
    expect(error).toMatchObject({ status: 401, type: 'unauthorized', attempts: 1 })
    expect(grantTypes()).toEqual(['client_credentials', 'refresh_token', 'client_credentials'])
    expect(proxy.calls).toHaveLength(2)
  })

  it('are not requested again when a fresh token is rejected too', async () => {
    const { client } = await open()
    proxy.intercept = ({ path }) => (path.endsWith('/orgs/me') ? { status: 401 } : undefined)
    expect(await rejection(client.me())).toBeInstanceOf(UnauthorizedError)
    expect(grantTypes()).toEqual(['client_credentials', 'refresh_token'])
    expect(proxy.calls).toHaveLength(2)
  })

  it('are still delivered to the other calls when one waiting call is aborted', async () => {
    const { client } = await open()
    const controller = new AbortController()
    const [aborted, other] = [client.me({ signal: controller.signal }), client.me()]
    controller.abort(new Error('enough'))
    expect(await rejection(aborted)).toMatchObject({ message: 'enough' })
    expect((await other).name).toBe('Northwind')
    expect(grantTypes()).toEqual(['client_credentials'])
  })

  it('can be managed by the application', async () => {
    const key = await newKey(org)
    const { access } = await tokensOf(context.app, key)
    const withToken = new Lastseen({ baseUrl: proxy.url, accessToken: access })
    expect((await withToken.me()).name).toBe('Northwind')
    serverClock.advance(901)
    expect(await rejection(withToken.me())).toBeInstanceOf(UnauthorizedError)
    expect(proxy.requests).toHaveLength(2)

    const tokens = [access, (await tokensOf(context.app, key)).access]
    const withFunction = new Lastseen({ baseUrl: proxy.url, accessToken: () => tokens.shift() ?? '' })
    expect((await withFunction.me()).name).toBe('Northwind')
    expect(tokens).toEqual([])
  })

  it('have scopes, and the error names a missing scope', async () => {
    const { client } = await newClient(org, { scopes: ['assets:read'] })
    const error = await rejection(client.locations.list())
    expect(error).toBeInstanceOf(ForbiddenError)
    expect(error).toMatchObject({ status: 403, type: 'forbidden', message: 'Missing required scope: locations:read' })
  })
})

describe('a request', () => {
  it('names the client and the application in User-Agent', async () => {
    await (await open()).client.me()
    await (await newClient(org, { baseUrl: proxy.url, userAgent: 'erp-sync/2.1' })).client.me()
    const agents = proxy.requests.map(({ headers }) => headers['user-agent'])
    const own = 'lastseen-client/1.0.0'
    expect(agents).toEqual([own, own, `erp-sync/2.1 ${own}`, `erp-sync/2.1 ${own}`])
  })
})
