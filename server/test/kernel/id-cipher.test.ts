import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { IdCipher, maxId } from '../../src/kernel/id-cipher.ts'

const cipher = new IdCipher(Buffer.from('00112233445566778899aabbccddeeff', 'hex'))
const ordinals = fc.oneof(fc.integer({ min: 1, max: 100_000 }), fc.integer({ min: 1, max: maxId }))

describe('encrypting an id', () => {
  it('can be reversed with the key, for every number (D12)', () => {
    fc.assert(
      fc.property(ordinals, (ordinal) => {
        expect(cipher.decrypt(cipher.encrypt(ordinal))).toBe(ordinal)
      }),
      { numRuns: 5000 },
    )
  })

  it('is the inverse of decrypting, so that every id has one number (D12)', () => {
    fc.assert(
      fc.property(ordinals, (id) => {
        expect(cipher.encrypt(cipher.decrypt(id))).toBe(id)
      }),
      { numRuns: 5000 },
    )
  })

  it('stays between 1 and 9007199254740991 and never repeats (D12)', () => {
    const ids = new Set<number>()
    for (let ordinal = 1; ordinal <= 20_000; ordinal++) ids.add(cipher.encrypt(ordinal))
    expect(ids.size).toBe(20_000)
    for (const id of ids) if (!Number.isSafeInteger(id) || id < 1) throw new Error(`out of range: ${id}`)
  })

  it.each([1, 2, maxId - 1, maxId])('serves the number %d at the edge of the range', (ordinal) => {
    const id = cipher.encrypt(ordinal)
    expect(id).toBeGreaterThanOrEqual(1)
    expect(id).toBeLessThanOrEqual(maxId)
    expect(cipher.decrypt(id)).toBe(ordinal)
  })

  it('gives other ids under another key', () => {
    const other = new IdCipher(Buffer.alloc(16, 7))
    const same = Array.from({ length: 1000 }, (_, index) => index + 1).filter(
      (ordinal) => cipher.encrypt(ordinal) === other.encrypt(ordinal),
    )
    expect(same).toEqual([])
  })
})
