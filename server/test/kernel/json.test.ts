import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { codePointLength, jsonType, metadataProblem, parseJson, textProblem } from '../../src/kernel/json.ts'
import type { Json } from '../../src/kernel/json.ts'

const utf8 = (text: string) => new TextEncoder().encode(text)
const parse = (text: string, maxDepth = 8) => parseJson(utf8(text), maxDepth)
const SYNTAX = { ok: false, reason: 'syntax' }
const DEPTH = { ok: false, reason: 'depth' }

/** Any code units at all, lone surrogates and controls included. */
const anyUnits = fc
  .array(
    fc.oneof(
      fc.integer({ min: 0x20, max: 0x7e }),
      fc.integer({ min: 0, max: 0xffff }),
      fc.integer({ min: 0xd7ff, max: 0xe000 }),
    ),
    { maxLength: 12 },
  )
  .map((units) => String.fromCharCode(...units))

/** A scalar has depth 0, a container one more than its deepest member. */
const depthOf = (value: Json): number =>
  typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0

describe('the type of a JSON value', () => {
  it.each([
    [null, 'null'],
    [true, 'boolean'],
    [false, 'boolean'],
    [0, 'integer'],
    [-0, 'integer'],
    [5, 'integer'],
    [1e20, 'integer'],
    [5.5, 'number'],
    [Infinity, 'integer'],
    [-Infinity, 'number'],
    ['', 'string'],
    ['5', 'string'],
    [[], 'array'],
    [{}, 'object'],
  ])('names %o as %s', (value, expected) => {
    expect(jsonType(value)).toBe(expected)
  })

  it('takes a number written with a zero fraction for an integer', () => {
    expect(jsonType(JSON.parse('5.0'))).toBe('integer')
  })

  it.each([[undefined], [1n], [() => 1], [Symbol('a')]])('is an error for %o, which JSON cannot represent', (value) => {
    expect(() => jsonType(value)).toThrow(TypeError)
  })
})

describe('parsing JSON bytes', () => {
  it.each([
    ['null', null],
    [' true\r\n', true],
    ['-1.5e3', -1500],
    ['"é😀"', 'é😀'],
    ['[]', []],
    ['{"a":[1,{"b":null}]}', { a: [1, { b: null }] }],
    ['"\ufeff"', '\ufeff'],
  ])('reads %s', (text, value) => {
    expect(parse(text)).toEqual({ ok: true, value })
  })

  it.each([
    ['an empty body', ''],
    ['white space alone', ' \n'],
    ['a bare word', 'nul'],
    ['a trailing comma', '[1,]'],
    ['single quotes', "{'a':1}"],
    ['a comment', '{}//'],
    ['two values', '{}{}'],
    ['an unclosed array', '['],
    ['an unclosed string', '"a'],
    ['a string that ends in a backslash', '"\\'],
    ['a raw control character in a string', '"\n"'],
    ['NaN', 'NaN'],
    ['a leading zero', '01'],
    ['a byte order mark', '\ufeff{}'],
    ['a no-break space around a value', '\u00a0{}'],
    ['closing brackets before opening ones', ']]]][[[['],
  ])('rejects %s as a syntax error', (_, text) => {
    expect(parse(text)).toEqual(SYNTAX)
  })

  it.each([
    ['a lone continuation byte', [0x22, 0x80, 0x22]],
    ['a truncated sequence', [0x22, 0xe2, 0x82, 0x22]],
    ['a truncated sequence at the end', [0x22, 0x22, 0xf0, 0x9f]],
    ['an overlong encoding', [0x22, 0xc0, 0xaf, 0x22]],
    ['an encoded surrogate', [0x22, 0xed, 0xa0, 0x80, 0x22]],
    ['a code point behind U+10FFFF', [0x22, 0xf4, 0x90, 0x80, 0x80, 0x22]],
    ['UTF-16', [0x7b, 0x00, 0x7d, 0x00]],
    ['a Latin-1 byte in a deep body', [0x5b, 0x5b, 0x5b, 0x22, 0xe9, 0x22, 0x5d, 0x5d, 0x5d]],
  ])('rejects %s as a syntax error', (_, bytes) => {
    expect(parseJson(Uint8Array.from(bytes), 2)).toEqual(SYNTAX)
  })

  it.each([
    ['5', 0],
    ['"[{"', 0],
    ['{}', 1],
    ['[[]]', 2],
    ['{"a":[]}', 2],
    ['[[],[],[[]]]', 3],
    ['{"[":"]","{":["}"]}', 2],
    ['["\\"[[[","\\\\",[]]', 2],
    ['["\\u005b[",{}]', 2],
  ])('finds that %s has a depth of %i', (text, depth) => {
    expect(parse(text, depth)).toEqual({ ok: true, value: JSON.parse(text) as Json })
    if (depth > 0) expect(parse(text, depth - 1)).toEqual(DEPTH)
  })

  it.each(['[', '{"a":', '[{"":', '[ '])('rejects a mebibyte of %s by its depth', (unit) => {
    expect(parse(unit.repeat(Math.floor(2 ** 20 / unit.length)))).toEqual(DEPTH)
  })

  it('rejects a mebibyte of closed brackets by its depth', () => {
    expect(parse('['.repeat(2 ** 19) + ']'.repeat(2 ** 19), 64)).toEqual(DEPTH)
  })

  it('reads a view into a larger buffer within its bounds', () => {
    expect(parseJson(utf8('xx{"a":1}xx').subarray(2, 9), 1)).toEqual({ ok: true, value: { a: 1 } })
  })

  it('reads every JSON value at exactly its depth, pretty or not', () => {
    const value = fc.jsonValue({ maxDepth: 4, stringUnit: 'binary-ascii' }) as fc.Arbitrary<Json>
    fc.assert(
      fc.property(value, fc.constantFrom(undefined, 2), (json, indent) => {
        const text = JSON.stringify(json, null, indent)
        const depth = depthOf(json)
        expect(parse(text, depth)).toEqual({ ok: true, value: JSON.parse(text) as Json })
        if (depth > 0) expect(parse(text, depth - 1)).toEqual(DEPTH)
      }),
    )
  })

  it('keeps an escaped lone surrogate as text', () => {
    expect(parse('"\\uD800"')).toEqual({ ok: true, value: '\ud800' })
  })

  it('delivers the key __proto__ as an own property', () => {
    const outcome = parse('{"__proto__":{"polluted":true}}')
    const value = outcome.ok ? (outcome.value as { [key: string]: Json }) : {}
    expect(Object.keys(value)).toEqual(['__proto__'])
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
    expect(value['polluted']).toBeUndefined()
  })
})

