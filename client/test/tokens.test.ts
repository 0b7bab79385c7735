import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { revokeCredential } from '../../server/src/auth/commands.ts'
import { type TestOrg, useApp } from '../../server/test/support/app.ts'
import { HandClock, refresh, tokensOf } from '../../server/test/support/auth.ts'
import { ForbiddenError, Lastseen, UnauthorizedError } from '../src/index.ts'
import { SleepClock, newClient, newKey, rejection } from './support/clients.ts'
import { useProxy } from './support/proxy.ts'

const serverClock = new HandClock()
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
const together = (count: number, client: Lastseen) => Promise.all(Array.from({ length: count }, () => client.me()))

describe('tokens', () => {
  it('are exchanged once for any number of calls at the same time', async () => {
    const { client, key } = await open()
    const answers = await together(50, client)
    expect(answers.map(({ name }) => name)).toEqual(Array(50).fill('Northwind'))
    expect(answers[0]!.api_key_id).toBe(key.clientId)
    expect(grantTypes()).toEqual(['client_credentials'])
    expect(proxy.calls).toHaveLength(50)
  })

  it('are renewed once when many calls meet an expired one, and every refresh token is spent once', async () => {
    const { client } = await open()
    await client.me()
    for (const _round of [1, 2]) {
      serverClock.advance(901)
      await together(20, client)
    }
    expect(grantTypes()).toEqual(['client_credentials', 'refresh_token', 'refresh_token'])
    const spent = proxy.grants.slice(1).map(({ body }) => body.refresh_token)
    expect(spent).toEqual(proxy.grants.slice(0, 2).map(({ answer }) => answer.refresh_token))
  })

  it('are renewed before they end, without a refused request', async () => {
    const clock = new SleepClock()
    const { client } = await open(clock)
    await client.me()
    serverClock.advance(891)
    clock.advance(891)
    await client.me()
    expect(grantTypes()).toEqual(['client_credentials', 'refresh_token'])
    expect(proxy.calls.map(({ status }) => status)).toEqual([200, 200])
  })

  it('come from the credential again when the refresh token is refused', async () => {
    const { client } = await open()
    await client.me()
    expect((await refresh(context.app, proxy.grants[0]!.answer.refresh_token)).status).toBe(200)
    serverClock.advance(901)
    expect((await client.me()).name).toBe('Northwind')
    expect(grantTypes()).toEqual(['client_credentials', 'refresh_token', 'client_credentials'])
  })

  it.each([
    ['fails', { status: 500, forward: true }],
    ['is throttled', { status: 429, headers: { 'retry-after': '1' } }],
    ['brings no answer', 'hang up'],
  ] as const)(
    'come from the credential when a refresh %s, and the refresh token is not sent again',
    async (_what, instead) => {
      const { client } = await open()
      await client.me()
      serverClock.advance(901)
      proxy.intervene = ({ body }) => (body.grant_type === 'refresh_token' ? instead : undefined)
      await client.me()
      expect(grantTypes()).toEqual(['client_credentials', 'refresh_token', 'client_credentials'])
    },
  )

  it('end with the credential: a revoked one is refused after one refresh and one exchange', async () => {
    const { client, key } = await open()
    await client.me()
    await revokeCredential(context.app.core, org.orgId, { id: key.id })
    const error = (await rejection(client.me())) as UnauthorizedError
    expect(error).toBeInstanceOf(UnauthorizedError)
    expect(error).toMatchObject({ status: 401, type: 'unauthorized', attempts: 1 })
    expect(grantTypes()).toEqual(['client_credentials', 'refresh_token', 'client_credentials'])
    expect(proxy.calls).toHaveLength(2)
  })

  it('are not asked for again when even a fresh one is refused', async () => {
    const { client } = await open()
    proxy.intervene = ({ path }) => (path.endsWith('/orgs/me') ? { status: 401 } : undefined)
    expect(await rejection(client.me())).toBeInstanceOf(UnauthorizedError)
    expect(grantTypes()).toEqual(['client_credentials', 'refresh_token'])
    expect(proxy.calls).toHaveLength(2)
  })

  it('go on for the others when one of those who wait is aborted', async () => {
    const { client } = await open()
    const stop = new AbortController()
    const [mine, theirs] = [client.me({ signal: stop.signal }), client.me()]
    stop.abort(new Error('enough'))
    expect(await rejection(mine)).toMatchObject({ message: 'enough' })
    expect((await theirs).name).toBe('Northwind')
    expect(grantTypes()).toEqual(['client_credentials'])
  })

  it('may be looked after by somebody else', async () => {
    const key = await newKey(org)
    const { access } = await tokensOf(context.app, key)
    const held = new Lastseen({ baseUrl: proxy.url, accessToken: access })
    expect((await held.me()).name).toBe('Northwind')
    serverClock.advance(901)
    expect(await rejection(held.me())).toBeInstanceOf(UnauthorizedError)
    expect(proxy.passed).toHaveLength(2)

    const tokens = [access, (await tokensOf(context.app, key)).access]
    const asked = new Lastseen({ baseUrl: proxy.url, accessToken: () => tokens.shift() ?? '' })
    expect((await asked.me()).name).toBe('Northwind')
    expect(tokens).toEqual([])
  })

  it('carry scopes, and a missing one is named', async () => {
    const { client } = await newClient(org, { scopes: ['assets:read'] })
    const error = await rejection(client.locations.list())
    expect(error).toBeInstanceOf(ForbiddenError)
    expect(error).toMatchObject({ status: 403, type: 'forbidden', message: 'Missing required scope: locations:read' })
  })
})

describe('a request', () => {
  it('says who sends it, and whose program that is part of', async () => {
    await (await open()).client.me()
    await (await newClient(org, { baseUrl: proxy.url, userAgent: 'erp-sync/2.1' })).client.me()
    const agents = proxy.passed.map(({ headers }) => headers['user-agent'])
    const own = 'lastseen-client/0.1.0'
    expect(agents).toEqual([own, own, `erp-sync/2.1 ${own}`, `erp-sync/2.1 ${own}`])
  })
})
