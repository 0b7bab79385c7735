import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Role } from '../../../src/kernel/scopes.ts'
import { type TestOrg, startApp, useApp } from '../../support/app.ts'
import {
  ManualClock,
  claimsOf,
  exchange,
  expectTokens,
  mintKey,
  mintKeys,
  newTokens,
  refresh,
  tokensOf,
  useSql,
  whoAmI,
} from '../../support/auth.ts'
import type { Reply, SendOptions } from '../../support/client.ts'
import { type FieldEntry, expectApiError } from '../../support/error-response.ts'

const clock = new ManualClock()
const context = useApp({ clock })
const database = useSql(context)

let org: TestOrg
let token: string
let userId: number
beforeAll(async () => {
  org = await context.app.newOrg()
  token = (await org.signIn('admin')).accessToken
  userId = Number(claimsOf(token)['sub'])
})

const pathOf = (where = org, id?: number): string =>
  `/api/v1/orgs/${where.orgId}/api-keys${id === undefined ? '' : `/${id}`}`
const send = (method: string, path: string, options: SendOptions = {}): Promise<Reply> =>
  context.app.anonymous(method, path, { token, ...options })
const create = (): Promise<Reply> => send('POST', pathOf(), { json: valid })
const list = (query?: string): Promise<Reply> => send('GET', pathOf(), query === undefined ? {} : { query })
const valid = { name: 'ERP sync', scopes: ['assets:read', 'tracking:read'] }
const timestamp = (ms: number): string => new Date(ms).toISOString()

async function keyCount(): Promise<number> {
  const [row] = await database.sql<{ count: number }[]>`select count(*) from credentials`
  return row!.count
}

describe('GET /api/v1/orgs/{org_id}/api-keys (D40)', () => {
  it('lists each key with exactly its fields, and never its secret', async () => {
    const made = (await create()).json.data
    const reply = await list()
    expect(reply.status).toBe(200)
    expect(Object.keys(reply.json).sort()).toEqual(['data', 'limit', 'offset', 'total_count'])
    const item = reply.json.data.find((one: { id: number }) => one.id === made.id)
    const { key, ...rest } = made
    expect(item).toEqual({ ...rest, last_used_at: null, created_by: userId, created_by_key_id: null })
    expect(reply.text).not.toContain(key.slice(3))
    expect(reply.text).not.toContain(createHash('sha256').update(key).digest('hex'))
  })

  it('shows a null creator when the operator minted the key', async () => {
    const { id } = await mintKey(org)
    const item = (await list('limit=200')).json.data.find((one: { id: number }) => one.id === id)
    expect(item).toMatchObject({ created_by: null, created_by_key_id: null })
  })

  it('pages by limit and offset, every key once', async () => {
    const own = await context.app.newOrg()
    await mintKeys(own, 5)
    const { accessToken } = await own.signIn('admin')
    const seen: number[] = []
    for (const offset of [0, 2, 4]) {
      const reply = await send('GET', pathOf(own), { token: accessToken, query: { limit: 2, offset } })
      expect(reply.json).toMatchObject({ limit: 2, offset, total_count: 5 })
      seen.push(...reply.json.data.map((one: { id: number }) => one.id))
    }
    expect(new Set(seen).size).toBe(5)
    const beyond = await send('GET', pathOf(own), { token: accessToken, query: { offset: 1_000_000 } })
    expect(beyond.json).toMatchObject({ data: [], limit: 50, total_count: 5 })
  })

  it('shows only the keys of its own organization', async () => {
    const other = await context.app.newOrg()
    const { id } = await mintKey(other)
    const ids = (await list('limit=200')).json.data.map((one: { id: number }) => one.id)
    expect(ids).not.toContain(id)
  })

  it.each<[string, FieldEntry]>([
    ['limit=201', { field: 'limit', code: 'too_large', params: { max: 200 } }],
    ['limit=0', { field: 'limit', code: 'too_small', params: { min: 1 } }],
    ['offset=-1', { field: 'offset', code: 'too_small', params: { min: 0 } }],
    ['colour=red', { field: 'colour', code: 'unknown_field' }],
  ])('answers 400 to %s', async (query, field) => {
    expectApiError(await list(query), 'validation_error', { fields: [field] })
  })

  it('shows when a key was last used in any process', async () => {
    const key = await mintKey(org)
    const started = clock.millis()
    const late = new ManualClock()
    late.advance((started - late.millis()) / 1000 + 20)
    const processes = [
      await startApp({ sharesDatabaseWith: context.app, clock: late }),
      await startApp({ sharesDatabaseWith: context.app, clock }),
    ]
    for (const app of processes) {
      const { access } = await tokensOf(app, key)
      expect((await whoAmI(app, access)).status).toBe(200)
    }
    for (const app of processes) await app.stop()
    const item = (await list('limit=200')).json.data.find((one: { id: number }) => one.id === key.id)
    expect(item.last_used_at).toBe(timestamp(started + 20_000))
  })
})

