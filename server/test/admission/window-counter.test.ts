import { describe, expect, it } from 'vitest'
import { WindowCounter } from '../../src/admission/window-counter.ts'
import { ApiError } from '../../src/kernel/errors.ts'

describe('A window counter', () => {
  let atMs = 0
  const counter = new WindowCounter({ max: 2, windowMs: 60_000, clock: { millis: () => atMs } })
  const retryAfter = (key: string): string | null => {
    try {
      counter.consume(key)
      return null
    } catch (error) {
      expect(error).toBeInstanceOf(ApiError)
      return (error as ApiError).headers['Retry-After']!
    }
  }

  it('rejects uses past the limit of a window and says when the next one begins', () => {
    expect([retryAfter('a'), retryAfter('a'), retryAfter('a')]).toEqual([null, null, '60'])
    atMs = 59_999
    expect([retryAfter('a'), retryAfter('b')]).toEqual(['1', null])
    atMs = 60_000
    expect([retryAfter('a'), retryAfter('a'), retryAfter('a')]).toEqual([null, null, '60'])
  })
})
