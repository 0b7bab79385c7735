import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { markInexactNumbers } from '../../src/kernel/exact-numbers.ts'
import { parseJson } from '../../src/kernel/json.ts'

const isKept = (literal: string): boolean => markInexactNumbers(literal) === literal

describe('Numbers in JSON text', () => {
  it('are kept when JavaScript serialized them, except for unsafe integers [D47]', () => {
    const written = fc.double({ noNaN: true, noDefaultInfinity: true }).filter((one) => !Number.isInteger(one))
    fc.assert(fc.property(written, (value) => isKept(JSON.stringify(value))))
  })

  it('are kept as integers exactly when a double represents them [D47]', () => {
    const integer = fc.oneof(
      fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }),
      fc.bigInt({ min: 2n ** 53n - 4n, max: 2n ** 53n + 4n }),
      fc.tuple(fc.bigInt({ min: 1n, max: 2n ** 53n }), fc.nat(200)).map(([one, power]) => one << BigInt(power)),
    )
    const exponent = fc.nat(20)
    fc.assert(
      fc.property(integer, exponent, (value, power) => {
        expect(isKept(String(value))).toBe(BigInt(Number(value)) === value)
        const scaled = value * 10n ** BigInt(power)
        expect(isKept(`${value}e${power}`)).toBe(BigInt(Number(scaled)) === scaled)
        expect(isKept(`${value}.000E+${power}`)).toBe(BigInt(Number(scaled)) === scaled)
      }),
      { numRuns: 500 },
    )
  })

  it('are replaced only outside strings [D47]', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const json = JSON.stringify({ [text]: [text, '9007199254740993', '\\"1e400'], n: 1e21 })
        expect(markInexactNumbers(json)).toBe(json)
      }),
    )
    const json = '{"9007199254740993":"\\\\","a":[9007199254740993,-1e-400,"1e400\\"",1e400]}'
    expect(markInexactNumbers(json)).toBe('{"9007199254740993":"\\\\","a":[1e999,-1e999,"1e400\\"",1e999]}')
  })

  it('are found in a megabyte of digits or of text without delay', () => {
    const start = performance.now()
    for (const json of [`[${'0.' + '0'.repeat(1e6)}1]`, `["${'\\"'.repeat(5e5)}",1e400]`, `[${'9'.repeat(1e6)}]`])
      markInexactNumbers(json)
    expect(performance.now() - start).toBeLessThan(2000)
  })

  it('are parsed as doubles where exactness is not required, as from readers', () => {
    const bytes = new TextEncoder().encode('[1714828800123456789]')
    expect(parseJson(bytes, 8)).toEqual({ ok: true, value: [1714828800123456800] })
    expect(parseJson(bytes, 8, { exactNumbers: true })).toEqual({ ok: true, value: [Infinity] })
  })
})