describe('DELETE /api/v1/orgs/{org_id}/api-keys/{key_id} (D40)', () => {
  it('answers 204, and the key is removed from the list', async () => {
    const { id } = (await create()).json.data
    const reply = await send('DELETE', pathOf(org, id))
    expect(reply.status).toBe(204)
    expect(reply.text).toBe('')
    const ids = (await list('limit=200')).json.data.map((one: { id: number }) => one.id)
    expect(ids).not.toContain(id)
  })

  it('revokes the exchange, the refresh-token families and the access tokens of the key at once', async () => {
    const key = await mintKey(org)
    const { access, refresh: first } = await tokensOf(context.app, key)
    expect((await whoAmI(context.app, access)).status).toBe(200)
    const { refresh: second } = await expectTokens(refresh(context.app, first))
    expect((await send('DELETE', pathOf(org, key.id))).status).toBe(204)
    expectApiError(await whoAmI(context.app, access), 'unauthorized', { detail: 'Invalid or expired token' })
    expectApiError(await refresh(context.app, second), 'unauthorized')
    expectApiError(await exchange(context.app, key), 'unauthorized', { detail: 'Invalid client credentials' })
  })

  it('answers 404 to a key that was revoked before, and to a key that never existed', async () => {
    const { id } = (await create()).json.data
    expect((await send('DELETE', pathOf(org, id))).status).toBe(204)
    expectApiError(await send('DELETE', pathOf(org, id)), 'not_found')
    expectApiError(await send('DELETE', pathOf(org, 9007199254740991)), 'not_found')
  })

  it('answers 404 to a key of another organization and does not revoke it', async () => {
    const other = await context.app.newOrg()
    const key = await mintKey(other)
    expectApiError(await send('DELETE', pathOf(org, key.id)), 'not_found')
    expect((await exchange(context.app, key)).status).toBe(200)
  })

  it.each<[string, string, object]>([
    ['0', 'too_small', { params: { min: 1 } }],
    ['-1', 'too_small', { params: { min: 1 } }],
    ['9007199254740992', 'too_large', { params: { max: 9007199254740991 } }],
    ['abc', 'invalid_value', {}],
  ])('answers 400 to the key id %s', async (id, code, more) => {
    const fields = [{ field: 'key_id', code, ...more }]
    expectApiError(await send('DELETE', `${pathOf()}/${id}`), 'validation_error', { fields })
  })
})

