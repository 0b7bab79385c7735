import { describe, expect, it } from 'vitest'
import { Lastseen, type LastseenOptions } from '../src/index.ts'

const valid = { baseUrl: 'https://lastseen.example.com', accessToken: 'token' }
const create = (options: object) => () => new Lastseen(options as LastseenOptions)

describe('Options', () => {
  it.each<[string, object, string]>([
    ['no base URL', { accessToken: 'x' }, 'baseUrl must be a string such as https://lastseen.example.com'],
    ['a base URL without a scheme', { ...valid, baseUrl: 'host' }, 'baseUrl is not a URL: host'],
    ['another scheme', { ...valid, baseUrl: 'ftp://host' }, 'baseUrl must begin with https:// or http://'],
    ['a query', { ...valid, baseUrl: 'https://host?x=1' }, 'baseUrl must have no query and no fragment'],
    [
      'the path of the API',
      { ...valid, baseUrl: 'https://host/api/v1/' },
      'baseUrl must not end with /api/v1, which the client adds',
    ],
    ['a wrong natural URL', { ...valid, naturalUrl: '' }, 'naturalUrl is not a URL: '],
    ['no credential', { baseUrl: valid.baseUrl }, 'clientId or accessToken is missing'],
    ['half a credential', { baseUrl: valid.baseUrl, clientId: 'x' }, 'clientSecret or accessToken is missing'],
    ['two credentials', { ...valid, clientId: 'x' }, 'pass a credential or an accessToken, not both'],
    ['a wrong token', { ...valid, accessToken: 5 }, 'accessToken must be a token or a function that returns one'],
    ['no attempts', { ...valid, attempts: 0 }, 'attempts must be a whole number of at least 1'],
    ['a timeout in words', { ...valid, timeoutMs: '30s' }, 'timeoutMs must be a whole number of at least 1'],
    ['a hook that is no function', { ...valid, onRequest: true }, 'onRequest must be a function'],
  ])('with %s are rejected, and the message says why', (_case, options, message) => {
    expect(create(options)).toThrow(new TypeError(`Lastseen: ${message}`))
  })

  it('with an unknown name are rejected, and the message lists the known ones', () => {
    expect(create({ ...valid, timeout: 5 })).toThrow(
      /^Lastseen: there is no option timeout; the options are accessToken, /,
    )
  })

  it('that are valid are accepted', () => {
    expect(create({ ...valid, naturalUrl: 'http://host/x', attempts: 1, timeoutMs: 5 })).not.toThrow()
  })
})
