import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fullBucket, memoryLimiter, rateState, assertAllowed } from '../../src/http/rate-limit.ts'

function limiterAt(start: number) {
  let now = start
  const limiter = memoryLimiter({ millis: () => now })
  return {
    consume: (key = 'a') => limiter.consume(key),
    pass: (ms: number) => (now += ms),
    now: () => now,
  }
}

const start = 1_800_000_000_000

describe('A bucket', () => {
  it('admits 120 requests at once and not one more', async () => {
    const { consume } = limiterAt(start)
    for (let count = 1; count <= 120; count++)
      expect(await consume()).toMatchObject({ admitted: true, tokens: 120 - count })
    for (let count = 0; count < 5; count++) expect(await consume()).toMatchObject({ admitted: false, tokens: 0 })
  })

  it('refills one token per second and never beyond 120', async () => {
    const { consume, pass } = limiterAt(start)
    for (let count = 0; count < 120; count++) await consume()
    pass(999)
    expect((await consume()).admitted).toBe(false)
    pass(1)
    expect(await consume()).toMatchObject({ admitted: true, tokens: 0 })
    pass(60_000)
    expect(await consume()).toMatchObject({ admitted: true, tokens: 59 })
    pass(10_000_000)
    expect(await consume()).toMatchObject({ admitted: true, tokens: 119 })
  })

  it('belongs to one key: another key has its own', async () => {
    const { consume } = limiterAt(start)
    for (let count = 0; count < 121; count++) await consume('a')
    expect([(await consume('a')).admitted, (await consume('b')).admitted]).toEqual([false, true])
  })

  it('is not filled by a clock that steps back', async () => {
    const { consume, pass } = limiterAt(start)
    for (let count = 0; count < 120; count++) await consume()
    pass(-3_600_000)
    expect((await consume()).admitted).toBe(false)
    pass(1000)
    expect((await consume()).admitted).toBe(true)
  })

  it('never admits more than its burst plus its refill in any interval', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 3000 }), { maxLength: 600 }), async (pauses) => {
        const { consume, pass } = limiterAt(start)
        let elapsed = 0
        let admitted = 0
        for (const pause of pauses) {
          pass(pause)
          elapsed += pause
          if ((await consume()).admitted) admitted++
          expect(admitted).toBeLessThanOrEqual(120 + elapsed / 1000 + 0.001)
        }
      }),
    )
  })

  it('that had time to refill is evicted and starts full', async () => {
    const { consume, pass } = limiterAt(start)
    for (let count = 0; count < 100; count++) await consume('old')
    pass(200_000)
    await consume('new')
    expect(await consume('old')).toMatchObject({ admitted: true, tokens: 119 })
  })
})

describe('The headers of a bucket', () => {
  it.each([
    [120, '120', 0],
    [119, '119', 1],
    [118.5, '118', 2],
    [0, '0', 120],
    [0.999, '0', 120],
  ])('with %d tokens show %s remaining and a reset in %d seconds', (tokens, remaining, seconds) => {
    const reset = String(Math.floor(start / 1000) + seconds)
    expect(rateState({ admitted: true, tokens, filledAt: start })).toEqual({ remaining, reset })
  })

  it.each([
    [0, 119, 1],
    [1, 119, 2],
    [500, 119, 2],
    [999, 119, 2],
    [0, 118.001, 2],
    [1, 118.001, 2],
    [2, 118.001, 3],
    [250, 118.25, 2],
    [251, 118.25, 3],
    [0, 0, 120],
    [1, 0, 121],
  ])(
    '%d ms after a whole second with %d tokens show the time at which the bucket is full, rounded up, %d later [D45]',
    (after, tokens, seconds) => {
      const { reset } = rateState({ admitted: true, tokens, filledAt: start + after })
      expect(Number(reset) - start / 1000).toBe(seconds)
    },
  )

  it('show the first whole second at which the bucket is full, whenever a token was consumed [D45]', async () => {
    const pauses = fc.array(fc.integer({ min: 0, max: 2500 }), { minLength: 1, maxLength: 200 })
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 999 }), pauses, async (offset, steps) => {
        const { consume, pass, now } = limiterAt(start + offset)
        for (const step of steps) {
          pass(step)
          await consume()
        }
        const consumed = await consume()
        const resetMs = Number(rateState(consumed).reset) * 1000
        const tokensAt = (ms: number): number => Math.round((consumed.tokens + (ms - now()) / 1000) * 1000) / 1000
        expect(tokensAt(resetMs)).toBeGreaterThanOrEqual(120)
        expect(tokensAt(resetMs - 1000)).toBeLessThan(120)
        pass(resetMs - now())
        expect(await consume()).toMatchObject({ admitted: true, tokens: 119 })
      }),
    )
  })

  it('that is unused show 120 remaining and a reset now (D10)', () => {
    expect(fullBucket(start + 999)).toEqual({ remaining: '120', reset: String(start / 1000) })
  })
})

describe('An empty bucket', () => {
  it.each([
    [0, '1'],
    [0.5, '1'],
    [0.999, '1'],
  ])('with %d tokens is rejected with Retry-After: %s', (tokens, seconds) => {
    const rejecting = () => assertAllowed({ admitted: false, tokens, filledAt: start })
    expect(rejecting).toThrow('Rate limit exceeded; retry after 1 second')
    expect(rejecting).toThrow(expect.objectContaining({ kind: 'rate_limited', headers: { 'Retry-After': seconds } }))
  })

  it('has no Retry-After while it admits requests', () => {
    expect(() => assertAllowed({ admitted: true, tokens: 0, filledAt: start })).not.toThrow()
  })
})