describe('Key administration (D40)', () => {
  const calls = (where = org, id = 1): [string, string, SendOptions][] => [
    ['GET', pathOf(where), {}],
    ['POST', pathOf(where), { json: valid }],
    ['DELETE', pathOf(where, id), {}],
  ]

  it.each<Role>(['viewer', 'operator', 'manager'])('answers 403 to a %s', async (role) => {
    const { accessToken } = await org.signIn(role)
    const key = await mintKey(org)
    const before = await keyCount()
    for (const [method, path, options] of calls(org, key.id)) {
      const reply = await send(method, path, { ...options, token: accessToken })
      expectApiError(reply, 'forbidden', { detail: 'Missing required scope: keys:admin' })
    }
    expect(await keyCount()).toBe(before)
    expect((await exchange(context.app, key)).status).toBe(200)
  })

  it('answers 403 to the admin of another organization', async () => {
    const other = await context.app.newOrg()
    const key = await mintKey(other)
    const before = await keyCount()
    for (const [method, path, options] of calls(other, key.id))
      expectApiError(await send(method, path, options), 'forbidden')
    expect(await keyCount()).toBe(before)
    expect((await exchange(context.app, key)).status).toBe(200)
  })

  it('answers 403 to an API credential, which cannot have the scope keys:admin (D40)', async () => {
    const { access } = await newTokens(org, 'assets:read', 'assets:write', 'locations:write')
    const before = await keyCount()
    for (const [method, path, options] of calls())
      expectApiError(await send(method, path, { ...options, token: access }), 'forbidden', {
        detail: 'Missing required scope: keys:admin',
      })
    expect(await keyCount()).toBe(before)
  })

  it('answers 401 without a token', async () => {
    for (const [method, path, options] of calls()) {
      const reply = await context.app.anonymous(method, path, options)
      expectApiError(reply, 'unauthorized', { detail: 'Missing authorization header' })
    }
  })

  it('cannot change the scopes of a key: PATCH and PUT are 405, and the scopes stay as minted', async () => {
    const { id } = await mintKey(org, { scopes: ['assets:read'] })
    for (const method of ['PATCH', 'PUT']) {
      const reply = await send(method, pathOf(org, id), { json: { scopes: ['assets:write'] } })
      expectApiError(reply, 'method_not_allowed', { detail: 'Allowed methods: DELETE' })
    }
    const item = (await list('limit=200')).json.data.find((one: { id: number }) => one.id === id)
    expect(item.scopes).toEqual(['assets:read'])
  })

  it('answers 405 to unsupported methods', async () => {
    const patched = await send('PATCH', pathOf(org, 1), { json: {} })
    expectApiError(patched, 'method_not_allowed', { detail: 'Allowed methods: DELETE' })
    const put = await send('PUT', pathOf(), { json: valid })
    expectApiError(put, 'method_not_allowed', { detail: 'Allowed methods: GET, HEAD, POST' })
  })

  it('cannot change the expiry or the organization of a key: both are fixed at its creation', async () => {
    const { id } = (await create()).json.data
    const shown = async () => (await list('limit=200')).json.data.find((one: { id: number }) => one.id === id)
    const before = await shown()
    for (const json of [{ expires_at: timestamp(clock.millis() + 1000) }, { org_id: 1 }])
      for (const method of ['PATCH', 'PUT'])
        expectApiError(await send(method, pathOf(org, id), { json }), 'method_not_allowed')
    expect(await shown()).toEqual(before)
  })

  it.each([
    ['the request', ['name', 'scopes', 'expires_at']],
    ['the new key', ['id', 'jti', 'key', 'name', 'scopes', 'created_at', 'expires_at']],
    [
      'the listed key',
      [
        ...['id', 'jti', 'name', 'scopes', 'created_at', 'expires_at'],
        ...['last_used_at', 'created_by', 'created_by_key_id'],
      ],
    ],
  ])('has a schema for %s in the OpenAPI document', async (_what, fields) => {
    const reply = await context.app.anonymous('GET', '/api/openapi.json')
    const schemas = Object.values(reply.json.components.schemas as Record<string, { properties?: object }>)
    const shapes = schemas.map((schema) =>
      Object.keys(schema.properties ?? {})
        .sort()
        .join(),
    )
    expect(shapes).toContain([...fields].sort().join())
  })
})
