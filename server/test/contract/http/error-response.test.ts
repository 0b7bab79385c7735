import { beforeAll, describe, expect, it } from 'vitest'
import { type TestOrg, useApp } from '../../support/app.ts'
import { drainedToken } from '../../support/drained-token.ts'
import type { Client, Reply } from '../../support/client.ts'
import { type ErrorType, errorTypes, expectCommonHeaders, expectApiError } from '../../support/error-response.ts'
import { useSnapshotDatabase } from '../../support/tenant-snapshot.ts'

const startedAt = Date.now()
const context = useApp({ clock: { millis: () => startedAt } })
const database = useSnapshotDatabase(context)
const nowhere = 4_503_599_627_370_497

let org: TestOrg
let full: Client

beforeAll(async () => {
  org = await context.app.newOrg()
  full = org.full
  await full.post('/api/v1/assets', { external_key: 'TAKEN', name: 'Pallet jack' })
})

async function orphaned(): Promise<Reply> {
  const lost = await context.app.newOrg()
  const client = lost.client('assets:read')
  await client.token()
  await database.sql`delete from organization_names where org_id = ${lost.orgId}`
  return client.get('/api/v1/orgs/me')
}

async function drained(): Promise<Reply> {
  const { token } = await drainedToken(org, 'assets:read')
  return context.app.anonymous('GET', '/api/v1/orgs/me', { token })
}

interface Case {
  type: ErrorType
  what: string
  provoke: () => Promise<Reply>
  instance: string
  detail?: string
}

const cases: Case[] = [
  {
    type: 'validation_error',
    what: 'a field that is missing',
    provoke: () => full.post('/api/v1/assets', {}),
    instance: '/api/v1/assets',
  },
  {
    type: 'bad_request',
    what: 'a body that is not JSON',
    provoke: () => full.send('POST', '/api/v1/assets', { raw: '{', headers: { 'content-type': 'application/json' } }),
    instance: '/api/v1/assets',
    detail: 'Request body is not valid JSON',
  },
  {
    type: 'unauthorized',
    what: 'a request without a token',
    provoke: () => context.app.anonymous('GET', '/api/v1/assets'),
    instance: '/api/v1/assets',
    detail: 'Missing authorization header',
  },
  {
    type: 'forbidden',
    what: 'a token without the scope',
    provoke: () => org.client('locations:read').get('/api/v1/assets'),
    instance: '/api/v1/assets',
    detail: 'Missing required scope: assets:read',
  },
  {
    type: 'not_found',
    what: 'an id that leads nowhere',
    provoke: () => full.get(`/api/v1/assets/${nowhere}`),
    instance: `/api/v1/assets/${nowhere}`,
  },
  {
    type: 'method_not_allowed',
    what: 'a method the path does not have',
    provoke: () => full.send('PATCH', '/api/v1/assets'),
    instance: '/api/v1/assets',
    detail: 'Allowed methods: GET, HEAD, POST',
  },
  {
    type: 'conflict',
    what: 'a key that is taken',
    provoke: () => full.post('/api/v1/assets', { external_key: 'TAKEN', name: 'Another' }),
    instance: '/api/v1/assets',
  },
  {
    type: 'unsupported_media_type',
    what: 'a body of another media type',
    provoke: () => full.send('POST', '/api/v1/assets', { raw: 'name=a', headers: { 'content-type': 'text/plain' } }),
    instance: '/api/v1/assets',
    detail: 'Content-Type must be application/json',
  },
  {
    type: 'missing_org_context',
    what: 'a credential whose organization is gone',
    provoke: orphaned,
    instance: '/api/v1/orgs/me',
  },
  {
    type: 'rate_limited',
    what: 'an empty bucket',
    provoke: drained,
    instance: '/api/v1/orgs/me',
    detail: 'Rate limit exceeded; retry after 1 second',
  },
]

