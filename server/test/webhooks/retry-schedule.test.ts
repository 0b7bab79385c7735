import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { retryDelaysMs, withJitter } from '../../src/webhooks/retry-schedule.ts'

describe('The retries of a webhook event', () => {
  it('are two: about 1 s after the first failure and about 5 s after the second [D33]', () => {
    expect(retryDelaysMs).toEqual([1000, 5000])
  })

  it('have a jitter of at most 20 % [D33]', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...retryDelaysMs),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (pause, at) => {
          const waited = withJitter(pause, () => at)
          expect(waited).toBeGreaterThanOrEqual(pause * 0.8)
          expect(waited).toBeLessThanOrEqual(pause * 1.2)
          expect(Number.isInteger(waited)).toBe(true)
        },
      ),
    )
  })

  it('reach both ends of that range and are spread evenly between them [D33]', () => {
    for (const pause of retryDelaysMs) {
      expect([0, 0.25, 0.5, 0.75, 1].map((at) => withJitter(pause, () => at) / pause)).toEqual([0.8, 0.9, 1, 1.1, 1.2])
    }
  })

  it('differ from event to event [D33]', () => {
    const waits = new Set(Array.from({ length: 50 }, () => withJitter(5000)))
    expect(waits.size).toBeGreaterThan(10)
  })
})
