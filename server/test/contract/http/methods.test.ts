import { beforeAll, describe, expect, it } from 'vitest'
import type { AnyRoute } from '../../../src/http/route.ts'
import { type TestOrg, useApp } from '../../support/app.ts'
import type { Client } from '../../support/client.ts'
import { primaryDocument } from '../../support/openapi.ts'
import { expectCommonHeaders, expectApiError } from '../../support/error-response.ts'
import { sendRaw } from '../../support/raw-http.ts'
import { pathTemplateOf, allRoutes, fillPath, routePathWith } from '../../support/all-routes.ts'

const startedAt = Date.now()
const context = useApp({ clock: { millis: () => startedAt } })

let org: TestOrg
let full: Client
let session: string
const ids: Record<string, number> = {}

beforeAll(async () => {
  org = await context.app.newOrg()
  full = org.full
  session = (await org.signIn('admin')).accessToken
  ids['org_id'] = org.orgId
  ids['asset_id'] = (
    await full.post('/api/v1/assets', { external_key: 'FORKLIFT', name: 'Forklift – groß' })
  ).json.data.id
  ids['location_id'] = (await full.post('/api/v1/locations', { external_key: 'SOUTH', name: 'Halle Süd' })).json.data.id
})

const paths = new Map<string, string[]>()
for (const route of allRoutes)
  paths.set(pathTemplateOf(route), [...(paths.get(pathTemplateOf(route)) ?? []), route.method])

const order = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']
const allowed = (methods: readonly string[]): string[] =>
  order.filter((method) => methods.includes(method) || (method === 'HEAD' && methods.includes('GET')))

const rejected = [...paths].flatMap(([path, methods]) =>
  [...order, 'TRACE', 'PROPFIND', 'SEARCH']
    .filter((method) => !allowed(methods).includes(method))
    .map((method) => [method, path, allowed(methods).join(', ')] as const),
)

describe('An unsupported method', () => {
  it.each(rejected)('%s %s is 405 and both Allow and detail list %s', async (method, path, list) => {
    const address = fillPath(path, 5, 7)
    const reply = await sendRaw(context.app.url, [`${method} ${address} HTTP/1.1`, 'Host: a', 'Connection: close'])
    if (method === 'HEAD') {
      expect([reply.status, reply.headers['allow'], reply.text]).toEqual([405, list, ''])
      return
    }
    expectApiError(reply, 'method_not_allowed', { detail: `Allowed methods: ${list}`, instance: address })
    expect(reply.headers['allow']).toBe(list)
  })

  it.each([
    ['/api/v1/assets', 'GET, HEAD, POST'],
    ['/api/v1/assets/5', 'GET, HEAD, PATCH, DELETE'],
    ['/api/v1/assets/5/rename', 'POST'],
    ['/api/v1/assets/5/tags', 'POST'],
    ['/api/v1/assets/5/tags/7', 'DELETE'],
    ['/api/v1/locations/5/children', 'GET, HEAD'],
    ['/api/v1/oauth/token', 'POST'],
    ['/api/v1/orgs/me', 'GET, HEAD'],
  ])('such as PUT on %s is answered with Allow: %s (D1)', async (path, list) => {
    const reply = await full.send('PUT', path, { json: {} })
    expectApiError(reply, 'method_not_allowed', { detail: `Allowed methods: ${list}` })
    expect(reply.headers['allow']).toBe(list)
  })

  it('is rejected without consuming a token (D10)', async () => {
    const token = await org.client('assets:read').token()
    for (let count = 0; count < 20; count++) {
      const reply = await context.app.anonymous('PUT', '/api/v1/assets', { token })
      expect(reply.headers['x-ratelimit-remaining']).toBe('120')
      expect(reply.headers['x-ratelimit-reset']).toBe(String(Math.floor(startedAt / 1000)))
    }
    const reply = await context.app.anonymous('GET', '/api/v1/orgs/me', { token })
    expect(reply.headers['x-ratelimit-remaining']).toBe('119')
  })
})

