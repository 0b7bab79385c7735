import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { type TestOrg, useApp } from '../../support/app.ts'
import {
  ManualClock,
  type Key,
  claimsOf,
  exchange,
  expectTokens,
  mintKey,
  newTokens,
  refresh,
  tokensOf,
  whoAmI,
  useSql,
} from '../../support/auth.ts'
import { type FieldEntry, expectApiError } from '../../support/error-response.ts'

const clock = new ManualClock()
const context = useApp({ clock })
const database = useSql(context)
const path = '/api/v1/oauth/token'

let org: TestOrg
let key: Key
beforeAll(async () => {
  org = await context.app.newOrg('Northwind')
  key = await mintKey(org, { scopes: ['assets:read', 'locations:write'] })
})

const post = (json: unknown) => context.app.anonymous('POST', path, { json })

const valid = () => ({ grant_type: 'client_credentials', client_id: key.clientId, client_secret: key.clientSecret })

async function familyCount(): Promise<number> {
  const [row] = await database.sql<{ count: number }[]>`select count(*) from refresh_token_families`
  return row!.count
}

describe('POST /api/v1/oauth/token with client_credentials', () => {
  it('answers with an access token, a refresh token, the type Bearer and 900 seconds, and nothing else', async () => {
    const reply = await post(valid())
    expect(reply.status).toBe(200)
    expect(reply.headers['content-type']).toBe('application/json')
    expect(reply.json).toEqual({
      access_token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
      refresh_token: expect.stringMatching(/./),
      token_type: 'Bearer',
      expires_in: 900,
    })
  })

  it('issues a JWT whose subject is the client id and which ends 900 seconds after it was issued', async () => {
    const { access } = await tokensOf(context.app, key)
    expect(claimsOf(access)).toMatchObject({ sub: key.clientId, iat: clock.seconds, exp: clock.seconds + 900 })
    const header = JSON.parse(Buffer.from(access.split('.')[0]!, 'base64url').toString()) as { alg: string }
    expect(header.alg).not.toBe('none')
  })

  it('issues an access token that authenticates as the credential', async () => {
    const { access } = await tokensOf(context.app, key)
    const reply = await whoAmI(context.app, access)
    expect(reply.json).toEqual({
      data: { id: org.orgId, name: 'Northwind', scopes: ['assets:read', 'locations:write'], api_key_id: key.clientId },
    })
  })

  it('starts a new refresh-token family at every exchange and leaves earlier tokens valid', async () => {
    const first = await tokensOf(context.app, key)
    const second = await tokensOf(context.app, key)
    expect(second.access).not.toBe(first.access)
    expect(second.refresh).not.toBe(first.refresh)
    for (const { access } of [first, second]) expect((await whoAmI(context.app, access)).status).toBe(200)
    for (const pair of [first, second]) expect((await refresh(context.app, pair.refresh)).status).toBe(200)
  })

  it.each([
    ['a charset of UTF-8', 'application/json; charset=utf-8'],
    ['a quoted charset in capitals', 'application/json; charset="UTF-8"'],
    ['capitals', 'Application/JSON'],
  ])('accepts application/json with %s (D8)', async (_what, type) => {
    const headers = { 'content-type': type }
    const reply = await context.app.anonymous('POST', path, { headers, json: valid() })
    expect(reply.status).toBe(200)
  })

  it.each<[string, () => Partial<ReturnType<typeof valid>>]>([
    ['a secret that is wrong in its last digit', () => ({ client_secret: flipLast(key.clientSecret) })],
    ['a secret without its prefix', () => ({ client_secret: key.clientSecret.slice(3) })],
    ['a secret in capitals', () => ({ client_secret: `ls_${key.clientSecret.slice(3).toUpperCase()}` })],
    ['a secret with a trailing space', () => ({ client_secret: `${key.clientSecret} ` })],
    ['the hash of the secret', () => ({ client_secret: createHash('sha256').update(key.clientSecret).digest('hex') })],
    ['an unknown client id', () => ({ client_id: '00000000-0000-4000-8000-000000000000' })],
    ['a client id that is no UUID', () => ({ client_id: 'northwind' })],
  ])('answers 401 to %s', async (_what, change) => {
    const families = await familyCount()
    const reply = await post({ ...valid(), ...change() })
    expectApiError(reply, 'unauthorized', { detail: 'Invalid client credentials', instance: path })
    expect(await familyCount()).toBe(families)
  })

  it('answers 401 to the secret of another credential of the same organization', async () => {
    const { clientSecret } = await mintKey(org)
    const reply = await exchange(context.app, { clientId: key.clientId, clientSecret })
    expectApiError(reply, 'unauthorized', { detail: 'Invalid client credentials' })
  })
})

