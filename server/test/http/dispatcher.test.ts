import { afterEach, describe, expect, it } from 'vitest'
import { text } from '../../src/http/validation/fields.ts'
import { errorStatusesOf } from '../../src/http/openapi/document.ts'
import { ok, route } from '../../src/http/route.ts'
import { send } from '../support/client.ts'
import { expectApiError } from '../support/error-response.ts'
import { type MountedServer, testRouteDefaults, mountRoutes, testRoute, success } from '../support/mount-routes.ts'
import { RawConnection } from '../support/raw-http.ts'

let mounted: MountedServer | undefined

afterEach(async () => {
  await mounted?.close()
  mounted = undefined
})

describe('A deprecated endpoint', () => {
  const sunset = new Date('2027-03-01T12:30:00.750Z')
  const farewell = { deprecation: 'true', sunset: 'Mon, 01 Mar 2027 12:30:00 GMT' }
  const now = Date.parse('2026-08-01T00:00:00Z')
  const since = new Date('2026-07-01T00:00:00Z')
  const old = testRoute('old', async () => ok({ data: 1 }), { deprecation: { since, sunset } })
  const current = testRoute('new', async () => ok({ data: 1 }))

  it('carries Deprecation and Sunset with an HTTP date', async () => {
    mounted = await mountRoutes([old, current], { clock: { millis: () => now } })
    const reply = await send(mounted.url, 'GET', '/api/v1/old', { token: 'a' })
    expect(reply.status).toBe(200)
    expect(reply.headers).toMatchObject(farewell)
  })

  it('carries them on its error responses too', async () => {
    mounted = await mountRoutes([old, current], { clock: { millis: () => now } })
    const errorStatuses = [
      await send(mounted.url, 'GET', '/api/v1/old'),
      await send(mounted.url, 'GET', '/api/v1/old', { token: 'a', query: 'nope=1' }),
    ]
    expect(errorStatuses.map((reply) => reply.status)).toEqual([401, 400])
    for (const reply of errorStatuses) expect(reply.headers).toMatchObject(farewell)
  })

  it.each([
    ['2026-08-28T12:00:00Z', '2027-02-28T12:00:00Z', true],
    ['2026-08-28T12:00:00Z', '2027-02-28T11:59:59Z', false],
    ['2026-07-01T00:00:00Z', '2026-12-31T23:59:59Z', false],
  ])('has at least six months between deprecation and sunset: %s to %s is %s', async (from, to, isEnough) => {
    const deprecation = { since: new Date(from), sunset: new Date(to) }
    const mounting = mountRoutes([testRoute('old', async () => ok({ data: 1 }), { deprecation })])
    if (isEnough) mounted = await mounting
    else await expect(mounting).rejects.toThrow('old has a sunset less than six months after its deprecation')
  })

  it('does not affect the headers of other endpoints', async () => {
    mounted = await mountRoutes([old, current], { clock: { millis: () => now } })
    const reply = await send(mounted.url, 'GET', '/api/v1/new', { token: 'a' })
    expect([reply.headers['deprecation'], reply.headers['sunset']]).toEqual([undefined, undefined])
  })
})

describe('An endpoint past its sunset date', () => {
  const sunset = new Date('2027-03-01T12:30:00Z')
  const farewell = { deprecation: 'true', sunset: 'Mon, 01 Mar 2027 12:30:00 GMT' }
  const since = new Date('2026-07-01T00:00:00Z')
  const old = testRoute('old', async () => ok({ data: 1 }), { deprecation: { since, sunset } })
  const current = testRoute('new', async () => ok({ data: 1 }))
  const mountAt = (millis: number): Promise<MountedServer> =>
    mountRoutes([old, current], { clock: { millis: () => millis } })
  const fullBucket = { 'x-ratelimit-remaining': '120', 'x-ratelimit-reset': String(sunset.getTime() / 1000) }

  it('works until the last millisecond before it [D44]', async () => {
    mounted = await mountAt(sunset.getTime() - 1)
    const reply = await send(mounted.url, 'GET', '/api/v1/old', { token: 'a' })
    expect([reply.status, reply.json]).toEqual([200, { data: 1 }])
  })

  it.each([
    ['with a token', { token: 'a' }],
    ['without a token', {}],
    ['with a parameter it does not know', { token: 'a', query: 'nope=1' }],
  ])(
    'is 410 gone %s, before authentication, with Deprecation, Sunset and a full bucket [D44]',
    async (_what, options) => {
      mounted = await mountAt(sunset.getTime())
      const reply = await send(mounted.url, 'GET', '/api/v1/old', options)
      expectApiError(reply, 'gone', { instance: '/api/v1/old' })
      expect(reply.headers).toMatchObject({ ...farewell, ...fullBucket })
    },
  )

  it('consumes no token: the bucket of the key stays full [D44]', async () => {
    mounted = await mountAt(sunset.getTime())
    for (let count = 0; count < 3; count++) await send(mounted.url, 'GET', '/api/v1/old', { token: 'a' })
    const reply = await send(mounted.url, 'GET', '/api/v1/new', { token: 'a' })
    expect([reply.status, reply.headers['x-ratelimit-remaining']]).toEqual([200, '119'])
  })

  it.each([
    ['HEAD', '/api/v1/old', 410],
    ['OPTIONS', '/api/v1/old', 204],
    ['POST', '/api/v1/old', 405],
    ['GET', '/api/v1/older', 404],
    ['GET', '/api/v1/new', 200],
  ])('is checked after path and method: %s %s is %d [D44]', async (method, path, status) => {
    mounted = await mountAt(sunset.getTime() + 1)
    expect((await send(mounted.url, method, path, { token: 'a' })).status).toBe(status)
  })

  it('declares 410, and no other endpoint does [D44]', () => {
    expect([errorStatusesOf(old).includes(410), errorStatusesOf(current).includes(410)]).toEqual([true, false])
  })
})

