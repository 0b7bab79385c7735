import { describe, expect, it } from 'vitest'
import { useApp } from '../../support/app.ts'
import { expectCommonHeaders } from '../../support/error-response.ts'
import { allRoutes, routePath } from '../../support/all-routes.ts'

const context = useApp()

const listOf = (value: string | undefined): string[] => (value ?? '').split(',').map((one) => one.trim().toLowerCase())

const paths = [...new Set(allRoutes.map((route) => routePath(route, 5, 7)))]

describe('A CORS preflight', () => {
  it.each([...paths, '/api/openapi.json', '/healthz', '/', '/api/v1/no/such/path', '/api/v1/assets/', '/elsewhere'])(
    'to %s is 204 with Access-Control headers and no body, without a token',
    async (path) => {
      const reply = await context.app.anonymous('OPTIONS', path, {
        headers: {
          origin: 'https://app.example',
          'access-control-request-method': 'PATCH',
          'access-control-request-headers': 'authorization, content-type',
        },
      })
      expect([reply.status, reply.text]).toEqual([204, ''])
      expect(reply.headers['access-control-allow-origin']).toBe('*')
      expect(listOf(reply.headers['access-control-allow-methods'])).toEqual(
        expect.arrayContaining(['get', 'head', 'post', 'patch', 'put', 'delete']),
      )
      expect(listOf(reply.headers['access-control-allow-headers'])).toEqual(
        expect.arrayContaining(['authorization', 'content-type', 'x-request-id']),
      )
      expect(reply.headers['content-type']).toBeUndefined()
      expectCommonHeaders(reply)
    },
  )

  it('never allows credentials, because no cookies are used', async () => {
    const reply = await context.app.anonymous('OPTIONS', '/api/v1/assets', { headers: { origin: 'https://a.example' } })
    expect(reply.headers['access-control-allow-credentials']).toBeUndefined()
  })

  it('is any OPTIONS request, with or without an Origin, with an unknown query or a bad token', async () => {
    for (const options of [
      {},
      { query: 'nope=1' },
      { token: 'bad' },
      { raw: '{', headers: { 'content-type': 'x/y' } },
    ]) {
      const reply = await context.app.anonymous('OPTIONS', '/api/v1/assets', options)
      expect(reply.status).toBe(204)
    }
  })

  it('consumes no token', async () => {
    const org = await context.app.newOrg()
    const client = org.client('assets:read')
    const token = await client.token()
    for (let count = 0; count < 30; count++) await context.app.anonymous('OPTIONS', '/api/v1/assets', { token })
    const reply = await context.app.anonymous('GET', '/api/v1/orgs/me', { token })
    expect(Number(reply.headers['x-ratelimit-remaining'])).toBe(119)
  })
})

describe('A browser of any origin', () => {
  const readable = [
    'x-request-id',
    'ratelimit-policy',
    'x-ratelimit-limit',
    'x-ratelimit-remaining',
    'x-ratelimit-reset',
    'retry-after',
    'location',
    'allow',
    'www-authenticate',
  ]

  it.each([
    ['a description', 'GET', '/api/openapi.json', 200],
    ['401', 'GET', '/api/v1/assets', 401],
    ['404', 'GET', '/api/v1/nothing', 404],
    ['405', 'PUT', '/api/v1/assets', 405],
    ['415', 'POST', '/api/v1/oauth/token', 415],
  ])('may read %s and all its headers of the contract', async (_what, method, path, status) => {
    const reply = await context.app.anonymous(method, path, { headers: { origin: 'https://app.example' } })
    expect(reply.status).toBe(status)
    expect(reply.headers['access-control-allow-origin']).toBe('*')
    expect(listOf(reply.headers['access-control-expose-headers'])).toEqual(expect.arrayContaining(readable))
  })

  it.each(['/healthz', '/readyz', '/metrics'])('may not read %s, which is for the operator', async (path) => {
    const reply = await context.app.anonymous('GET', path)
    expect(reply.status).toBe(200)
    expect(reply.headers['access-control-allow-origin']).toBeUndefined()
    expect(reply.headers['access-control-expose-headers']).toBeUndefined()
  })
})
