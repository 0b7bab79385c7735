import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type TestOrg, useApp } from '../../server/test/support/app.ts'
import { tokensOf } from '../../server/test/support/auth.ts'
import { Lastseen, NotFoundError, ServerError, UnauthorizedError } from '../src/index.ts'
import { SleepClock, newClient, newKey, rejection } from './support/clients.ts'
import { useProxy } from './support/proxy.ts'

const context = useApp()
const proxy = useProxy()
let org: TestOrg

beforeAll(async () => {
  org = await context.app.newOrg('Northwind')
})
beforeEach(() => {
  proxy.reset()
  proxy.target = context.app.url
})

const open = async () => (await newClient(org, { baseUrl: proxy.url, clock: new SleepClock() })).client
const asset = { external_key: 'JACK-7', name: 'Pallet jack 7' }

describe('A request to a path', () => {
  it('returns the parsed body, with the query and the body as given', async () => {
    const client = await open()
    const created = await client.request('/api/v1/assets', { method: 'POST', body: asset })
    expect(created).toMatchObject({ data: asset })
    const query = { external_key: ['JACK-7', 'JACK-8'], q: undefined, limit: 5 }
    expect(await client.request('/api/v1/assets', { query })).toMatchObject({ data: [asset], limit: 5 })
    expect(proxy.calls.at(-1)!.path).toBe('/api/v1/assets?external_key=JACK-7&external_key=JACK-8&limit=5')
  })

  it.each([200, 202, 204])('returns undefined for a %i response without a body', async (status) => {
    const client = await open()
    proxy.intercept = ({ path }) => (path === '/api/v1/empty' ? { status, body: '' } : undefined)
    expect(await client.request('/api/v1/empty', { method: 'POST' })).toBeUndefined()
  })

  it('returns the response with its headers when it is opened', async () => {
    const client = await open()
    const response = await client.open('/api/v1/bulk/assets', { headers: { Accept: 'text/csv' } })
    expect(response.status).toBe(200)
    expect(response.headers.get('Content-Type')).toMatch(/^text\/csv/)
    expect(await response.text()).toMatch(/^\uFEFF?external_key,/)
  })

  it('throws the error classes of every other method', async () => {
    const client = await open()
    expect(await rejection(client.request('/api/v1/assets/4'))).toBeInstanceOf(NotFoundError)
    expect(await rejection(client.open('/api/v1/assets/4'))).toBeInstanceOf(NotFoundError)
  })

  it('is retried after a 500, except a POST, which the server may have executed', async () => {
    const client = await open()
    proxy.intercept = ({ path }) => (path.startsWith('/api/v1/assets') ? { status: 500 } : undefined)
    expect(await rejection(client.request('/api/v1/assets'))).toMatchObject({ attempts: 5 })
    const error = await rejection(client.request('/api/v1/assets', { method: 'POST', body: asset }))
    expect(error).toBeInstanceOf(ServerError)
    expect(error).toMatchObject({ attempts: 1 })
  })

  it.each(['.example.com/', 'https://example.com/', ''])(
    'is not sent to a path that does not begin with a slash: %j',
    async (path) => {
      const client = await open()
      const message = `Lastseen: the path must begin with a slash: ${path}`
      expect(await rejection(client.request(path))).toEqual(new TypeError(message))
      expect(proxy.requests).toEqual([])
    },
  )
})

describe('A function that provides access tokens', () => {
  const withProvider = (accessToken: (rejected?: string) => string) => new Lastseen({ baseUrl: proxy.url, accessToken })

  it('is called with the rejected token, and the request is sent again with the token that it returns', async () => {
    const { access } = await tokensOf(context.app, await newKey(org))
    const calls: unknown[][] = []
    const client = withProvider((...rejected) => {
      calls.push(rejected)
      return rejected.length === 0 ? 'outdated' : access
    })
    expect((await client.me()).name).toBe('Northwind')
    expect(calls).toEqual([[], ['outdated']])
    expect(proxy.calls.map(({ status }) => status)).toEqual([401, 200])
  })

  it.each(['outdated', ''])('ends the call when it returns %j for the rejected token', async (next) => {
    const client = withProvider((rejected) => (rejected === undefined ? 'outdated' : next))
    expect(await rejection(client.me())).toBeInstanceOf(UnauthorizedError)
    expect(proxy.calls).toHaveLength(1)
  })

  it('returns an empty token for requests without an Authorization header', async () => {
    const client = withProvider(() => '')
    expect(await rejection(client.me())).toBeInstanceOf(UnauthorizedError)
    expect(proxy.calls[0]!.headers).not.toHaveProperty('authorization')
  })
})
