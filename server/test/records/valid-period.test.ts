import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ApiError } from '../../src/kernel/errors.ts'
import { type Instant, instantFromMillis, parseRfc3339 } from '../../src/kernel/instant.ts'
import { assertValidPeriod } from '../../src/records/record.ts'

const at = (text: string): Instant => parseRfc3339(text)!.instant

const isRejected = (from: Instant, to: Instant | null): boolean => {
  try {
    assertValidPeriod(from, to)
    return false
  } catch (error) {
    expect(error).toBeInstanceOf(ApiError)
    const { kind, fields } = error as ApiError
    expect(kind).toBe('validation_error')
    expect(fields).toMatchObject([{ field: 'valid_to', code: 'invalid_value' }])
    return true
  }
}

describe('A validity window', () => {
  it.each([
    ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z', true],
    ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00.000001Z', false],
    ['2026-01-01T00:00:00.000001Z', '2026-01-01T00:00:00Z', true],
    ['2026-01-01T00:00:00Z', '2026-01-01T00:30:00+01:00', true],
    ['2026-01-01T00:30:00+01:00', '2026-01-01T00:00:00Z', false],
    ['0000-12-31T23:59:59Z', '0001-01-01T00:00:01Z', false],
    ['9999-12-31T23:59:59Z', '0000-01-01T00:00:00Z', true],
  ])('from %s to %s is rejected: %s (D15)', (from, to, rejected) => {
    expect(isRejected(at(from), at(to))).toBe(rejected)
  })

  it('without an end is always valid (D15)', () => {
    expect(isRejected(at('9999-12-31T23:59:59Z'), null)).toBe(false)
  })

  it('is rejected exactly when its end is not after its start (D15)', () => {
    const millis = fc.integer({ min: Date.parse('0000-01-01T00:00:00Z'), max: Date.parse('9999-12-31T23:59:59Z') })
    fc.assert(
      fc.property(millis, millis, (from, to) => {
        expect(isRejected(instantFromMillis(from), instantFromMillis(to))).toBe(to <= from)
        expect(isRejected(instantFromMillis(from), instantFromMillis(from))).toBe(true)
      }),
    )
  })
})
