import { describe, expect, it } from 'vitest'
import { bearerToken } from '../../src/http/request-headers.ts'

const tokenOf = (headers: Record<string, string>): string => bearerToken({ headers } as never)

describe('The bearer token', () => {
  it.each([
    ['Bearer abc.def', 'abc.def'],
    ['bearer abc', 'abc'],
    ['BEARER   abc', 'abc'],
    [' Bearer abc ', 'abc'],
  ])('of "%s" is %s', (authorization, token) => {
    expect(tokenOf({ authorization })).toBe(token)
  })

  it.each([
    ['no header', {}, 'Missing authorization header'],
    ['an X-API-Key', { 'x-api-key': 'a' }, 'Use Authorization: Bearer <token>'],
    ['an empty header', { authorization: '' }, 'Use Authorization: Bearer <token>'],
    ['another scheme', { authorization: 'Basic abc' }, 'Use Authorization: Bearer <token>'],
    ['a token alone', { authorization: 'abc' }, 'Use Authorization: Bearer <token>'],
    ['a scheme glued to its token', { authorization: 'Bearer:abc' }, 'Use Authorization: Bearer <token>'],
    ['the scheme alone', { authorization: 'Bearer' }, 'Invalid or expired token'],
    ['two tokens', { authorization: 'Bearer a b' }, 'Invalid or expired token'],
  ] as [string, Record<string, string>, string][])('is not taken from %s', (_what, headers, detail) => {
    const challenge = { 'WWW-Authenticate': 'Bearer realm="service-api"' }
    expect(() => tokenOf(headers)).toThrow(
      expect.objectContaining({ kind: 'unauthorized', message: detail, headers: challenge }),
    )
  })

  it('is not taken from X-API-Key even when both headers are sent', () => {
    expect(tokenOf({ authorization: 'Bearer good', 'x-api-key': 'other' })).toBe('good')
  })
})
