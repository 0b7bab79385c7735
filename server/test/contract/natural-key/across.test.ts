import { beforeAll, describe, expect, it } from 'vitest'
import { type TestOrg, useApp } from '../../support/app.ts'
import type { Client } from '../../support/client.ts'
import { primaryDocument, naturalDocument } from '../../support/openapi.ts'
import { type FieldEntry, expectApiError } from '../../support/error-response.ts'
import { keysOf } from '../../support/master-data.ts'
import {
  type NaturalAsset,
  naturalPath,
  identifiersOf,
  createNaturalAsset,
  createNaturalLocation,
  naturalBase,
} from '../../support/natural-key.ts'
import { useSnapshotDatabase } from '../../support/tenant-snapshot.ts'
import { toNaturalAsset, toNaturalLocation } from '../../support/surface-mapping.ts'

const context = useApp()
const database = useSnapshotDatabase(context)

let org: TestOrg
let full: Client
beforeAll(async () => {
  org = await context.app.newOrg()
  full = org.full
})

const readAsset = async (identifier: string): Promise<NaturalAsset> =>
  (await full.get(naturalPath('assets', identifier))).json.data

describe('What is written on one base', () => {
  it('is read on the other: an asset and its changes, from ids to keys', async () => {
    const made = await full.post('/api/v1/assets', { external_key: 'ONE', name: 'a', metadata: { a: 1 } })
    const { id } = made.json.data
    expect(await readAsset('ONE')).toEqual({ ...toNaturalAsset(made.json.data), type: 'asset' })
    const patched = await full.patch(`/api/v1/assets/${id}`, { name: 'b', description: 'x', metadata: { b: 2 } })
    expect(await readAsset('ONE')).toEqual({ ...toNaturalAsset(patched.json.data), type: 'asset' })
    await full.post(`/api/v1/assets/${id}/tags`, { tag_type: 'ble', value: 'AA' })
    await full.post(`/api/v1/assets/${id}/rename`, { external_key: 'ONE/2' })
    const now = (await full.get(`/api/v1/assets/${id}`)).json.data
    expect(await readAsset('ONE/2')).toEqual({ ...toNaturalAsset(now), type: 'asset' })
    expectApiError(await full.get(naturalPath('assets', 'ONE')), 'not_found')
    await full.delete(`/api/v1/assets/${id}`)
    expectApiError(await full.get(naturalPath('assets', 'ONE/2')), 'not_found')
  })

  it('is read on the other: an asset and its changes, from keys to ids', async () => {
    const made = await createNaturalAsset(full, { identifier: 'TWO', name: 'a', type: 'person' })
    const path = `/api/v1/assets/${made.surrogate_id}`
    const same = async (one: NaturalAsset) => {
      const { type: _type, current_location: _place, ...rest } = one
      expect(rest).toEqual(toNaturalAsset((await full.get(path)).json.data))
    }
    await same(made)
    await same(
      (await full.put(naturalPath('assets', 'TWO'), { identifier: 'TWO/2', metadata: { a: { b: 1 } } })).json.data,
    )
    await full.post(naturalPath('assets', 'TWO/2', '/identifiers'), { value: 'E2' })
    await same(await readAsset('TWO/2'))
    // Fields that only one API has are not changed by the other.
    await full.patch(path, { name: 'c' })
    expect(await readAsset('TWO/2')).toMatchObject({ type: 'person', name: 'c' })
    await full.delete(naturalPath('assets', 'TWO/2'))
    expectApiError(await full.get(path), 'not_found')
  })

  it('is read on the other: locations, both ways', async () => {
    const site = await createNaturalLocation(full, 'SITE/1')
    const hall = await full.post('/api/v1/locations', { external_key: 'HALL', name: 'h', parent_id: site.surrogate_id })
    const shown = (await full.get(naturalPath('locations', 'HALL'))).json.data
    expect(shown).toEqual({ ...toNaturalLocation(hall.json.data), path: 'SITE/1/HALL', depth: 1 })
    const moved = await full.put(naturalPath('locations', 'HALL'), { parent_identifier: null, name: 'Hall' })
    const { path: _path, depth: _depth, ...rest } = moved.json.data
    expect(toNaturalLocation((await full.get(`/api/v1/locations/${shown.surrogate_id}`)).json.data)).toEqual(rest)
    await full.post(`/api/v1/locations/${site.surrogate_id}/rename`, { external_key: 'SITE' })
    expect((await full.get(naturalPath('locations', 'SITE'))).json.data.path).toBe('SITE')
  })

  it('is tracked on both: a current_location is in the report, an inventory save in the snapshot', async () => {
    await createNaturalLocation(full, 'YARD')
    const { surrogate_id: id } = await createNaturalAsset(full, {
      identifier: 'SEEN',
      name: 's',
      current_location: 'YARD',
    })
    const report = await full.get('/api/v1/reports/asset-locations', { asset_id: id })
    const [row] = report.json.data
    expect(row).toMatchObject({ asset_external_key: 'SEEN', location_external_key: 'YARD' })
    const current = await full.get(`${naturalBase}/locations/current`, { location: 'YARD' })
    expect(current.json.data).toEqual([{ asset: 'SEEN', location: 'YARD', last_seen: row.asset_last_seen }])
    const [mine] = (await full.get(naturalPath('assets', 'SEEN', '/history'))).json.data
    const [theirs] = (await full.get(`/api/v1/assets/${id}/history`)).json.data
    expect([mine.timestamp, mine.location]).toEqual([theirs.event_observed_at, theirs.location_external_key])
  })

  it('is counted equally by both lists', async () => {
    const [theirs, mine] = [await full.get('/api/v1/assets'), await full.get(`${naturalBase}/assets`)]
    expect(identifiersOf(mine)).toEqual(keysOf(theirs))
    expect(mine.json.total_count).toBe(theirs.json.total_count)
  })

  it('accepts the token of either base', async () => {
    const pair = await full.mint()
    const json = { grant_type: 'client_credentials', client_id: pair.clientId, client_secret: pair.clientSecret }
    const exchanged = await context.app.anonymous('POST', `${naturalBase}/oauth/token`, { json })
    expect(exchanged.status).toBe(200)
    expect(exchanged.headers['cache-control']).toBe('no-store')
    const token = exchanged.json.access_token
    const both = ['/api/v1/orgs/me', `${naturalBase}/orgs/me`].map((path) =>
      context.app.anonymous('GET', path, { token }),
    )
    const [one, other] = await Promise.all(both)
    expect(other!.json).toEqual(one!.json)
    expect(other!.json.data).toMatchObject({ id: org.orgId, api_key_id: pair.clientId })
  })
})

