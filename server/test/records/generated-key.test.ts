import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { generatedKey } from '../../src/records/keys.sql.ts'

describe('the format of a generated key', () => {
  it.each([
    ['asset', 1, 'ASSET-0001'],
    ['asset', 42, 'ASSET-0042'],
    ['asset', 9999, 'ASSET-9999'],
    ['asset', 10_000, 'ASSET-10000'],
    ['asset', 1_234_567, 'ASSET-1234567'],
    ['location', 1, 'LOC-001'],
    ['location', 99, 'LOC-099'],
    ['location', 999, 'LOC-999'],
    ['location', 1000, 'LOC-1000'],
    ['location', 1_234_567, 'LOC-1234567'],
  ] as const)('of %s number %d is %s, widening past the padding (D18)', (kind, ordinal, key) => {
    expect(generatedKey(kind, ordinal)).toBe(key)
  })

  it('differs for every number, and the number can be parsed from it', () => {
    fc.assert(
      fc.property(fc.constantFrom('asset', 'location'), fc.integer({ min: 1, max: 2 ** 53 - 1 }), (kind, ordinal) => {
        const [prefix, digits] = generatedKey(kind, ordinal).split('-')
        expect(prefix).toBe(kind === 'asset' ? 'ASSET' : 'LOC')
        expect(digits).toMatch(kind === 'asset' ? /^\d{4,}$/ : /^\d{3,}$/)
        expect(Number(digits)).toBe(ordinal)
      }),
    )
  })
})
