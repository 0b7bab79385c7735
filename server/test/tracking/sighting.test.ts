import { describe, expect, it } from 'vitest'
import type { Instant } from '../../src/kernel/instant.ts'
import { minuteOf } from '../../src/tracking/sighting.ts'

describe('the minute of an observation', () => {
  it.each([
    ['2026-05-04T10:00:00.000000Z', '2026-05-04T10:00:00.000000Z'],
    ['2026-05-04T10:00:59.999999Z', '2026-05-04T10:00:00.000000Z'],
    ['2026-12-31T23:59:30.500000Z', '2026-12-31T23:59:00.000000Z'],
    ['0000-01-01T00:00:01.000000Z', '0000-01-01T00:00:00.000000Z'],
  ])('of %s is %s', (observed, minute) => {
    expect(minuteOf(observed as Instant)).toBe(minute)
  })
})
