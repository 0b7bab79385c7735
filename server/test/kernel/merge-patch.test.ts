import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Json } from '../../src/kernel/json.ts'
import { mergePatch } from '../../src/kernel/merge-patch.ts'

const read = (text: string) => JSON.parse(text) as Json
type JsonObject = { [key: string]: Json }

// Few and dangerous keys, so that target and patch meet; parsing makes `__proto__` an own property.
const keys = ['a', 'b', 'c', '', '__proto__', 'constructor', 'toString', 'hasOwnProperty', '0']
const { anyJson, anyObject } = fc.letrec<{ anyJson: string; anyObject: string }>((tie) => ({
  anyJson: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom('null', 'null', 'true', '0', '1.5', '"x"', '[]', '{}'),
    fc.array(tie('anyJson'), { maxLength: 3 }).map((items) => `[${items.join()}]`),
    tie('anyObject'),
  ),
  anyObject: fc
    .uniqueArray(fc.tuple(fc.constantFrom(...keys), tie('anyJson')), { selector: ([key]) => key, maxLength: 5 })
    .map((members) => `{${members.map(([key, value]) => `${JSON.stringify(key)}:${value}`).join()}}`),
}))

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The same rules on lists of entries, where no key is special. */
function reference(target: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return patch
  const members = new Map(isObject(target) ? Object.entries(target) : [])
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) members.delete(key)
    else members.set(key, reference(members.get(key), value))
  }
  return Object.fromEntries(members)
}

function deepFreeze(value: Json): Json {
  if (typeof value === 'object' && value !== null) {
    Object.values(value).forEach(deepFreeze)
    Object.freeze(value)
  }
  return value
}

