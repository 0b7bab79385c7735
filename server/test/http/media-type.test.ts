import type { IncomingMessage } from 'node:http'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkMediaType } from '../../src/http/request-headers.ts'
import { ApiError } from '../../src/kernel/errors.ts'

const requestWith = (...pairs: [string, string][]): IncomingMessage =>
  ({
    headers: Object.fromEntries(pairs.map(([name, value]) => [name.toLowerCase(), value])),
    rawHeaders: pairs.flat(),
  }) as unknown as IncomingMessage

function resultOf(contentType: string, mediaType: 'application/json' | 'application/merge-patch+json'): string {
  try {
    checkMediaType(requestWith(['Content-Type', contentType]), mediaType)
    return 'taken'
  } catch (error) {
    expect(error).toBeInstanceOf(ApiError)
    return (error as ApiError).kind
  }
}

const json = 'application/json'

describe('A media type', () => {
  it.each([
    json,
    'application/json;charset=utf-8',
    'application/json; charset="utf-8"',
    'application/json; charset="utf\\-8"',
    'application/json;;charset=utf-8',
    'application/json; a="\\""; charset=utf-8',
    'application/json\t;\tcharset=utf-8',
  ])('of %s is accepted', (text) => {
    expect(resultOf(text, json)).toBe('taken')
  })

  it.each([
    'application/json; charset="utf-8',
    'application/json; charset=',
    'application/json; =utf-8',
    'application/json; charset =utf-8',
    'application/json; charset= utf-8',
    'application/json charset=utf-8',
    'application /json',
    '/json',
    'application/',
    'application/json/x',
    '"application/json"',
  ])('of %s is rejected', (text) => {
    expect(resultOf(text, json)).toBe('unsupported_media_type')
  })

  it('is not accepted in place of the other media type', () => {
    expect(resultOf('application/merge-patch+json', json)).toBe('unsupported_media_type')
    expect(resultOf(json, 'application/merge-patch+json')).toBe('unsupported_media_type')
  })

  it('is compared without case and parameters, except for a charset', () => {
    const word = fc.stringMatching(/^[a-z0-9!#$&^_.+-]{1,12}$/).filter((name) => name.toLowerCase() !== 'charset')
    const quoted = fc.string({ maxLength: 12 }).map((text) => `"${text.replace(/[\\"]/g, '\\$&')}"`)
    const parameters = fc.array(fc.tuple(word, fc.oneof(word, quoted)), { maxLength: 4 })
    fc.assert(
      fc.property(parameters, fc.boolean(), (pairs, isUpper) => {
        const type = isUpper ? json.toUpperCase() : json
        expect(resultOf(type + pairs.map(([name, value]) => `; ${name}=${value}`).join(''), json)).toBe('taken')
      }),
    )
  })

  it.each([
    ['spaces after the type', `${json}${' '.repeat(100_000)}x`],
    ['spaces after a parameter', `${json}; a=b${' '.repeat(100_000)}x`],
    ['spaces after a semicolon', `${json};${' '.repeat(100_000)}=`],
    ['a quote that never ends', `${json}; a="${'b'.repeat(100_000)}`],
    ['empty parameters', `${json}${' ;'.repeat(50_000)}x`],
  ])('is parsed in linear time: %s', (_what, text) => {
    const startedAt = performance.now()
    expect(resultOf(text, json)).toBe('unsupported_media_type')
    // Quadratic time would be many seconds.
    expect(performance.now() - startedAt).toBeLessThan(3000)
  })
})