const flipLast = (secret: string): string => secret.slice(0, -1) + (secret.endsWith('0') ? '1' : '0')

describe('POST /api/v1/oauth/token with refresh_token', () => {
  it('answers in the format of the other grant and needs no client secret', async () => {
    const first = await tokensOf(context.app, key)
    const reply = await post({ grant_type: 'refresh_token', refresh_token: first.refresh })
    expect(reply.status).toBe(200)
    expect(reply.json).toEqual({
      access_token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
      refresh_token: expect.stringMatching(/./),
      token_type: 'Bearer',
      expires_in: 900,
    })
    expect(reply.json.access_token).not.toBe(first.access)
    expect(reply.json.refresh_token).not.toBe(first.refresh)
  })

  it.each([
    ['a word', 'guess'],
    ['text with every kind of character', '../%00"\'; drop table refresh_token_families; --🙂'],
    ['a JWT', 'eyJhbGciOiJub25lIn0.e30.'],
  ])('answers 401 to %s', async (_what, token) => {
    expectApiError(await refresh(context.app, token), 'unauthorized', { instance: path })
  })

  it('answers 401 to an access token in place of the refresh token', async () => {
    const { access } = await tokensOf(context.app, key)
    expectApiError(await refresh(context.app, access), 'unauthorized')
  })
})

