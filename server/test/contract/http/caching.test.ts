import { beforeAll, describe, expect, it } from 'vitest'
import { type TestOrg, useApp } from '../../support/app.ts'
import type { Client, Reply, SendOptions } from '../../support/client.ts'
import { EventStream } from '../../support/event-stream.ts'

const context = useApp()

let org: TestOrg
let full: Client
let assetId: number
let session: Awaited<ReturnType<TestOrg['signIn']>>
beforeAll(async () => {
  org = await context.app.newOrg()
  full = org.client('assets:read', 'assets:write')
  assetId = (await full.post('/api/v1/assets', { name: 'a', external_key: 'TAKEN' })).json.data.id
  session = await org.signIn('admin')
})

const caching = ({ headers }: Pick<Reply, 'headers'>) => ({
  'cache-control': headers['cache-control'],
  vary: headers['vary'],
})
const authenticated = { 'cache-control': 'private, no-store', vary: 'Authorization' }

describe('The response to an authenticated request', () => {
  const text = { headers: { 'content-type': 'text/plain' }, raw: 'x' }

  it.each<[number, string, string, SendOptions]>([
    [200, 'GET', '/api/v1/assets', {}],
    [200, 'HEAD', '/api/v1/assets', {}],
    [200, 'GET', '/api/v1/assets/{asset}', {}],
    [200, 'GET', '/natural/api/v1/assets/TAKEN', {}],
    [200, 'GET', '/api/v1/orgs/me', {}],
    [201, 'POST', '/api/v1/assets', { json: { name: 'a', external_key: 'NEW' } }],
    [200, 'PATCH', '/api/v1/assets/{asset}', { json: {} }],
    [204, 'DELETE', '/natural/api/v1/assets/NEW', {}],
    [400, 'GET', '/api/v1/assets', { query: 'colour=red' }],
    [403, 'GET', '/api/v1/locations', {}],
    [403, 'GET', '/api/v1/members', {}],
    [404, 'GET', '/api/v1/assets/4503599627370497', {}],
    [409, 'POST', '/api/v1/assets', { json: { name: 'a', external_key: 'TAKEN' } }],
    [415, 'POST', '/api/v1/assets', text],
  ])('carries Cache-Control: private, no-store and Vary: Authorization on a %i to %s %s [D53]', async (...row) => {
    const [status, method, path, options] = row
    const reply = await full.send(method, path.replace('{asset}', String(assetId)), options)
    expect(reply.status, reply.text).toBe(status)
    expect(caching(reply)).toEqual(authenticated)
  })

  it('carries them on a 429, too [D53]', async () => {
    const client = org.client('assets:read')
    const token = await client.token()
    const ask = (): Promise<Reply> => context.app.anonymous('HEAD', '/api/v1/orgs/me', { token })
    const replies = await Promise.all(Array.from({ length: 130 }, ask))
    const rejected = replies.filter((reply) => reply.status === 429)
    expect(rejected.length).toBeGreaterThan(0)
    for (const reply of rejected) expect(caching(reply)).toEqual(authenticated)
  })

  it.each(['/api/v1/assets', '/api/v1/members', '/api/v1/exports/assets.csv'])(
    'carries them for a session, downloads included: GET %s [D53]',
    async (path) => {
      const reply = await context.app.anonymous('GET', path, { token: session.accessToken })
      expect(reply.status, reply.text).toBe(200)
      expect(caching(reply)).toEqual(authenticated)
    },
  )

  it('carries them on a stream [D53]', async () => {
    const stream = await EventStream.open(context.app, session.accessToken)
    expect(caching({ headers: stream.headers as Reply['headers'] })).toEqual(authenticated)
    stream.close()
  })

  it('carries them where a secret is shown once [D53]', async () => {
    const reply = await context.app.anonymous('POST', `/api/v1/orgs/${org.orgId}/api-keys`, {
      token: session.accessToken,
      json: { name: 'a', scopes: ['assets:read'] },
    })
    expect(reply.status).toBe(201)
    expect(caching(reply)).toEqual(authenticated)
  })
})

describe('The response with tokens', () => {
  it('keeps Cache-Control: no-store, also where the request is authenticated (D41) [D53]', async () => {
    const { clientId, clientSecret } = await full.mint()
    const json = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret }
    const exchanged = await context.app.anonymous('POST', '/api/v1/oauth/token', { json })
    expect(caching(exchanged)).toEqual({ 'cache-control': 'no-store', vary: undefined })
    const switched = await context.app.anonymous('POST', '/api/v1/auth/switch-org', {
      token: session.accessToken,
      json: { org_id: org.orgId },
    })
    expect(switched.status, switched.text).toBe(200)
    expect(caching(switched)).toEqual({ 'cache-control': 'no-store', vary: 'Authorization' })
  })
})

describe('The response to a request that is not authenticated', () => {
  it.each([
    [401, 'GET', '/api/v1/assets'],
    [404, 'GET', '/api/v1/nothing'],
    [405, 'PUT', '/api/v1/assets'],
    [204, 'OPTIONS', '/api/v1/assets'],
  ])('has no caching headers: %i to %s %s [D53]', async (status, method, path) => {
    const reply = await context.app.anonymous(method, path)
    expect(reply.status).toBe(status)
    expect(caching(reply)).toEqual({ 'cache-control': undefined, vary: undefined })
  })
})