describe('HEAD', () => {
  // A generated download has no Content-Length; its own tests cover HEAD.
  const isFile = (route: AnyRoute): boolean => route.path.endsWith('.csv') || route.success.content !== undefined
  const readable = allRoutes
    .filter((route) => route.method === 'GET' && !isFile(route))
    .map((route) => [pathTemplateOf(route), route] as const)

  it.each(readable)('on %s has the status and headers of GET and no body', async (_path, route) => {
    const key = route.path.startsWith('/assets') ? 'FORKLIFT' : 'SOUTH'
    const address = routePathWith(route, (name) => (name === 'identifier' ? key : (ids[name] ?? 5)))
    const authorization = `Authorization: Bearer ${route.access === 'session' ? session : await full.token()}`
    const ask = (method: string) =>
      sendRaw(context.app.url, [`${method} ${address} HTTP/1.1`, 'Host: a', authorization])
    const [get, head] = [await ask('GET'), await ask('HEAD')]
    const status = (route.ids ?? []).every((name) => name in ids) ? 200 : 404
    expect([get.status, head.status, head.text]).toEqual([status, status, ''])
    const ownToEach = ['x-request-id', 'x-ratelimit-remaining', 'x-ratelimit-reset', 'date']
    const shared = (headers: Record<string, string>) =>
      Object.fromEntries(Object.entries(headers).filter(([name]) => !ownToEach.includes(name)))
    expect(shared(head.headers)).toEqual(shared(get.headers))
    expect(head.headers['content-length']).toBe(String(Buffer.byteLength(get.text)))
    expectCommonHeaders(head)
  })

  it('on the live stream answers at once and without a body', async () => {
    const reply = await full.send('HEAD', '/api/v1/live')
    expect([reply.status, reply.text, reply.headers['content-type']]).toEqual([200, '', 'text/event-stream'])
  })

  it.each(['/api/openapi.json', '/api/openapi.yaml', '/openapi.json', '/api/docs', '/healthz', '/readyz'])(
    'is accepted on %s',
    async (path) => {
      const [get, head] = await Promise.all(['GET', 'HEAD'].map((method) => context.app.anonymous(method, path)))
      expect([head!.status, head!.text]).toEqual([get!.status, ''])
      expect(head!.headers['content-length']).toBe(get!.headers['content-length'])
      expect(head!.headers['content-type']).toBe(get!.headers['content-type'])
    },
  )

  it.each([
    ['an unknown path', '/api/v1/nothing', 404],
    ['an unknown id', '/api/v1/assets/4503599627370497', 404],
    ['an id out of range', '/api/v1/assets/0', 400],
    ['an unknown parameter', '/api/v1/assets?nope=1', 400],
    ['a path that only takes POST', '/api/v1/oauth/token', 405],
  ])('is rejected like GET on %s, without a body', async (_what, path, status) => {
    const [get, head] = await Promise.all(['GET', 'HEAD'].map((method) => full.send(method, path)))
    expect([get!.status, head!.status, head!.text]).toEqual([status, status, ''])
    expect(head!.headers['content-type']).toBe('application/json')
    expect(Number(head!.headers['content-length'])).toBe(Buffer.byteLength(get!.text))
    expectCommonHeaders(head!)
  })

  it('needs a token where GET needs one', async () => {
    const reply = await context.app.anonymous('HEAD', '/api/v1/assets')
    expect([reply.status, reply.text, reply.headers['www-authenticate']]).toEqual([
      401,
      '',
      'Bearer realm="service-api"',
    ])
  })

  it('consumes a token like GET', async () => {
    const token = await org.client('assets:read').token()
    const first = await context.app.anonymous('HEAD', '/api/v1/assets', { token })
    const second = await context.app.anonymous('GET', '/api/v1/assets', { token })
    expect([first, second].map((reply) => reply.headers['x-ratelimit-remaining'])).toEqual(['119', '118'])
  })

  it('is not declared in the description', () => {
    const methods = new Set(Object.values(primaryDocument.paths).flatMap((path) => Object.keys(path)))
    expect([...methods].sort()).toEqual(['delete', 'get', 'patch', 'post'])
  })
})

describe('An unknown path', () => {
  it.each([
    '/api/v1',
    '/api/v1/',
    '/api/v1/assets/',
    '/api/v1/assets/5/',
    '/api/v1//assets',
    '//api/v1/assets',
    '/api/v1/assets/5/history/more',
    '/api/v1/asset',
    '/api/v1/ASSETS',
    '/API/v1/assets',
    '/api/v2/assets',
    '/api/v1/assets/5/tags/',
    '/api/v1/assets/5//tags',
    '/api/v1/assets;x=1',
    '/api/v1/%2e%2e/v1/assets',
    '/api/v1/../v1/assets',
    '/api/v1/./assets',
    '/api/v1/%61ssets',
    '/api/v1/assets%3Flimit=1',
    '/api/v1/__proto__',
    '/constructor',
    '/api/v1/orgs',
    '/nowhere',
    '/api/openapi.json/',
    '/healthz/',
    '/natural/api/v1/',
    '/natural/api/v1/assets/',
    '/natural/api/v1/assets/FORKLIFT/',
    '/natural/api/v1/locations/current/',
  ])('such as %s is 404 with and without a token (D6)', async (path) => {
    for (const more of [[], [`Authorization: Bearer ${await full.token()}`]]) {
      const reply = await sendRaw(context.app.url, [`GET ${path} HTTP/1.1`, 'Host: a', ...more])
      expectApiError(reply, 'not_found', { instance: path })
    }
  })

  it.each(['POST', 'PATCH', 'PUT', 'DELETE'])('is 404 for %s too, whatever the body', async (method) => {
    const headers = { 'content-type': 'text/plain' }
    const reply = await context.app.anonymous(method, '/api/v1/assets/', { raw: '{', headers })
    expectApiError(reply, 'not_found')
  })
})