describe('problems in a text', () => {
  it.each([
    ['plain text', 'Lastseen'],
    ['an empty text', ''],
    ['accents and emoji', 'é 日本 😀'],
    ['a C1 control', '\u0085'],
    ['the neighbours of the surrogates', '\ud7ff\ue000'],
  ])('are absent from %s', (_, text) => {
    expect(textProblem(text)).toBeNull()
  })

  it.each([
    ['NUL', 'control', 'a\0'],
    ['the last C0 control', 'control', 'a\u001fb'],
    ['DEL', 'control', '\u007f'],
    ['TAB', 'control', 'a\tb'],
    ['LF', 'control', 'a\nb'],
    ['CR', 'control', 'a\rb'],
    ['a high surrogate at the end', 'surrogate', 'a\ud83d'],
    ['a high surrogate before a letter', 'surrogate', '\ud83da'],
    ['a low surrogate alone', 'surrogate', '\ude00'],
    ['a pair in the wrong order', 'surrogate', '\ude00\ud83d'],
    ['a low surrogate behind a pair', 'surrogate', '😀\ude00'],
    ['a high surrogate before a pair', 'surrogate', '\ud83d😀'],
  ])('report %s as a %s', (_, expected, text) => {
    expect(textProblem(text)).toBe(expected)
    expect(textProblem(text, {})).toBe(expected)
  })

  it.each([
    ['TAB', 'a\tb'],
    ['LF', '\n'],
    ['CR', '\r\n'],
  ])('allow %s only where line breaks are allowed', (_, text) => {
    expect(textProblem(text, { lineBreaks: true })).toBeNull()
    expect(textProblem(text, { lineBreaks: false })).toBe('control')
  })

  it.each([
    ['a vertical tab', 'control', '\v'],
    ['a form feed', 'control', '\f'],
    ['NUL', 'control', '\0'],
    ['DEL', 'control', '\u007f'],
    ['a lone surrogate behind a line break', 'surrogate', '\n\ud800'],
  ])('report %s as a %s even where line breaks are allowed', (_, expected, text) => {
    expect(textProblem(text, { lineBreaks: true })).toBe(expected)
  })

  it('are the first control or lone surrogate of the text', () => {
    const first = (text: string, pattern: RegExp) => {
      const match = pattern.exec(text)?.[0]
      return match === undefined ? null : match.length === 1 && match >= '\ud800' ? 'surrogate' : 'control'
    }
    fc.assert(
      fc.property(anyUnits, (text) => {
        // eslint-disable-next-line no-control-regex
        expect(textProblem(text)).toBe(first(text, /[\u0000-\u001f\u007f\ud800-\udfff]/u))
        // eslint-disable-next-line no-control-regex
        const broken = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f\ud800-\udfff]/u
        expect(textProblem(text, { lineBreaks: true })).toBe(first(text, broken))
      }),
      { numRuns: 500 },
    )
  })
})

