import { describe, expect, it } from 'vitest'
import { boolean, jsonObject, instant, listOf, oneOf, object, id, text } from '../../src/http/validation/fields.ts'
import {
  type Field,
  type ValidationContext,
  type Shape,
  nullable,
  objectSchema,
  optional,
  parseObject,
} from '../../src/http/validation/schema.ts'
import { withoutMessage } from '../support/error-response.ts'

function read(field: Field<unknown>, value: unknown): { value?: unknown; problems?: unknown[]; aborted?: boolean } {
  const report: ValidationContext = { problems: [], aborted: false }
  const result = field.parse(value, 'at', report)
  if (report.problems.length === 0) return { value: result }
  expect(result).toBeUndefined()
  return { problems: report.problems.map(withoutMessage), aborted: report.aborted }
}

const wrongType = (expected_type: string, received_type: string, at = 'at') => ({
  field: at,
  code: 'invalid_value',
  params: { expected_type, received_type },
})

describe('A value of the wrong type', () => {
  const fields: [string, Field<unknown>][] = [
    ['string', text({ max: 9 })],
    ['boolean', boolean],
    ['integer', id],
    ['object', jsonObject],
    ['array', listOf(boolean)],
    ['string', instant],
    ['string', oneOf(['rfid'])],
    ['object', object({ a: boolean })],
  ]
  const values: [string, unknown][] = [
    ['boolean', true],
    ['integer', 5],
    ['integer', 1e20],
    ['number', 1.5],
    ['string', 'x'],
    ['array', []],
    ['object', {}],
    ['null', null],
  ]
  const cases = fields.flatMap(([expected, field]) =>
    values.filter(([type]) => type !== expected).map(([type, value]) => [expected, type, field, value] as const),
  )

  it.each(cases)(
    'is reported with both type names: %s expected, %s received (D14)',
    (expected, received, field, value) => {
      const { problems, aborted } = read(field, value)
      expect(problems).toEqual([wrongType(expected, received)])
      expect(aborted, 'a type mismatch ends the search, an explicit null does not').toBe(received !== 'null')
    },
  )

  it('does not include null where a field is nullable', () => {
    expect(read(nullable(boolean), null)).toEqual({ value: null })
  })
})

describe('Text', () => {
  const name = text({ min: 1, max: 3 })
  it.each(['a', 'abc', '😀😀😀', ' ', 'é'])('of "%s" fits 1 to 3 characters counted in code points (D13)', (value) => {
    expect(read(name, value)).toEqual({ value })
  })

  it.each([
    ['', 'too_short', { min_length: 1 }],
    ['abcd', 'too_long', { max_length: 3 }],
    ['😀😀😀😀', 'too_long', { max_length: 3 }],
  ])('of "%s" is %s (D14)', (value, code, params) => {
    expect(read(name, value).problems).toEqual([{ field: 'at', code, params }])
  })

  it.each(['\0', '\x1f', '\x7f', '\n', '\t', '\ud800', 'a\udc00'])('with %j is invalid_value (D13)', (value) => {
    expect(read(name, value).problems).toEqual([{ field: 'at', code: 'invalid_value' }])
  })

  it('may hold tabs and line breaks where lines are allowed (D13)', () => {
    expect(read(text({ max: 9, lineBreaks: true }), 'a\t\r\nb')).toEqual({ value: 'a\t\r\nb' })
    expect(read(text({ max: 9, lineBreaks: true }), '\v').problems).toHaveLength(1)
  })
})

describe('A reference', () => {
  it.each([1, 0, -5, Number.MAX_SAFE_INTEGER, 5.0])('may be %d, whether it exists or not', (value) => {
    expect(read(id, value)).toEqual({ value })
  })

  it('beyond the safe integers is invalid_value', () => {
    expect(read(id, 2 ** 53).problems).toEqual([{ field: 'at', code: 'invalid_value' }])
  })
})

