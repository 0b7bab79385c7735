import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  booleanParam,
  idsParam,
  keysParam,
  limit,
  timestampParam,
  offset,
  parseQuery,
  searchParam,
  sortParam,
} from '../../src/http/validation/parameters.ts'
import { ApiError } from '../../src/kernel/errors.ts'
import { withoutMessage } from '../support/error-response.ts'

const spec = {
  parameters: {
    limit,
    offset,
    external_key: keysParam,
    parent_id: idsParam,
    is_active: booleanParam,
    q: searchParam,
    from: timestampParam,
    sort: sortParam(['name', 'created_at'], [{ field: 'name', descending: false }]),
  },
  pairs: [['parent_id', 'external_key']],
} as const
const elsewhere = new Set(['asset_id', 'limit'])

const read = (text: string) => parseQuery(text, spec as never, elsewhere) as Record<string, unknown>

function problems(text: string, withSpec = true): unknown[] {
  try {
    parseQuery(text, withSpec ? (spec as never) : undefined, elsewhere)
  } catch (error) {
    expect((error as ApiError).kind).toBe('validation_error')
    return (error as ApiError).fields!.map(withoutMessage)
  }
  return []
}

describe('A query', () => {
  it('that is empty gives the defaults', () => {
    expect(read('')).toEqual({ limit: 50, offset: 0, sort: [{ field: 'name', descending: false }] })
  })

  it.each([
    ['limit=1', { limit: 1 }],
    ['limit=200', { limit: 200 }],
    ['offset=9007199254740993', { offset: 9_007_199_254_740_991 }],
    [`offset=${'9'.repeat(400)}`, { offset: 9_007_199_254_740_991 }],
    ['external_key=a&external_key=b', { external_key: ['a', 'b'] }],
    ['external_key=a%2Fb%25', { external_key: ['a/b%'] }],
    ['external_key=a+b', { external_key: ['a b'] }],
    ['external_key=a%2Bb', { external_key: ['a+b'] }],
    ['external_key=a=b', { external_key: ['a=b'] }],
    ['external%5Fkey=a', { external_key: ['a'] }],
    ['is_active=true', { is_active: true }],
    ['is_active=false', { is_active: false }],
    ['q=', { q: '' }],
    ['q', { q: '' }],
    ['q=%E2%82%AC', { q: '€' }],
    ['&&limit=5&', { limit: 5 }],
    [
      'sort=-name,created_at',
      {
        sort: [
          { field: 'name', descending: true },
          { field: 'created_at', descending: false },
        ],
      },
    ],
    ['sort=name,-name', { sort: [{ field: 'name', descending: false }] }],
  ])('%s is parsed', (text, expected) => {
    expect(read(text)).toMatchObject(expected)
  })

  const min = (value: number) => ({ code: 'too_small', params: { min: value } })
  it.each([
    ['limit=0', [{ field: 'limit', ...min(1) }]],
    ['limit=-1', [{ field: 'limit', ...min(1) }]],
    ['limit=201', [{ field: 'limit', code: 'too_large', params: { max: 200 } }]],
    ['offset=-1', [{ field: 'offset', ...min(0) }]],
    ...['', ' 5', '5 ', '05', '+5', '1e2', '0x10', '5.0', 'Infinity', 'NaN', '５'].map((text) => [
      `limit=${encodeURIComponent(text)}`,
      [{ field: 'limit', code: 'invalid_value' }],
    ]),
    ...['True', '1', 'yes', '', 'TRUE', 'true '].map((text) => [
      `is_active=${encodeURIComponent(text)}`,
      [{ field: 'is_active', code: 'invalid_value' }],
    ]),
    ['limit=5&limit=5', [{ field: 'limit', code: 'invalid_value' }]],
    ['q=%ff', [{ field: 'q', code: 'invalid_value' }]],
    ['q=%zz', [{ field: 'q', code: 'invalid_value' }]],
    ['q=%00', [{ field: 'q', code: 'invalid_value' }]],
    ['external_key=', [{ field: 'external_key', code: 'too_short', params: { min_length: 1 } }]],
    [`external_key=${'x'.repeat(256)}`, [{ field: 'external_key', code: 'too_long', params: { max_length: 255 } }]],
    ['parent_id=0', [{ field: 'parent_id', ...min(1) }]],
    ['from=2026-01-01', [{ field: 'from', code: 'invalid_value' }]],
    ['sort=colour', [{ field: 'sort', code: 'invalid_value' }]],
    ['sort=', [{ field: 'sort', code: 'invalid_value' }]],
    ['sort=name,', [{ field: 'sort', code: 'invalid_value' }]],
    ['sort=--name', [{ field: 'sort', code: 'invalid_value' }]],
    ['sort=constructor', [{ field: 'sort', code: 'invalid_value' }]],
    ['nope=1', [{ field: 'nope', code: 'unknown_field' }]],
    ['__proto__=1', [{ field: '__proto__', code: 'unknown_field' }]],
    ['constructor=1', [{ field: 'constructor', code: 'unknown_field' }]],
    ['LIMIT=5', [{ field: 'LIMIT', code: 'unknown_field' }]],
    ['asset_id=5', [{ field: 'asset_id', code: 'unknown_field' }]],
    ['nope=1&nope=2', [{ field: 'nope', code: 'unknown_field' }]],
  ] as [string, unknown[]][])('%s is rejected (D27)', (text, expected) => {
    expect(problems(text)).toEqual(expected)
  })

  it('reports all its errors in the order of the URL (D7)', () => {
    expect(problems('zeta=1&limit=0&alpha=2&offset=-1')).toEqual([
      { field: 'zeta', code: 'unknown_field' },
      { field: 'limit', ...min(1) },
      { field: 'alpha', code: 'unknown_field' },
      { field: 'offset', ...min(0) },
    ])
  })

  it.each(['parent_id=5&external_key=a', 'external_key=a&parent_id=5'])(
    '%s gives one filter twice, which is an ambiguous error on each (D25)',
    (text) => {
      const fields = text.split('&').map((part) => part.split('=')[0])
      expect(problems(text)).toEqual(fields.map((field) => ({ field, code: 'ambiguous_fields' })))
    },
  )

  it('of an operation without parameters distinguishes a known parameter from an unknown one (D27)', () => {
    expect(problems('limit=5&nope=1', false)).toEqual([
      { field: 'limit', code: 'invalid_context' },
      { field: 'nope', code: 'unknown_field' },
    ])
  })

  it('never makes the parser throw, whatever it contains', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.webQueryParameters(), fc.string({ unit: 'binary' })), (text) => {
        try {
          parseQuery(text, spec as never, elsewhere)
        } catch (error) {
          expect(error).toBeInstanceOf(ApiError)
        }
      }),
      { numRuns: 500 },
    )
  })
})
