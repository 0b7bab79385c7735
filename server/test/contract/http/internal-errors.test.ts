import { beforeAll, describe, expect, it } from 'vitest'
import type { AnyRoute } from '../../../src/http/route.ts'
import type { TestOrg } from '../../support/app.ts'
import type { Reply } from '../../support/client.ts'
import { expectApiError } from '../../support/error-response.ts'
import { validBody } from '../../support/example-bodies.ts'
import { useAppBehindProxy } from '../../support/proxied-database.ts'
import { pathTemplateOf, allRoutes, routePathWith } from '../../support/all-routes.ts'

let nowMs = Date.now()
const context = useAppBehindProxy({ millis: () => nowMs })

let org: TestOrg
let session: string
let token: string

beforeAll(async () => {
  org = await context.app.newOrg()
  session = (await org.signIn('admin')).accessToken
  token = await org.full.token()
  // Both are cached by now, so that their requests pass authentication and fail in the operation itself.
  for (const one of [session, token]) await context.app.anonymous('GET', '/api/v1/assets', { token: one })
  await context.proxy.close()
})

const pathTo = (route: AnyRoute): string =>
  routePathWith(route, (name) => (name === 'org_id' ? org.orgId : 4_503_599_627_370_497))

async function ask(route: AnyRoute): Promise<Reply> {
  const json = validBody(route)
  return context.app.anonymous(route.method, pathTo(route), {
    ...(route.access === 'public' ? {} : { token: route.access === 'session' ? session : token }),
    ...(json === undefined ? {} : { json }),
    // An empty search is answered without the database.
    ...(route.id === 'search' ? { query: { q: 'a' } } : {}),
  })
}

function expectNoDetails(reply: Reply, instance: string): void {
  expectApiError(reply, 'internal_error', { detail: 'An unexpected error occurred', instance })
  const usual =
    /^(x-|ratelimit-|access-control-|content-(type|length)$|cache-control$|vary$|date$|connection$|keep-alive$)/
  expect(Object.keys(reply.headers).filter((header) => !usual.test(header))).toEqual([])
}

const rows = allRoutes.map((route) => [route.method, pathTemplateOf(route), route] as const)

describe('While the database is down', () => {
  it.each(rows)('%s %s is internal_error with a constant detail, and nothing leaks', async (_method, _path, route) => {
    expectNoDetails(await ask(route), pathTo(route))
  })

  it('HEAD is 500 without a body', async () => {
    const reply = await context.app.anonymous('HEAD', '/api/v1/assets', { token })
    expect([reply.status, reply.text, reply.headers['content-type']]).toEqual([500, '', 'application/json'])
  })

  it.each([
    ['a preflight', 'OPTIONS', '/api/v1/assets', 204],
    ['an unknown path', 'GET', '/api/v1/nothing', 404],
    ['a wrong method', 'PUT', '/api/v1/assets', 405],
    ['a missing token', 'GET', '/api/v1/assets', 401],
    ['the description', 'GET', '/api/openapi.json', 200],
    ['the reference', 'GET', '/api/docs', 200],
    ['the sign of life', 'GET', '/healthz', 200],
  ])('%s is answered as usual: %s %s', async (_what, method, path, status) => {
    expect((await context.app.anonymous(method, path)).status).toBe(status)
  })

  it('/readyz reports that the service is not ready', async () => {
    const reply = await context.app.anonymous('GET', '/readyz')
    expect([reply.status, reply.json]).toEqual([503, undefined])
  })

  it('a token that must be looked up again is internal_error, not 401, because it may be valid', async () => {
    nowMs += 61_000
    for (const path of ['/api/v1/assets', '/api/v1/live', '/natural/api/v1/live'])
      expectNoDetails(await context.app.anonymous('GET', path, { token }), path)
  })
})

describe('Once the database is back', () => {
  it('the service serves again without a restart', async () => {
    await context.proxy.open()
    const status = async () => (await context.app.anonymous('GET', '/api/v1/assets', { token })).status
    await expect.poll(status, { timeout: 20_000, interval: 200 }).toBe(200)
    expect((await context.app.anonymous('GET', '/readyz')).status).toBe(200)
    const made = await org.full.post('/api/v1/assets', { name: 'after the outage' })
    expect(made.status).toBe(201)
  })
})
