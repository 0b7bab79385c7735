import { beforeEach, describe, expect, it } from 'vitest'
import { backoffMs } from '../src/transport.ts'
import { Lastseen, NetworkError, NotFoundError, RateLimitedError, ServerError } from '../src/index.ts'
import { SleepClock, rejection } from './support/clients.ts'
import { useProxy } from './support/proxy.ts'

const proxy = useProxy()
const success = { status: 200, body: '{"data":{"id":1,"name":"Northwind"}}' }
const limited = (seconds: string) => ({ status: 429, headers: { 'retry-after': seconds } })
let clock: SleepClock
let client: Lastseen

beforeEach(() => {
  proxy.reset()
  clock = new SleepClock()
  client = new Lastseen({ baseUrl: `${proxy.url}/`, accessToken: 'token', clock })
})

describe('a request', () => {
  it('waits as long as Retry-After says after a 429', async () => {
    proxy.respond(limited('7'), limited('2'), success)
    expect((await client.me()).name).toBe('Northwind')
    expect(clock.sleeps).toEqual([7000, 2000])
  })

  it('waits until the time of a Retry-After that is a date', async () => {
    const inSevenSeconds = new Date(clock.millis() + 7000).toUTCString()
    proxy.respond(limited(inSevenSeconds), limited('Thu, 01 Jan 1970 00:00:00 GMT'), limited('soon'), success)
    expect((await client.me()).name).toBe('Northwind')
    expect(clock.sleeps).toEqual([7000, 1000, 1000])
  })

  it('backs off after a 500, longer each time, with jitter', async () => {
    proxy.respond(500, 500, 500, 500, success)
    await client.me()
    expect(clock.sleeps).toEqual([1125, 2250, 4500, 9000])
  })

  it('gives up after five responses of 500 and reports the number of attempts', async () => {
    proxy.respond(500)
    const error = await rejection(client.me())
    expect(error).toBeInstanceOf(ServerError)
    expect(error).toMatchObject({ status: 500, attempts: 5 })
    expect(proxy.requests).toHaveLength(5)
  })

  it('gives up after ten responses of 429', async () => {
    proxy.respond(limited('3'))
    const error = await rejection(client.me())
    expect(error).toBeInstanceOf(RateLimitedError)
    expect(error).toMatchObject({ status: 429, retryAfterSeconds: 3, attempts: 10 })
    expect(clock.sleeps).toEqual(Array(9).fill(3000))
  })

  it.each([400, 401, 403, 404, 405, 409, 410, 415, 422, 501])('is not retried after %i', async (status) => {
    proxy.respond(status, success)
    expect(await rejection(client.me())).toMatchObject({ status, attempts: 1, type: `http_${status}` })
    expect(proxy.requests).toHaveLength(1)
    expect(clock.sleeps).toEqual([])
  })

  it.each([502, 503, 504])(
    'is retried after %i of a proxy, with jitter and no earlier than Retry-After',
    async (status) => {
      proxy.respond({ status, headers: { 'retry-after': '7' } }, status, success)
      await client.me()
      expect(proxy.requests).toHaveLength(3)
      expect(clock.sleeps).toEqual([7000, backoffMs(2, 0.5)])
    },
  )

  it('that reads is retried without a response', async () => {
    proxy.respond('disconnect', 'disconnect', success)
    await client.me()
    expect(clock.sleeps).toEqual([backoffMs(1, 0.5), backoffMs(2, 0.5)])
    proxy.reset()
    proxy.respond('disconnect')
    const error = (await rejection(client.me())) as NetworkError
    expect(error).toBeInstanceOf(NetworkError)
    expect(error.message).toMatch(/^No response from http:\/\/127\.0\.0\.1:\d+: /)
    expect(proxy.requests).toHaveLength(5)
  })

  it.each([['disconnect'], [502], [503], [504]] as const)(
    'that writes is not retried after %s, because the server may have executed it',
    async (failure) => {
      proxy.respond(failure)
      await rejection(client.assets.create({ external_key: 'A', name: 'a' }))
      expect(proxy.requests).toHaveLength(1)
    },
  )

  it('that takes longer than the timeout fails, and says so', async () => {
    const slow: typeof fetch = (_url, init) =>
      new Promise((_resolve, reject) => init!.signal!.addEventListener('abort', () => reject(new Error('aborted'))))
    const options = { baseUrl: proxy.url, accessToken: 'token', fetch: slow, timeoutMs: 20, attempts: 1 }
    const error = await rejection(new Lastseen(options).me())
    expect(error).toBeInstanceOf(NetworkError)
    expect((error as Error).message).toMatch(/: no answer within 20 ms$/)
  })

  it('is reported to the hooks, each attempt with its outcome', async () => {
    const seen: unknown[] = []
    const hooks = { onRequest: (info: object) => seen.push(info), onResponse: (info: object) => seen.push(info) }
    proxy.respond('disconnect', { ...success, headers: { 'x-request-id': 'R1' } })
    await new Lastseen({ baseUrl: proxy.url, accessToken: 'token', clock, ...hooks }).me()
    const url = `${proxy.url}/api/v1/orgs/me`
    const durationMs = expect.any(Number)
    expect(seen).toEqual([
      { method: 'GET', url, attempt: 1 },
      { method: 'GET', url, attempt: 1, status: null, requestId: null, durationMs, error: expect.any(NetworkError) },
      { method: 'GET', url, attempt: 2 },
      { method: 'GET', url, attempt: 2, status: 200, requestId: 'R1', durationMs, error: null },
    ])
  })

  it('follows no redirect, which could send its token to another server', async () => {
    proxy.respond({ status: 302, headers: { location: 'https://example.com/' } })
    expect(await rejection(client.me())).toBeInstanceOf(NetworkError)
    expect(proxy.requests.every(({ path }) => path === '/api/v1/orgs/me')).toBe(true)
  })

  it('fails when the response is not JSON', async () => {
    proxy.respond({ status: 200, body: '<html>Sign in to the airport</html>' })
    expect(await rejection(client.me())).toMatchObject({
      status: 200,
      message: expect.stringMatching(/^The response is not JSON\./),
    })
  })

  it('stops waiting for a retry when it is aborted', async () => {
    proxy.respond(limited('60'))
    const controller = new AbortController()
    const waiting = new Lastseen({ baseUrl: proxy.url, accessToken: 'token' }).me({ signal: controller.signal })
    await expect.poll(() => proxy.requests.length).toBe(1)
    controller.abort()
    expect(await rejection(waiting)).toMatchObject({ name: 'AbortError' })
  })
})