describe('A list', () => {
  const list = listOf(text({ min: 1, max: 3 }), { min: 1, max: 2 })

  it.each([
    [[], 'too_short', { min_length: 1 }],
    [['a', 'b', 'c'], 'too_long', { max_length: 2 }],
  ])('of %j is %s', (value, code, params) => {
    expect(read(list, value).problems).toEqual([{ field: 'at', code, params }])
  })

  it('reports the index of the invalid entry (D17)', () => {
    expect(read(list, ['a', '']).problems).toEqual([{ field: 'at[1]', code: 'too_short', params: { min_length: 1 } }])
    expect(read(list, [5, 6]).problems).toEqual([wrongType('string', 'integer', 'at[0]')])
  })

  it('reports the path of the invalid leaf inside an entry (D17)', () => {
    const tags = listOf(object({ tag_type: oneOf(['rfid', 'ble']), value: text({ min: 1, max: 9 }) }))
    expect(
      read(tags, [
        { tag_type: 'rfid', value: 'x' },
        { tag_type: 'nfc', value: '' },
      ]).problems,
    ).toEqual([
      { field: 'at[1].tag_type', code: 'invalid_value' },
      { field: 'at[1].value', code: 'too_short', params: { min_length: 1 } },
    ])
    expect(read(tags, [{ tag_type: 'rfid', value: 'x', more: 1 }]).problems).toEqual([
      { field: 'at[0].more', code: 'unknown_field' },
    ])
  })
})

describe('An object', () => {
  const shape = { name: text({ min: 1, max: 9 }), size: id, is_active: optional(boolean) } satisfies Shape

  function readBody(value: Record<string, unknown>): unknown {
    const report: ValidationContext = { problems: [], aborted: false }
    const result = parseObject(shape, value, '', report)
    return result ?? report.problems.map(({ field, code }) => `${field}: ${code}`)
  }

  it('distinguishes absent, null and a value', () => {
    expect(readBody({ name: 'a', size: 1 })).toEqual({ name: 'a', size: 1 })
    expect(readBody({ name: 'a', size: 1, is_active: false })).toEqual({ name: 'a', size: 1, is_active: false })
    expect(readBody({ name: 'a', size: 1, is_active: null })).toEqual(['is_active: invalid_value'])
  })

  it('reports all unknown keys, sorted, and no other error with them (D7)', () => {
    expect(readBody({ zeta: 1, name: 5, alpha: 2 })).toEqual(['alpha: unknown_field', 'zeta: unknown_field'])
  })

  it('reports missing and invalid fields in the order of the schema (D7)', () => {
    expect(readBody({ is_active: null, name: '' })).toEqual([
      'name: too_short',
      'size: required',
      'is_active: invalid_value',
    ])
  })

  it('reports only the first value of a wrong type (D7)', () => {
    expect(readBody({ name: 5, size: 'x', is_active: 1 })).toEqual(['name: invalid_value'])
    expect(readBody({ size: 'x', is_active: 1 })).toEqual(['name: required', 'size: invalid_value'])
  })

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])('rejects the unknown key %s', (key) => {
    const body = JSON.parse(`{"name":"a","size":1,"${key}":1}`) as Record<string, unknown>
    expect(readBody(body)).toEqual([`${key}: unknown_field`])
  })

  it('has an OpenAPI schema with the constraints it checks', () => {
    expect(objectSchema(shape)).toEqual({
      type: 'object',
      required: ['name', 'size'],
      properties: {
        name: { type: 'string', minLength: 1, maxLength: 9 },
        size: { type: 'integer', format: 'int64', minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
        is_active: { type: 'boolean' },
      },
      additionalProperties: false,
    })
  })
})

describe('A JSON object field', () => {
  it.each([
    [{ a: '\0' }, 'at.a'],
    [{ a: [1, { b: '\ud800' }] }, 'at.a[1].b'],
    [{ '\x7f': 1 }, 'at'],
  ])('with a character that is not allowed is invalid_value at its path: %j (D13)', (value, field) => {
    expect(read(jsonObject, value).problems).toEqual([{ field, code: 'invalid_value' }])
  })
})
