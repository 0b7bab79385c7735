import { beforeEach, describe, expect, it } from 'vitest'
import { backoffMs } from '../src/transport.ts'
import { Lastseen, NetworkError, NotFoundError, RateLimitedError, ServerError } from '../src/index.ts'
import { SleepClock, rejection } from './support/clients.ts'
import { useProxy } from './support/proxy.ts'

const proxy = useProxy()
const good = { status: 200, body: '{"data":{"id":1,"name":"Northwind"}}' }
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
    proxy.answer(limited('7'), limited('2'), good)
    expect((await client.me()).name).toBe('Northwind')
    expect(clock.sleeps).toEqual([7000, 2000])
  })

  it('backs off after a 500, longer each time, with jitter', async () => {
    proxy.answer(500, 500, 500, 500, good)
    await client.me()
    expect(clock.sleeps).toEqual([1125, 2250, 4500, 9000])
  })

  it('gives up after five answers of 500 and says how often it was sent', async () => {
    proxy.answer(500)
    const error = await rejection(client.me())
    expect(error).toBeInstanceOf(ServerError)
    expect(error).toMatchObject({ status: 500, attempts: 5 })
    expect(proxy.passed).toHaveLength(5)
  })

  it('gives up after ten answers of 429', async () => {
    proxy.answer(limited('3'))
    const error = await rejection(client.me())
    expect(error).toBeInstanceOf(RateLimitedError)
    expect(error).toMatchObject({ status: 429, retryAfterSeconds: 3, attempts: 10 })
    expect(clock.sleeps).toEqual(Array(9).fill(3000))
  })

  it.each([400, 401, 403, 404, 405, 409, 410, 415, 422, 501, 502, 503, 504])(
    'is not sent again after %i',
    async (status) => {
      proxy.answer(status, good)
      expect(await rejection(client.me())).toMatchObject({ status, attempts: 1, type: `http_${status}` })
      expect(proxy.passed).toHaveLength(1)
      expect(clock.sleeps).toEqual([])
    },
  )

  it('is not sent again when no answer comes, because it may have been carried out', async () => {
    proxy.answer('hang up')
    const error = (await rejection(client.me())) as NetworkError
    expect(error).toBeInstanceOf(NetworkError)
    expect(error.message).toMatch(/^No answer from http:\/\/127\.0\.0\.1:\d+: /)
    expect(proxy.passed).toHaveLength(1)
  })

  it('follows no redirect, which could lead its token elsewhere', async () => {
    proxy.answer({ status: 302, headers: { location: 'https://example.com/' } })
    expect(await rejection(client.me())).toBeInstanceOf(NetworkError)
    expect(proxy.passed).toHaveLength(1)
  })

  it('is told apart from an answer that is no JSON', async () => {
    proxy.answer({ status: 200, body: '<html>Sign in to the airport</html>' })
    expect(await rejection(client.me())).toMatchObject({ status: 200, message: 'The answer is no JSON.' })
  })

  it('stops waiting when it is aborted', async () => {
    proxy.answer(limited('60'))
    const stop = new AbortController()
    const waiting = new Lastseen({ baseUrl: proxy.url, accessToken: 'token' }).me({ signal: stop.signal })
    await expect.poll(() => proxy.passed.length).toBe(1)
    stop.abort()
    expect(await rejection(waiting)).toMatchObject({ name: 'AbortError' })
  })
})

describe('a create', () => {
  it('is sent again after a 500 only when it names its key, because two records could come of it', async () => {
    proxy.answer(500, { status: 201, body: '{"data":{}}' })
    expect(await rejection(client.assets.create({ name: 'Jack' }))).toBeInstanceOf(ServerError)
    proxy.answer(500, { status: 201, body: '{"data":{}}' })
    await client.assets.create({ name: 'Jack', external_key: 'JACK-7' })
    expect(proxy.passed).toHaveLength(3)
  })

  it('is sent again after a 429 in any case', async () => {
    proxy.answer(limited('1'), { status: 201, body: '{"data":{}}' })
    await client.locations.create({ name: 'Hall' })
    expect(proxy.passed).toHaveLength(2)
  })
})

describe('many requests', () => {
  it('wait in line when the limit is reached, so that none of them starves', async () => {
    let tokens = 5
    proxy.intervene = () => (tokens-- > 0 ? good : ((tokens = 0), limited('1')))
    clock.sleep = async (ms) => {
      // Nobody has slept before everybody has asked for the first time.
      await expect.poll(() => proxy.passed.length, { interval: 1 }).toBeGreaterThanOrEqual(30)
      clock.sleeps.push(ms)
      tokens += ms / 1000
    }
    await Promise.all(Array.from({ length: 30 }, () => client.me()))
    expect(clock.sleeps).toEqual(Array(25).fill(1000))
  })

  it('go on when one of those in line is aborted', async () => {
    const stop = new AbortController()
    proxy.answer(limited('1'), limited('1'), limited('1'), good)
    const calls = [client.me(), client.me({ signal: stop.signal }), client.me()]
    clock.sleep = async () => stop.abort(new Error('enough'))
    const ended = await Promise.allSettled(calls)
    expect(ended.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  })
})

describe('backoffMs', () => {
  it('goes from one second to about thirty', () => {
    expect(backoffMs(1, 0)).toBe(1000)
    expect(backoffMs(1, 0.999)).toBeLessThan(1250)
    expect([5, 6, 7, 50].map((failures) => backoffMs(failures, 0))).toEqual([16_000, 30_000, 30_000, 30_000])
  })
})

describe('a key in a path', () => {
  it('is percent-encoded whatever it is made of', async () => {
    proxy.answer(404)
    for (const identifier of ['a/b', '50% off', 'ü ?#', '..x'])
      expect(await rejection(client.natural.request('assets.get', { path: { identifier } }))).toBeInstanceOf(
        NotFoundError,
      )
    expect(proxy.passed.map(({ path }) => path.replace('/natural/api/v1/assets/', ''))).toEqual([
      'a%2Fb',
      '50%25%20off',
      '%C3%BC%20%3F%23',
      '..x',
    ])
  })

  it.each(['', '.', '..'])('cannot be %j, which a URL takes for something else', async (identifier) => {
    const error = await rejection(client.natural.request('assets.get', { path: { identifier } }))
    expect(error).toBeInstanceOf(RangeError)
    expect(proxy.passed).toEqual([])
  })
})
