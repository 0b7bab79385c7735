import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { type TestOrg, useApp } from '../../support/app.ts'
import { ManualClock, exchange, tokensOf, useSql, whoAmI } from '../../support/auth.ts'
import type { Reply, SendOptions } from '../../support/client.ts'
import { type FieldEntry, expectApiError } from '../../support/error-response.ts'

const clock = new ManualClock()
const context = useApp({ clock })
const database = useSql(context)

let org: TestOrg
let token: string
beforeAll(async () => {
  org = await context.app.newOrg()
  await signIn()
})

async function signIn(): Promise<void> {
  token = (await org.signIn('admin')).accessToken
}

const path = (): string => `/api/v1/orgs/${org.orgId}/api-keys`
const send = (options: SendOptions): Promise<Reply> => context.app.anonymous('POST', path(), { token, ...options })
const create = (json: unknown): Promise<Reply> => send({ json })
const valid = { name: 'ERP sync', scopes: ['assets:read', 'tracking:read'] }
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const timestamp = (ms: number): string => new Date(ms).toISOString()

async function keyCount(): Promise<number> {
  const [row] = await database.sql<{ count: number }[]>`select count(*) from credentials`
  return row!.count
}

describe('POST /api/v1/orgs/{org_id}/api-keys (D40)', () => {
  it('mints a key and answers 201 with exactly its fields, the secret among them', async () => {
    const reply = await create(valid)
    expect(reply.status).toBe(201)
    expect(reply.json).toEqual({
      data: {
        id: expect.any(Number),
        jti: expect.stringMatching(uuid),
        key: expect.stringMatching(/^ls_[0-9a-f]{64}$/),
        name: 'ERP sync',
        scopes: ['assets:read', 'tracking:read'],
        created_at: timestamp(clock.millis()),
        expires_at: null,
      },
    })
  })

  it('answers with Cache-Control: no-store', async () => {
    expect((await create(valid)).headers['cache-control']).toBe('private, no-store')
  })

  it('gives jti as the client id and key as the client secret of the exchange', async () => {
    const { jti, key } = (await create(valid)).json.data
    const { access } = await tokensOf(context.app, { clientId: jti, clientSecret: key })
    expect((await whoAmI(context.app, access)).json.data).toEqual({
      id: org.orgId,
      name: org.name,
      scopes: valid.scopes,
      api_key_id: jti,
    })
  })

  it('keeps the secret only as its SHA-256 hash', async () => {
    const { id, key } = (await create(valid)).json.data
    const [row] = await database.sql<{ hash: string; whole: string }[]>`
      select encode(secret_hash, 'hex') as hash, c::text as whole from credentials c where id = ${id}`
    expect(row!.hash).toBe(createHash('sha256').update(key).digest('hex'))
    expect(row!.whole).not.toContain(key.slice(3))
  })

  it('accepts an expiry, normalized to UTC, after which the exchange gives 401', async () => {
    const expiresAt = timestamp(clock.millis() + 3_600_000).replace('Z', '+00:00')
    const { data } = (await create({ ...valid, expires_at: expiresAt })).json
    expect(data.expires_at).toBe(timestamp(clock.millis() + 3_600_000))
    const pair = { clientId: data.jti, clientSecret: data.key }
    clock.advance(3599)
    expect((await exchange(context.app, pair)).status).toBe(200)
    clock.advance(1)
    expectApiError(await exchange(context.app, pair), 'unauthorized', { detail: 'Invalid client credentials' })
    await signIn()
  })

  it('accepts a null expiry, which means never', async () => {
    expect((await create({ ...valid, expires_at: null })).json.data.expires_at).toBeNull()
  })

  it.each(['assets:read', 'assets:write', 'locations:read', 'locations:write', 'tracking:read'])(
    'mints a key with the scope %s alone',
    async (scope) => {
      const reply = await create({ name: 'a', scopes: [scope] })
      expect(reply.status).toBe(201)
      expect(reply.json.data.scopes).toEqual([scope])
    },
  )

  it.each([
    ['one character', 'a'],
    ['255 characters', '🙂'.repeat(255)],
  ])('accepts a name of %s', async (_what, name) => {
    expect((await create({ ...valid, name })).json.data.name).toBe(name)
  })

  const mistyped = (field: string, expected: string, received: string): FieldEntry => ({
    field,
    code: 'invalid_value',
    params: { expected_type: expected, received_type: received },
  })

  it.each<[string, () => object, FieldEntry[]]>([
    [
      'an empty body',
      () => ({}),
      [
        { field: 'name', code: 'required' },
        { field: 'scopes', code: 'required' },
      ],
    ],
    ['no name', () => ({ scopes: ['assets:read'] }), [{ field: 'name', code: 'required' }]],
    [
      'an empty name',
      () => ({ ...valid, name: '' }),
      [{ field: 'name', code: 'too_short', params: { min_length: 1 } }],
    ],
    [
      'a name of 256 characters',
      () => ({ ...valid, name: 'a'.repeat(256) }),
      [{ field: 'name', code: 'too_long', params: { max_length: 255 } }],
    ],
    ['a null name', () => ({ ...valid, name: null }), [mistyped('name', 'string', 'null')]],
    ['no scopes', () => ({ name: 'a' }), [{ field: 'scopes', code: 'required' }]],
    [
      'an empty list of scopes',
      () => ({ ...valid, scopes: [] }),
      [{ field: 'scopes', code: 'too_short', params: { min_length: 1 } }],
    ],
    ['scopes that are a string', () => ({ ...valid, scopes: 'assets:read' }), [mistyped('scopes', 'array', 'string')]],
    ['a scope that is a number', () => ({ ...valid, scopes: [1] }), [mistyped('scopes[0]', 'string', 'integer')]],
    [
      'an unknown scope',
      () => ({ ...valid, scopes: ['assets:read', 'assets:delete'] }),
      [{ field: 'scopes[1]', code: 'invalid_value' }],
    ],
    [
      'the scope keys:admin, which is not selectable',
      () => ({ ...valid, scopes: ['keys:admin'] }),
      [{ field: 'scopes[0]', code: 'invalid_value' }],
    ],
    [
      'a tag scope, of which there is none',
      () => ({ ...valid, scopes: ['tags:write'] }),
      [{ field: 'scopes[0]', code: 'invalid_value' }],
    ],
    [
      'an expiry in the past',
      () => ({ ...valid, expires_at: timestamp(clock.millis() - 1) }),
      [{ field: 'expires_at', code: 'invalid_value' }],
    ],
    [
      'an expiry at this very moment',
      () => ({ ...valid, expires_at: timestamp(clock.millis()) }),
      [{ field: 'expires_at', code: 'invalid_value' }],
    ],
    [
      'an expiry that is only a date',
      () => ({ ...valid, expires_at: '2030-01-01' }),
      [{ field: 'expires_at', code: 'invalid_value' }],
    ],
    ['an expiry that is a number', () => ({ ...valid, expires_at: 1 }), [mistyped('expires_at', 'string', 'integer')]],
    ['a key it does not know', () => ({ ...valid, id: 1 }), [{ field: 'id', code: 'unknown_field' }]],
  ])('answers 400 to %s and mints nothing', async (_what, body, fields) => {
    const before = await keyCount()
    expectApiError(await create(body()), 'validation_error', { fields, instance: path() })
    expect(await keyCount()).toBe(before)
  })

  it('answers 400 bad_request to a body that is not JSON and 415 to one of another type', async () => {
    const headers = { 'content-type': 'application/json' }
    expectApiError(await send({ headers, raw: '{' }), 'bad_request')
    const plain = { 'content-type': 'text/plain' }
    expectApiError(await send({ headers: plain, raw: '{}' }), 'unsupported_media_type')
  })
})