describe('The token exchange of both bases', () => {
  it('is shared: failed attempts on one are counted on the other (D41)', async () => {
    const { clientId } = await full.mint()
    const json = { grant_type: 'client_credentials', client_id: clientId, client_secret: `ls_${'0'.repeat(64)}` }
    const guess = (base: string) => context.app.anonymous('POST', `${base}/oauth/token`, { json })
    for (let count = 0; count < 10; count++)
      for (const base of ['/api/v1', naturalBase])
        expectApiError(await guess(base), 'unauthorized', { detail: 'Invalid client credentials' })
    for (const base of ['/api/v1', naturalBase]) expectApiError(await guess(base), 'rate_limited')
  })

  it('rotates shared refresh tokens: a token used on one base gives 401 on the other and revokes the whole family', async () => {
    const { clientId, clientSecret } = await full.mint()
    const exchange = (base: string, json: object) => context.app.anonymous('POST', `${base}/oauth/token`, { json })
    const refresh = (base: string, token: string) =>
      exchange(base, { grant_type: 'refresh_token', refresh_token: token })
    const pair = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret }
    const first = (await exchange(naturalBase, pair)).json.refresh_token
    const renewed = await refresh(naturalBase, first)
    expect(renewed.json).toEqual({
      access_token: expect.any(String),
      refresh_token: expect.any(String),
      token_type: 'Bearer',
      expires_in: 900,
    })
    expect(renewed.json.refresh_token).not.toBe(first)
    expectApiError(await refresh('/api/v1', first), 'unauthorized')
    expectApiError(await refresh(naturalBase, renewed.json.refresh_token), 'unauthorized')
  })

  it.each([
    ['a body that fails validation', { grant_type: 'refresh_token' }, { field: 'refresh_token', code: 'required' }],
    ['an unsupported grant_type', { grant_type: 'password' }, { field: 'grant_type', code: 'invalid_value' }],
  ])('gives 400 for %s on the natural-key base too', async (_what, json, field) => {
    const reply = await context.app.anonymous('POST', `${naturalBase}/oauth/token`, { json })
    expectApiError(reply, 'validation_error', { fields: [field], instance: `${naturalBase}/oauth/token` })
  })

  it('gives a token whose organization may be deleted: orgs/me is then 422 on either base', async () => {
    const lost = await context.app.newOrg('Lost')
    const token = await lost.client('assets:read').token()
    await database.sql`delete from organization_names where org_id = ${String(lost.orgId)}`
    for (const base of ['/api/v1', naturalBase])
      expectApiError(await context.app.anonymous('GET', `${base}/orgs/me`, { token }), 'missing_org_context')
  })
})