describe('The error envelope', () => {
  it.each(cases)('answers $what with $type, its fixed title and every part filled in', async (row) => {
    const { type, provoke, instance, detail } = row
    expectApiError(await provoke(), type, detail === undefined ? { instance } : { instance, detail })
  })

  it('has a test case for every type of the contract except internal_error and gone', () => {
    const types = new Set(cases.map((one) => one.type))
    expect([...types, 'internal_error', 'gone'].sort()).toEqual(Object.keys(errorTypes).sort())
  })

  it('names the request path in instance, without the query', async () => {
    const reply = await full.send('GET', '/api/v1/assets', { query: 'nope=1&limit=5' })
    expectApiError(reply, 'validation_error', { instance: '/api/v1/assets' })
  })

  it('names the path in instance as it was sent, escapes included', async () => {
    const reply = await full.get('/api/v1/nothing%20here/%C3%A9')
    expectApiError(reply, 'not_found', { instance: '/api/v1/nothing%20here/%C3%A9' })
  })

  it.each(['TOOLS_DRILL-0001', 'labels_1795111660594', 'LS_20260504', 'details_0b8c2a526a0f4a539f0e2f4d5a1d2c11'])(
    'names the path in instance unchanged when the key %s resembles a secret',
    async (key) => {
      const path = `/natural/api/v1/assets/${key}`
      expectApiError(await full.get(path), 'not_found', { instance: path })
    },
  )

  it.each(['lsr_1ka9.0b8c2a52-6a0f-4a53-9f0e-2f4d5a1d2c11.', `whsec_${'aB/'.repeat(16)}`, `x%2Fls_${'0f'.repeat(32)}`])(
    'does not repeat a secret in the path: %s…',
    async (start) => {
      const secret = start.startsWith('lsr_') ? start + 'aB-'.repeat(14) + 'c' : start
      const reply = await full.get(`/api/v1/nothing/${secret}`)
      expectApiError(reply, 'not_found', { instance: `/api/v1/nothing/${start.startsWith('x') ? 'x%2F' : ''}{secret}` })
    },
  )

  it.each([
    ['one', { name: 'a', zeta: 1 }, ['zeta'], 'zeta is not a known field'],
    [
      'two',
      { name: 'a', zeta: 1, alpha: 2 },
      ['alpha', 'zeta'],
      'alpha is not a known field (and 1 more validation errors)',
    ],
    ['three', { c: 1, a: 1, b: 1 }, ['a', 'b', 'c'], 'a is not a known field (and 2 more validation errors)'],
  ])('mirrors the first message of %s in detail and counts the others', async (_count, body, fields, detail) => {
    const reply = await full.post('/api/v1/assets', body)
    const entries = fields.map((field) => ({ field, code: 'unknown_field' }))
    expectApiError(reply, 'validation_error', { fields: entries, detail })
  })

  it('counts the entries of a cross-field rule the same way', async () => {
    const reply = await full.send('GET', '/api/v1/locations', { query: 'parent_id=5&parent_external_key=a' })
    const fields = ['parent_id', 'parent_external_key'].map((field) => ({ field, code: 'ambiguous_fields' }))
    expectApiError(reply, 'validation_error', { fields })
    expect(reply.json.error.detail).toMatch(/ \(and 1 more validation errors\)$/)
  })

  it('names a query parameter in fields by its name and gives the bound in params', async () => {
    const reply = await full.send('GET', '/api/v1/assets', { query: 'limit=201' })
    expectApiError(reply, 'validation_error', { fields: [{ field: 'limit', code: 'too_large', params: { max: 200 } }] })
  })

  it('repeats the X-Request-ID header in request_id', async () => {
    const reply = await context.app.anonymous('GET', '/api/v1/assets', { headers: { 'x-request-id': 'trace 7/x' } })
    expect(reply.headers['x-request-id']).toBe('trace 7/x')
    expect(reply.json.error.request_id).toBe('trace 7/x')
  })

  it('gives every response its own request id', async () => {
    const replies = await Promise.all(Array.from({ length: 20 }, () => context.app.anonymous('GET', '/api/v1/assets')))
    expect(new Set(replies.map((reply) => reply.json.error.request_id)).size).toBe(20)
  })
})

describe('The success envelope', () => {
  it('wraps a single resource in data and nothing else', async () => {
    const reply = await full.get('/api/v1/orgs/me')
    expect(Object.keys(reply.json)).toEqual(['data'])
    expect(reply.headers['content-type']).toBe('application/json')
    expectCommonHeaders(reply)
  })

  it('wraps a list in data, limit, offset and total_count', async () => {
    const reply = await full.get('/api/v1/assets')
    expect(Object.keys(reply.json)).toEqual(['data', 'limit', 'offset', 'total_count'])
    expect(reply.json).toMatchObject({ limit: 50, offset: 0, total_count: 1, data: [{ external_key: 'TAKEN' }] })
    expectCommonHeaders(reply)
  })

  it('answers a deletion with 204, no body and no content type', async () => {
    const made = await full.post('/api/v1/assets', { name: 'short-lived' })
    const reply = await full.delete(`/api/v1/assets/${made.json.data.id}`)
    expect([reply.status, reply.text]).toEqual([204, ''])
    expect(reply.headers['content-type']).toBeUndefined()
    expect(reply.headers['content-length']).toBeUndefined()
    expectCommonHeaders(reply)
  })

  it('answers 200 with an empty list when a filter matches nothing', async () => {
    const reply = await full.get('/api/v1/assets', { external_key: 'NO-SUCH-KEY' })
    expect(reply.json).toEqual({ data: [], limit: 50, offset: 0, total_count: 0 })
  })
})

describe('401', () => {
  const use = 'Use Authorization: Bearer <token>'
  const invalid = 'Invalid or expired token'
  it.each([
    ['no header at all', {}, 'Missing authorization header'],
    ['a token in X-API-Key', { 'x-api-key': 'abc' }, use],
    ['the Basic scheme', { authorization: 'Basic dXNlcjpwYXNz' }, use],
    ['a token without a scheme', { authorization: 'abc.def.ghi' }, use],
    ['a scheme that only begins with Bearer', { authorization: 'Bearers abc' }, use],
    ['Bearer without a token', { authorization: 'Bearer' }, invalid],
    ['Bearer with spaces for a token', { authorization: 'Bearer    ' }, invalid],
    ['two words behind Bearer', { authorization: 'Bearer abc def' }, invalid],
    ['a token that is no JWT', { authorization: 'Bearer abc' }, invalid],
    [
      'a JWT signed with another key',
      { authorization: 'Bearer eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.e30.AAAA' },
      invalid,
    ],
  ])('is the answer to %s', async (_what, headers: Record<string, string>, detail) => {
    const reply = await context.app.anonymous('GET', '/api/v1/assets', { headers })
    expectApiError(reply, 'unauthorized', { detail, instance: '/api/v1/assets' })
    expect(reply.headers['x-ratelimit-remaining']).toBe('120')
    expect(Number(reply.headers['x-ratelimit-reset'])).toBe(Math.floor(startedAt / 1000))
  })

  it('is not the answer to a good token whatever the case of the scheme', async () => {
    const token = await full.token()
    for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
      const headers = { authorization: `${scheme} ${token}` }
      expect((await context.app.anonymous('GET', '/api/v1/orgs/me', { headers })).status).toBe(200)
    }
  })
})