describe('merge patch', () => {
  it.each([
    ['{"a":"b"}', '{"a":"c"}', '{"a":"c"}'],
    ['{"a":"b"}', '{"b":"c"}', '{"a":"b","b":"c"}'],
    ['{"a":"b"}', '{"a":null}', '{}'],
    ['{"a":"b","b":"c"}', '{"a":null}', '{"b":"c"}'],
    ['{"a":["b"]}', '{"a":"c"}', '{"a":"c"}'],
    ['{"a":"c"}', '{"a":["b"]}', '{"a":["b"]}'],
    ['{"a":{"b":"c"}}', '{"a":{"b":"d","c":null}}', '{"a":{"b":"d"}}'],
    ['{"a":[{"b":"c"}]}', '{"a":[1]}', '{"a":[1]}'],
    ['["a","b"]', '["c","d"]', '["c","d"]'],
    ['{"a":"b"}', '["c"]', '["c"]'],
    ['{"a":"foo"}', 'null', 'null'],
    ['{"a":"foo"}', '"bar"', '"bar"'],
    ['{"e":null}', '{"a":1}', '{"e":null,"a":1}'],
    ['[1,2]', '{"a":"b","c":null}', '{"a":"b"}'],
    ['{}', '{"a":{"bb":{"ccc":null}}}', '{"a":{"bb":{}}}'],
  ])('turns %s by %s into %s, as RFC 7396 appendix A says', (target, patch, expected) => {
    expect(JSON.stringify(mergePatch(read(target), read(patch)))).toBe(expected)
  })

  it('applies the example of RFC 7396 section 3', () => {
    const target = read(
      '{"title":"Goodbye!","author":{"givenName":"John","familyName":"Doe"},"tags":["example","sample"],' +
        '"content":"This will be unchanged"}',
    )
    const patch = read(
      '{"title":"Hello!","phoneNumber":"+01-123-456-7890","author":{"familyName":null},"tags":["example"]}',
    )
    expect(mergePatch(target, patch)).toEqual({
      title: 'Hello!',
      author: { givenName: 'John' },
      tags: ['example'],
      content: 'This will be unchanged',
      phoneNumber: '+01-123-456-7890',
    })
  })

  it.each([
    ['sets an own __proto__', '{}', '{"__proto__":{"x":1}}', '{"__proto__":{"x":1}}'],
    ['sets a scalar __proto__', '{}', '{"__proto__":5}', '{"__proto__":5}'],
    ['keeps an own __proto__', '{"__proto__":{"x":1}}', '{"a":1}', '{"__proto__":{"x":1},"a":1}'],
    ['merges into an own __proto__', '{"__proto__":{"x":1}}', '{"__proto__":{"y":2}}', '{"__proto__":{"x":1,"y":2}}'],
    ['removes an own __proto__', '{"__proto__":{"x":1},"a":1}', '{"__proto__":null}', '{"a":1}'],
    ['ignores the removal of a missing __proto__', '{"a":1}', '{"__proto__":null}', '{"a":1}'],
    ['merges into no inherited constructor', '{}', '{"constructor":{"x":1}}', '{"constructor":{"x":1}}'],
    ['sets a toString', '{}', '{"toString":{"a":null}}', '{"toString":{}}'],
    ['removes an own toString', '{"toString":1}', '{"toString":null}', '{}'],
    ['keeps nulls within arrays', '{}', '{"a":[null,{"b":null}]}', '{"a":[null,{"b":null}]}'],
    ['replaces an array by an object', '{"a":[1]}', '{"a":{"0":2}}', '{"a":{"0":2}}'],
    ['empties a scalar', '5', '{}', '{}'],
  ])('%s', (_, target, patch, expected) => {
    const result = mergePatch(read(target), read(patch))
    expect(JSON.stringify(result)).toBe(expected)
    expect(Object.getPrototypeOf(result)).toBe(Object.prototype)
  })

  it('does not change Object.prototype', () => {
    const before = Object.getOwnPropertyNames(Object.prototype)
    mergePatch(read('{}'), read('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}'))
    expect(Object.getOwnPropertyNames(Object.prototype)).toEqual(before)
    expect(({} as JsonObject)['polluted']).toBeUndefined()
  })

  it('merges into no inherited member', () => {
    Object.defineProperty(Object.prototype, 'inherited', { value: { x: 1 }, writable: true, configurable: true })
    try {
      expect(JSON.stringify(mergePatch({}, { inherited: { y: 2 } }))).toBe('{"inherited":{"y":2}}')
    } finally {
      delete (Object.prototype as JsonObject)['inherited']
    }
  })

  it('gives the result that the rules give on entry lists', () => {
    fc.assert(
      fc.property(anyJson, anyJson, (target, patch) => {
        const expected = JSON.stringify(reference(read(target), read(patch)))
        expect(JSON.stringify(mergePatch(read(target), read(patch)))).toBe(expected)
      }),
      { numRuns: 1000 },
    )
  })

  it('applied twice gives what it gives once', () => {
    fc.assert(
      fc.property(anyJson, anyJson, (target, patch) => {
        const once = mergePatch(read(target), read(patch))
        expect(JSON.stringify(mergePatch(once, read(patch)))).toBe(JSON.stringify(once))
      }),
    )
  })

  it('that is empty changes no object', () => {
    fc.assert(
      fc.property(anyObject, (target) => {
        expect(JSON.stringify(mergePatch(read(target), {}))).toBe(JSON.stringify(read(target)))
      }),
    )
  })

  it('removes exactly the member that it sets to null', () => {
    fc.assert(
      fc.property(anyObject, fc.constantFrom(...keys), (target, key) => {
        const expected = Object.entries(read(target) as JsonObject).filter(([name]) => name !== key)
        const result = mergePatch(read(target), read(`{${JSON.stringify(key)}:null}`)) as JsonObject
        expect(JSON.stringify(Object.entries(result))).toBe(JSON.stringify(expected))
      }),
    )
  })

  it('introduces no null member of its own outside arrays', () => {
    const hasNullMember = (value: Json): boolean =>
      isObject(value) && Object.values(value).some((member) => member === null || hasNullMember(member))
    fc.assert(
      fc.property(anyJson, anyObject, (target, patch) => {
        const before = read(target)
        fc.pre(!hasNullMember(before))
        expect(hasNullMember(mergePatch(before, read(patch)))).toBe(false)
      }),
    )
  })

  it('never changes its inputs', () => {
    fc.assert(
      fc.property(anyJson, anyJson, (targetText, patchText) => {
        const target = deepFreeze(read(targetText))
        const patch = deepFreeze(read(patchText))
        mergePatch(target, patch)
        expect(JSON.stringify(target)).toBe(JSON.stringify(read(targetText)))
        expect(JSON.stringify(patch)).toBe(JSON.stringify(read(patchText)))
      }),
    )
  })
})