describe('A bug in a handler', () => {
  const secret = 'relation "assets" of customer 4711'
  const broken = testRoute('broken', async () => {
    throw new Error(secret)
  })
  const strange = testRoute('strange', async () => {
    throw 'a string' // eslint-disable-line @typescript-eslint/only-throw-error
  })
  const unprintable = testRoute('unprintable', async () => ok({ data: 1n }))
  const endless = testRoute('endless', async () => {
    const circle: Record<string, unknown> = {}
    circle['self'] = circle
    return ok(circle)
  })

  it.each(['broken', 'strange', 'unprintable', 'endless'])(
    'is internal_error with a constant detail, and only the log contains the cause: %s',
    async (id) => {
      mounted = await mountRoutes([broken, strange, unprintable, endless])
      const reply = await send(mounted.url, 'GET', `/api/v1/${id}`, { token: 'a' })
      expectApiError(reply, 'internal_error', { detail: 'An unexpected error occurred', instance: `/api/v1/${id}` })
      expect(reply.text).not.toContain('customer 4711')
      expect(mounted.bugs).toHaveLength(1)
      expect(mounted.responses).toEqual([{ operation: id, status: 500 }])
    },
  )

  it('is logged as it was thrown', async () => {
    mounted = await mountRoutes([broken])
    await send(mounted.url, 'GET', '/api/v1/broken', { token: 'a' })
    expect((mounted.bugs[0] as Error).message).toBe(secret)
  })

  it('does not end the service', async () => {
    mounted = await mountRoutes([broken, testRoute('fine', async () => ok({ data: 1 }))])
    for (let count = 0; count < 5; count++) await send(mounted.url, 'GET', '/api/v1/broken', { token: 'a' })
    expect((await send(mounted.url, 'GET', '/api/v1/fine', { token: 'a' })).json).toEqual({ data: 1 })
  })
})

describe('A token without the scopes of an endpoint', () => {
  it.each([
    [['ok', 'b', 'a'], 'b'],
    [['a', 'ok', 'b'], 'a'],
  ])('with %j is rejected with the first scope it lacks [D10]', async (scopes, missing) => {
    mounted = await mountRoutes([testRoute('guarded', async () => ok({ data: 1 }), { scopes })])
    const reply = await send(mounted.url, 'GET', '/api/v1/guarded', { token: 'a' })
    expectApiError(reply, 'forbidden', { detail: `Missing required scope: ${missing}` })
  })
})

describe('A client that disconnects', () => {
  const body = { mediaType: 'application/json', name: 'Word', shape: { word: text({ max: 9 }) }, example: {} } as const
  const taking = route({
    ...testRouteDefaults,
    id: 'take',
    method: 'POST',
    path: '/take',
    success,
    body,
    handle: async () => ok({}),
  })

  it.each([
    ['with a length', ['Content-Length: 100'], '{"word"'],
    ['in chunks', ['Transfer-Encoding: chunked'], '7\r\n{"word"\r\n'],
  ])('in the middle of its body, sent %s, is not logged as an internal error', async (_what, header, half) => {
    mounted = await mountRoutes([taking])
    const wire = await RawConnection.open(mounted.url)
    const lines = ['POST /api/v1/take HTTP/1.1', 'Host: a', 'Authorization: Bearer a', 'Content-Type: application/json']
    wire.request([...lines, ...header], half)
    await new Promise((resume) => setTimeout(resume, 50))
    wire.close()
    await expect.poll(() => mounted!.responses.length).toBe(1)
    expect(mounted.bugs).toEqual([])
    expect(mounted.responses[0]).toEqual({ operation: 'take', status: 400 })
  })
})

describe('Routes', () => {
  it('may not register one method and path twice', async () => {
    const twice = [testRoute('one', async () => ok({})), testRoute('two', async () => ok({}), { path: '/one' })]
    await expect(mountRoutes(twice)).rejects.toThrow('GET /api/v1/one is declared twice')
  })
})