describe('problems in metadata', () => {
  it.each(['{}', '{"a":{"b":[1,"x",null,true]},"é":"😀"}', '[]', 'null', '-0', '""'])('are absent from %s', (text) => {
    expect(metadataProblem(JSON.parse(text) as Json, 'metadata')).toBeNull()
  })

  it.each([
    ['{"a":{"b":["\\u0000"]}}', 'control', 'metadata.a.b[0]'],
    ['{"a":"x\\ny"}', 'control', 'metadata.a'],
    ['{"a":"\\t"}', 'control', 'metadata.a'],
    ['{"a":"\\r"}', 'control', 'metadata.a'],
    ['[0,[["a","\\ud800"]]]', 'surrogate', 'metadata[1][0][1]'],
    ['{"a":[{"b":1e400}]}', 'number', 'metadata.a[0].b'],
    ['{"a":-1e400}', 'number', 'metadata.a'],
    ['{"__proto__":{"a":1e400}}', 'number', 'metadata.__proto__.a'],
    ['{"a":"ok","b":1e400,"c":"\\u0000"}', 'number', 'metadata.b'],
    ['"\\u0001"', 'control', 'metadata'],
  ])('report the first bad value of %s as a %s at %s', (text, problem, path) => {
    expect(metadataProblem(JSON.parse(text) as Json, 'metadata')).toEqual({ path, problem })
  })

  it.each([
    ['{"a":{"b\\u007f":1}}', 'control', 'metadata.a'],
    ['{"a\\n":1}', 'control', 'metadata'],
    ['{"\\udc00":1}', 'surrogate', 'metadata'],
    ['[{"\\u0000":"\\ud800"}]', 'control', 'metadata[0]'],
  ])('report the bad key of %s as a %s at its object %s', (text, problem, path) => {
    expect(metadataProblem(JSON.parse(text) as Json, 'metadata')).toEqual({ path, problem })
  })

  it('are found at any depth, with the path of the invalid leaf', () => {
    const step = fc.oneof(fc.nat({ max: 3 }), fc.stringMatching(/^[a-z_]{1,5}$/))
    const leaf = fc.constantFrom<[Json, string]>(['\u0000', 'control'], ['\ud800', 'surrogate'], [Infinity, 'number'])
    fc.assert(
      fc.property(fc.array(step, { maxLength: 6 }), leaf, (steps, [bad, problem]) => {
        const plant = (value: Json) =>
          steps.reduceRight<Json>(
            (inner, at) => (typeof at === 'number' ? [...Array<Json>(at).fill('ok'), inner] : { [at]: inner }),
            value,
          )
        const path = steps.map((at) => (typeof at === 'number' ? `[${at}]` : `.${at}`)).join('')
        expect(metadataProblem(plant(bad), 'metadata')).toEqual({ path: `metadata${path}`, problem })
        expect(metadataProblem(plant('fine'), 'metadata')).toBeNull()
      }),
    )
  })
})

describe('the length in code points', () => {
  it.each([
    ['', 0],
    ['Lastseen', 8],
    ['é日\ue000\uffff', 4],
    ['😀', 1],
    ['a😀b😀', 4],
    ['\ud83d', 1],
    ['\ude00\ud83d', 2],
    ['\ud83d😀', 2],
  ])('of %j is %i', (text, expected) => {
    expect(codePointLength(text)).toBe(expected)
  })

  it('is the number of steps that the string iterator takes', () => {
    fc.assert(
      fc.property(anyUnits, (text) => {
        expect(codePointLength(text)).toBe([...text].length)
      }),
    )
  })
})

describe('a duplicate key in one object', () => {
  const unique = (text: string) => parseJson(utf8(text), 8, { uniqueKeys: true })
  const DUPLICATE = { ok: false, reason: 'duplicate key' }

  it.each(['{"a":1,"a":1}', '[{"b":{"a":1,"\\u0061":1}}]', '{"a":{"b":1},"a":{}}', '{"__proto__":1,"__proto__":2}'])(
    'is found in %s where keys must be unique, and passes elsewhere [D52]',
    (text) => {
      expect(unique(text)).toEqual(DUPLICATE)
      expect(parse(text).ok).toBe(true)
    },
  )

  it('is reported after a syntax error and after too deep nesting [D52]', () => {
    expect(unique('{"a":1,"a":1')).toEqual(SYNTAX)
    expect(unique(`{"a":1,"a":${'['.repeat(8)}${']'.repeat(8)}}`)).toEqual(DEPTH)
  })

  it('is never found in output of JSON.stringify, and always found once a member is repeated [D52]', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        const text = JSON.stringify(value)
        expect(unique(text)).toEqual({ ok: true, value: JSON.parse(text) })
        expect(unique(`{"x":${text},"x":${text}}`)).toEqual(DUPLICATE)
        expect(unique(`[{"x":{"x":${text}}},{"x":1}]`).ok).toBe(true)
      }),
    )
  })
})
