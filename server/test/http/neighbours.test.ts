import { afterEach, describe, expect, it } from 'vitest'
import { Gate } from '../../src/http/gate.ts'
import { LateRefusals } from '../../src/http/late-refusals.ts'
import type { RateLimiter } from '../../src/http/rate-limit.ts'
import { ok } from '../../src/http/route.ts'
import { Turns } from '../../src/http/turns.ts'
import { type Reply, send } from '../support/client.ts'
import { expectRefusal } from '../support/envelope.ts'
import { type Mounted, mountRows, row } from '../support/mounted.ts'
import { Wire } from '../support/raw.ts'

let mounted: Mounted | undefined

afterEach(async () => {
  await mounted?.close()
  mounted = undefined
})

const fine = row('fine', async () => ok({ data: 1 }))

/** The organization is the token's number, and what one asks for ends when the test says so. Time stands still. */
async function heldRows() {
  const ends: (() => void)[] = []
  const held = row('held', async () => {
    await new Promise<void>((resume) => ends.push(resume))
    return ok({ data: 1 })
  })
  const turns = new Turns({ atOnce: 1, calm: 2 }, () => 0)
  const gate = new Gate({ atOnce: 32, waiting: 600, patienceMs: 8000, refusalMs: 0 }, turns)
  const caller = {
    kind: 'session',
    subject: 'a',
    sessionId: 'a',
    namedScopes: ['ok'],
    scopes: new Set(['ok']),
  } as const
  const authenticator = { authenticate: (token: string) => ({ ...caller, orgId: Number(token) }) }
  mounted = await mountRows([held, fine], { gate, authenticator })
  const { url } = mounted
  const ask = (path: string, token: string): Promise<Reply> => send(url, 'GET', `/api/v1/${path}`, { token })
  /** Ends one thing after the other as they begin; the most that were under way at the end of one. */
  const endAll = async (count: number): Promise<number> => {
    let most = 0
    for (let ended = 0; ended < count; ended++) {
      await expect.poll(() => ends.length, { timeout: 10_000 }).toBeGreaterThan(0)
      ends.shift()!()
      most = Math.max(most, gate.running)
    }
    return most
  }
  return { url, gate, ends, ask, endAll }
}

describe('An organization that floods beside a quiet one', () => {
  it('has its requests wait, while those of the quiet one are answered, and all of them are answered in the end', async () => {
    const { gate, ends, ask, endAll } = await heldRows()
    expect((await ask('fine', '2')).status).toBe(200)
    const flood = Array.from({ length: 20 }, () => ask('held', '1'))
    await expect.poll(() => gate.waiting, { timeout: 10_000 }).toBe(18)
    expect(ends).toHaveLength(2)
    for (let count = 0; count < 5; count++) expect((await ask('fine', '2')).status).toBe(200)
    expect([gate.running, gate.waiting, ends.length]).toEqual([2, 18, 2])
    expect(await endAll(20)).toBeLessThanOrEqual(2)
    expect((await Promise.all(flood)).map((reply) => reply.status)).toEqual(Array(20).fill(200))
    expect([gate.running, gate.waiting]).toEqual([0, 0])
  })

  it('leaves its place in the queue when it hangs up, and nothing is done for it', async () => {
    const { url, gate, ask, endAll } = await heldRows()
    await ask('fine', '2')
    const first = [ask('held', '1'), ask('held', '1')]
    await expect.poll(() => gate.running, { timeout: 10_000 }).toBe(2)
    const wire = await Wire.open(url)
    wire.request(['GET /api/v1/held HTTP/1.1', 'Host: a', 'Authorization: Bearer 1'])
    await expect.poll(() => gate.waiting, { timeout: 10_000 }).toBe(1)
    const behind = ask('held', '1')
    await expect.poll(() => gate.waiting, { timeout: 10_000 }).toBe(2)
    wire.close()
    await expect.poll(() => gate.waiting, { timeout: 10_000 }).toBe(1)
    await endAll(3)
    expect((await Promise.all([...first, behind])).map((reply) => reply.status)).toEqual([200, 200, 200])
    await expect.poll(() => [gate.running, gate.waiting], { timeout: 10_000 }).toEqual([0, 0])
    expect(mounted!.bugs).toEqual([])
  })

  it('is answered whole when the process stops meanwhile', async () => {
    const { gate, ask, endAll } = await heldRows()
    await ask('fine', '2')
    const flood = Array.from({ length: 6 }, () => ask('held', '1'))
    await expect.poll(() => gate.waiting, { timeout: 10_000 }).toBe(4)
    const closed = mounted!.close(10_000)
    await endAll(6)
    expect((await Promise.all(flood)).map((reply) => reply.status)).toEqual(Array(6).fill(200))
    await closed
    mounted = undefined
  })
})

describe('A credential that goes on asking with an empty bucket', () => {
  const empty = { admitted: false, tokens: 0.25, filledAt: 1_790_000_000_000 }
  const limiterOf = (draw: RateLimiter['draw']): RateLimiter => ({ draw })

  it('is refused at once 120 times and then a moment later, with the same headers', async () => {
    mounted = await mountRows([fine], { limiter: limiterOf(() => empty), millis: () => 1_790_000_000_000 })
    const { url } = mounted
    const ask = (token = 'a'): Promise<Reply> => send(url, 'GET', '/api/v1/fine', { token })
    await Promise.all(Array.from({ length: 120 }, () => ask()))
    const askedAt = performance.now()
    const reply = await ask()
    expect(performance.now() - askedAt).toBeGreaterThan(350)
    expectRefusal(reply, 'rate_limited', { detail: 'Rate limit exceeded; retry after 1 second' })
    expect(reply.headers).toMatchObject({
      'retry-after': '1',
      'x-ratelimit-limit': '120',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': '1790000120',
    })
    // Others are not concerned.
    const order: string[] = []
    await Promise.all(['a', 'b'].map(async (token) => ask(token).then(() => order.push(token))))
    expect(order).toEqual(['b', 'a'])
  })

  it('draws from its bucket when it is heard, so that what has filled up meanwhile counts', async () => {
    let draws = 0
    mounted = await mountRows([fine], {
      limiter: limiterOf(() => (++draws <= 120 ? empty : { admitted: true, tokens: 0.5, filledAt: 0 })),
    })
    const { url } = mounted
    await Promise.all(Array.from({ length: 120 }, () => send(url, 'GET', '/api/v1/fine', { token: 'a' })))
    expect((await send(url, 'GET', '/api/v1/fine', { token: 'a' })).status).toBe(200)
    expect(draws).toBe(121)
  })

  it('is heard at once again after a second without asking', () => {
    let nowMs = 0
    const refusals = new LateRefusals(() => nowMs)
    for (let count = 0; count < 119; count++) refusals.refused('a')
    expect(refusals.isInsistent('a')).toBe(false)
    refusals.refused('a')
    nowMs = 999
    expect([refusals.isInsistent('a'), refusals.isInsistent('b')]).toEqual([true, false])
    refusals.refused('a')
    nowMs = 1998
    expect(refusals.isInsistent('a')).toBe(true)
    nowMs = 1999
    expect(refusals.isInsistent('a')).toBe(false)
  })
})