interface BodySchema {
  required?: string[]
  properties: Record<string, Record<string, unknown>>
}

interface Operation {
  requestBody?: { content: object }
  parameters?: { name: string; in: string }[]
}

const bases: [string, typeof primaryDocument][] = [
  ['/api/v1', primaryDocument],
  [naturalBase, naturalDocument],
]

/** Every operation of both bases with its path and the schemas of its document. */
const operations = bases.flatMap(([base, { paths, components }]) =>
  Object.entries(paths as Record<string, Record<string, Operation>>).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path: base + path.slice('/api/v1'.length),
      operation,
      schemas: components.schemas as unknown as Record<string, BodySchema>,
    })),
  ),
)

/** The operations that take JSON, with the schema of the body. The fields of the token exchange depend on its grant. */
const bodies = operations.flatMap(({ method, path, operation, schemas }): [string, string, BodySchema][] => {
  // Rows of bulk requests are reported by the job; their tests are in contract/bulk.
  if (operation.requestBody === undefined || path.endsWith('/oauth/token') || path.includes('/bulk/')) return []
  const [{ schema }] = Object.values(operation.requestBody.content) as [{ schema: { $ref: string } }]
  return [[method, path, schemas[schema.$ref.split('/').at(-1)!]!]]
})

const lists = operations.flatMap(({ method, path, operation }): [string, string[]][] => {
  if (method.toUpperCase() !== 'GET') return []
  const names = (operation.parameters ?? []).filter((one) => one.in === 'query').map((one) => one.name)
  return names.length === 0 ? [] : [[path, names]]
})

describe('The OpenAPI document of either base', () => {
  const ids: Record<string, string | number> = { identifier: 'DESCRIBED' }
  beforeAll(async () => {
    const body = { external_key: 'DESCRIBED', name: 'a' }
    ids['asset_id'] = (await full.post('/api/v1/assets', body)).json.data.id
    ids['location_id'] = (await full.post('/api/v1/locations', body)).json.data.id
  })

  const fill = (path: string): string => path.replace(/\{(\w+)\}/, (_all, name: string) => String(ids[name]))

  it.each(lists)('declares exactly the query parameters that %s accepts [D2, D27]', async (path, declared) => {
    const known = new Set(lists.flatMap(([, names]) => names))
    const reply = await full.get(fill(path), [...known].map((name) => `${name}=%00`).join('&'))
    expectApiError(reply, 'validation_error')
    const unknown = (reply.json.error.fields as FieldEntry[]).filter((one) => one.code === 'unknown_field')
    expect(unknown.map((one) => one.field)).toEqual([...known].filter((name) => !declared.includes(name)))
  })

  it.each(bodies)(
    'declares all constraints of the body of %s %s: keys, required, nullable, lengths and enums [D2]',
    async (method, path, { required = [], properties }) => {
      const address = fill(path)
      const rejected = async (json: object, fields: FieldEntry[]): Promise<void> =>
        expectApiError(await full.send(method, address, { json }), 'validation_error', { fields })
      // Read-only fields that a client may send back unchanged have their own tests.
      const own = Object.entries(properties).filter(([, schema]) => !('readOnly' in schema))
      const given = (value: unknown): object => Object.fromEntries(own.map(([name]) => [name, value]))

      await rejected({ ...given('x'), zz: 1 }, [{ field: 'zz', code: 'unknown_field' }])
      if (required.length > 0)
        await rejected(
          {},
          required.map((field) => ({ field, code: 'required' })),
        )
      else expect((await full.send(method, address, { json: {} })).status).toBe(200)

      const types = own.filter(([, { nullable }]) => nullable !== true)
      const isNull = (expected: unknown) => ({ expected_type: expected, received_type: 'null' })
      await rejected(
        given(null),
        types.map(([field, { type }]) => ({ field, code: 'invalid_value', params: isNull(type) })),
      )

      const tooLong = own.filter(([, { maxLength }]) => maxLength !== undefined)
      const sets = own.filter(([, schema]) => 'enum' in schema || 'x-extensible-enum' in schema)
      const body = {
        ...Object.fromEntries(tooLong.map(([name, { maxLength }]) => [name, 'x'.repeat(Number(maxLength) + 1)])),
        ...Object.fromEntries(sets.map(([name]) => [name, 'zz'])),
      }
      const problems = own.flatMap(([field, { maxLength }]): FieldEntry[] => {
        if (maxLength !== undefined) return [{ field, code: 'too_long', params: { max_length: maxLength } }]
        if (field in body) return [{ field, code: 'invalid_value' }]
        return required.includes(field) ? [{ field, code: 'required' }] : []
      })
      await rejected(body, problems)
    },
  )
})
