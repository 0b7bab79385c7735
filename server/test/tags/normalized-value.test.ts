import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type TagDraft, type TagType, normalizedValue, tagTypes } from '../../src/tags/tag.ts'

const same = (type: TagType, one: string, other: string): boolean =>
  normalizedValue({ type, value: one }) === normalizedValue({ type, value: other })

describe('the normalized value of a tag', () => {
  it.each([
    ['rfid', 'E280AB', 'e280ab'],
    ['rfid', 'Ärger', 'äRGER'],
    ['ble', 'AA:BB:CC:DD:EE:FF', 'aabbccddeeff'],
    ['ble', 'aa-bb-cc-dd-ee-ff', 'AA:BB:CC:DD:EE:FF'],
    ['ble', '-:aabb:-', 'AABB'],
  ] as const)('is the same for the %s tags %s and %s (D22)', (type, one, other) => {
    expect(same(type, one, other)).toBe(true)
  })

  it.each([
    ['rfid', 'AA:BB', 'AABB'],
    ['rfid', 'AA-BB', 'AA:BB'],
    ['rfid', 'AA', 'AA '],
    ['ble', 'AA BB', 'AABB'],
    ['ble', 'AA\u2013BB', 'AABB'],
    ['ble', 'AA:BB', 'BB:AA'],
    ['barcode', 'abc', 'ABC'],
    ['barcode', 'A-B', 'AB'],
    ['barcode', '007', '7'],
  ] as const)('differs for the %s tags %s and %s (D22)', (type, one, other) => {
    expect(same(type, one, other)).toBe(false)
  })

  const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 20 })

  it('of a barcode is the barcode itself (D22)', () => {
    fc.assert(fc.property(text, (value) => normalizedValue({ type: 'barcode', value }) === value))
  })

  it('is idempotent, for every type', () => {
    fc.assert(
      fc.property(fc.constantFrom(...tagTypes), text, (type, value) => {
        const form = normalizedValue({ type, value })
        expect(normalizedValue({ type, value: form })).toBe(form)
      }),
    )
  })

  it('of a hexadecimal radio tag does not depend on case, nor for ble on separators (D22)', () => {
    const digit = fc.constantFrom(...Array.from('0123456789abcdefABCDEF'))
    const spelled = fc.array(fc.tuple(digit, fc.constantFrom('', ':', '-')), { minLength: 1, maxLength: 24 })
    fc.assert(
      fc.property(spelled, (parts) => {
        const digits = parts.map(([letter]) => letter).join('')
        const value = parts.map(([letter, separator]) => letter + separator).join('')
        const radio: TagDraft = { type: 'rfid', value: digits }
        expect(normalizedValue(radio)).toBe(normalizedValue({ type: 'rfid', value: digits.toUpperCase() }))
        expect(same('ble', value, digits.toUpperCase())).toBe(true)
      }),
    )
  })
})