describe('a create', () => {
  it('is retried after a 500 only with a key, because two records could be created', async () => {
    proxy.respond(500, { status: 201, body: '{"data":{}}' })
    expect(await rejection(client.assets.create({ name: 'Jack' }))).toBeInstanceOf(ServerError)
    proxy.respond(500, { status: 201, body: '{"data":{}}' })
    await client.assets.create({ name: 'Jack', external_key: 'JACK-7' })
    expect(proxy.requests).toHaveLength(3)
  })

  it('is retried after a 429 with or without a key', async () => {
    proxy.respond(limited('1'), { status: 201, body: '{"data":{}}' })
    await client.locations.create({ name: 'Hall' })
    expect(proxy.requests).toHaveLength(2)
  })
})

describe('concurrent requests', () => {
  it('are retried one after the other when the rate limit is reached, so that none of them starves', async () => {
    let tokens = 5
    proxy.intercept = () => (tokens-- > 0 ? success : ((tokens = 0), limited('1')))
    clock.sleep = async (ms) => {
      // No request sleeps before all requests have been sent for the first time.
      await expect.poll(() => proxy.requests.length, { interval: 1 }).toBeGreaterThanOrEqual(30)
      clock.sleeps.push(ms)
      tokens += ms / 1000
    }
    await Promise.all(Array.from({ length: 30 }, () => client.me()))
    expect(clock.sleeps).toEqual(Array(25).fill(1000))
  })

  it('continue when a queued request is aborted', async () => {
    const controller = new AbortController()
    proxy.respond(limited('1'), limited('1'), limited('1'), success)
    const calls = [client.me(), client.me({ signal: controller.signal }), client.me()]
    clock.sleep = async () => controller.abort(new Error('enough'))
    const settled = await Promise.allSettled(calls)
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  })
})

describe('backoffMs', () => {
  it('grows from one second to thirty, plus jitter', () => {
    expect(backoffMs(1, 0)).toBe(1000)
    expect(backoffMs(1, 0.999)).toBeLessThan(1250)
    expect([5, 6, 7, 50].map((failures) => backoffMs(failures, 0))).toEqual([16_000, 30_000, 30_000, 30_000])
  })
})

describe('a key in a path', () => {
  it('is percent-encoded', async () => {
    proxy.respond(404)
    for (const identifier of ['a/b', '50% off', 'ü ?#', '..x'])
      expect(await rejection(client.natural.request('assets.get', { path: { identifier } }))).toBeInstanceOf(
        NotFoundError,
      )
    expect(proxy.requests.map(({ path }) => path.replace('/natural/api/v1/assets/', ''))).toEqual([
      'a%2Fb',
      '50%25%20off',
      '%C3%BC%20%3F%23',
      '..x',
    ])
  })

  it.each(['', '.', '..'])('cannot be %j, which a URL resolves as a relative path segment', async (identifier) => {
    const error = await rejection(client.natural.request('assets.get', { path: { identifier } }))
    expect(error).toBeInstanceOf(RangeError)
    expect(proxy.requests).toEqual([])
  })
})