describe('POST /api/v1/oauth/token', () => {
  it('answers either grant with Cache-Control: no-store (D41)', async () => {
    const first = await exchange(context.app, key)
    expect(first.headers['cache-control']).toBe('no-store')
    const second = await refresh(context.app, (await expectTokens(first)).refresh)
    expect(second.headers['cache-control']).toBe('no-store')
  })

  it('answers a failed exchange with Cache-Control: no-store too (D41)', async () => {
    const failures = [
      await exchange(context.app, { ...key, clientSecret: `ls_${'0'.repeat(64)}` }),
      await refresh(context.app, 'guess'),
      await context.app.anonymous('POST', path, { json: {} }),
      await context.app.anonymous('POST', path, {
        raw: 'grant_type=refresh_token',
        headers: { 'content-type': 'text/plain' },
      }),
    ]
    expect(failures.map(({ status, headers }) => [status, headers['cache-control']])).toEqual([
      [401, 'no-store'],
      [401, 'no-store'],
      [400, 'no-store'],
      [415, 'no-store'],
    ])
  })

  const mistyped = (field: string, received: string): FieldEntry => ({
    field,
    code: 'invalid_value',
    params: { expected_type: 'string', received_type: received },
  })
  const required = (field: string): FieldEntry => ({ field, code: 'required' })
  const tooShort = (field: string): FieldEntry => ({ field, code: 'too_short', params: { min_length: 1 } })

  it.each<[string, () => object, FieldEntry[]]>([
    ['no grant type', () => ({ client_id: 'a', client_secret: 'b' }), [required('grant_type')]],
    ['an empty body', () => ({}), [required('grant_type')]],
    ['a null grant type', () => ({ ...valid(), grant_type: null }), [mistyped('grant_type', 'null')]],
    ['a grant type that is a number', () => ({ ...valid(), grant_type: 1 }), [mistyped('grant_type', 'integer')]],
    ['an empty grant type', () => ({ ...valid(), grant_type: '' }), [tooShort('grant_type')]],
    [
      'an unsupported grant type',
      () => ({ ...valid(), grant_type: 'password' }),
      [{ field: 'grant_type', code: 'invalid_value' }],
    ],
    [
      'a grant type in capitals',
      () => ({ ...valid(), grant_type: 'CLIENT_CREDENTIALS' }),
      [{ field: 'grant_type', code: 'invalid_value' }],
    ],
    [
      'a credentials grant without the pair',
      () => ({ grant_type: 'client_credentials' }),
      [required('client_id'), required('client_secret')],
    ],
    [
      'a credentials grant without the secret',
      () => ({ grant_type: 'client_credentials', client_id: key.clientId }),
      [required('client_secret')],
    ],
    [
      'a credentials grant without the id',
      () => ({ grant_type: 'client_credentials', client_secret: key.clientSecret }),
      [required('client_id')],
    ],
    ['a refresh grant without the token', () => ({ grant_type: 'refresh_token' }), [required('refresh_token')]],
    ['a null client id', () => ({ ...valid(), client_id: null }), [mistyped('client_id', 'null')]],
    ['a client id that is an object', () => ({ ...valid(), client_id: {} }), [mistyped('client_id', 'object')]],
    [
      'a client secret that is a number',
      () => ({ ...valid(), client_secret: 1.5 }),
      [mistyped('client_secret', 'number')],
    ],
    [
      'a client secret that is a list',
      () => ({ ...valid(), client_secret: ['a'] }),
      [mistyped('client_secret', 'array')],
    ],
    ['an empty client secret', () => ({ ...valid(), client_secret: '' }), [tooShort('client_secret')]],
    [
      'a refresh token that is a boolean',
      () => ({ grant_type: 'refresh_token', refresh_token: true }),
      [mistyped('refresh_token', 'boolean')],
    ],
    ['an empty refresh token', () => ({ grant_type: 'refresh_token', refresh_token: '' }), [tooShort('refresh_token')]],
    [
      'a key it does not know',
      () => ({ ...valid(), scope: 'assets:read' }),
      [{ field: 'scope', code: 'unknown_field' }],
    ],
    [
      'several keys it does not know, listed in order,',
      () => ({ ...valid(), username: 'a', audience: 'b', password: 'c' }),
      ['audience', 'password', 'username'].map((field) => ({ field, code: 'unknown_field' })),
    ],
    [
      'a key in another case',
      () => ({ grant_type: 'client_credentials', Client_Id: 'a', client_secret: 'b' }),
      [{ field: 'Client_Id', code: 'unknown_field' }],
    ],
  ])('answers 400 to %s', async (_what, body, fields) => {
    const families = await familyCount()
    expectApiError(await post(body()), 'validation_error', { fields, instance: path })
    expect(await familyCount()).toBe(families)
  })

  it.each([
    ['text that is not JSON', '{"grant_type"', 'Request body is not valid JSON'],
    ['no body', '', 'Request body is not valid JSON'],
    ['a form under the name of JSON', 'grant_type=client_credentials', 'Request body is not valid JSON'],
    ['a list', '[]', 'Request body could not be decoded as the expected type'],
    ['a string', '"client_credentials"', 'Request body could not be decoded as the expected type'],
    ['null', 'null', 'Request body could not be decoded as the expected type'],
  ])('answers 400 bad_request to %s', async (_what, raw, detail) => {
    const headers = { 'content-type': 'application/json' }
    expectApiError(await context.app.anonymous('POST', path, { headers, raw }), 'bad_request', { detail })
  })

  it.each([
    ['a form', 'application/x-www-form-urlencoded'],
    ['a merge patch', 'application/merge-patch+json'],
    ['plain text', 'text/plain'],
    ['a JSON of another kind', 'application/problem+json'],
    ['JSON in another charset', 'application/json; charset=iso-8859-1'],
  ])('accepts application/json only and answers 415 to %s (D41)', async (_what, type) => {
    const headers = { 'content-type': type }
    const reply = await context.app.anonymous('POST', path, { headers, raw: JSON.stringify(valid()) })
    expectApiError(reply, 'unsupported_media_type')
  })

  it.each([
    ['a body without a Content-Type', () => ({ raw: JSON.stringify(valid()) })],
    [
      'the pair as a form',
      () => ({ headers: { 'content-type': 'application/x-www-form-urlencoded' }, raw: 'grant_type=x' }),
    ],
  ])('names the required Content-Type when it gets %s', async (_what, options) => {
    const reply = await context.app.anonymous('POST', path, options())
    expectApiError(reply, 'unsupported_media_type', { detail: 'Content-Type must be application/json' })
  })

  it('does not accept basic authentication: the client id and secret belong in the body', async () => {
    const authorization = `Basic ${Buffer.from(`${key.clientId}:${key.clientSecret}`).toString('base64')}`
    const json = { grant_type: 'client_credentials' }
    const reply = await context.app.anonymous('POST', path, { headers: { authorization }, json })
    expectApiError(reply, 'validation_error', { fields: [required('client_id'), required('client_secret')] })
  })

  it('sets no cookie', async () => {
    const reply = await exchange(context.app, key)
    expect(reply.status).toBe(200)
    expect(reply.headers['set-cookie']).toBeUndefined()
  })

  it('rejects a query parameter', async () => {
    const reply = await context.app.anonymous('POST', path, { query: 'grant_type=client_credentials', json: valid() })
    expectApiError(reply, 'validation_error', { fields: [{ field: 'grant_type', code: 'unknown_field' }] })
  })

  it.each(['GET', 'PUT', 'PATCH', 'DELETE'])('answers 405 to %s with Allow: POST', async (method) => {
    const reply = await context.app.anonymous(method, path)
    expectApiError(reply, 'method_not_allowed', { detail: 'Allowed methods: POST' })
    expect(reply.headers['allow']).toBe('POST')
  })

  it('consumes no token of the credential: its first request finds a full bucket', async () => {
    const { access, refresh: token } = await newTokens(org)
    await refresh(context.app, token)
    expect((await whoAmI(context.app, access)).headers['x-ratelimit-remaining']).toBe('119')
  })
})
