import { beforeAll, describe, expect, it } from 'vitest'
import { credentialScopes, grantedScopes } from '../../../src/kernel/scopes.ts'
import { type TestOrg, useApp } from '../../support/app.ts'
import { newTokens, whoAmI } from '../../support/auth.ts'
import type { SendOptions } from '../../support/client.ts'
import { primaryRoutes } from '../../support/openapi.ts'
import { expectApiError } from '../../support/error-response.ts'

const context = useApp()

let org: TestOrg
beforeAll(async () => {
  org = await context.app.newOrg()
})

type Call = [method: string, path: string, scope: string, success: number, options: SendOptions]

const json = (body: unknown): SendOptions => ({ json: body })
const tag = () => json({ tag_type: 'rfid', value: Math.random().toString(16).slice(2) })
const named = json({ name: 'a' })
const key = () => json({ external_key: Math.random().toString(36) })

/** The contract's table of scopes, its additions D3 and D35 included. */
const table: Call[] = [
  ['GET', '/assets', 'assets:read', 200, {}],
  ['GET', '/assets/{asset_id}', 'assets:read', 200, {}],
  ['POST', '/assets', 'assets:write', 201, named],
  ['PATCH', '/assets/{asset_id}', 'assets:write', 200, named],
  ['POST', '/assets/{asset_id}/rename', 'assets:write', 200, key()],
  ['POST', '/assets/{asset_id}/tags', 'assets:write', 201, tag()],
  ['DELETE', '/assets/{asset_id}/tags/{tag_id}', 'assets:write', 204, {}],
  ['DELETE', '/assets/{asset_id}', 'assets:write', 204, {}],
  ['GET', '/assets/{asset_id}/history', 'tracking:read', 200, {}],
  ['GET', '/locations', 'locations:read', 200, {}],
  ['GET', '/locations/{location_id}', 'locations:read', 200, {}],
  ['GET', '/locations/{location_id}/ancestors', 'locations:read', 200, {}],
  ['GET', '/locations/{location_id}/children', 'locations:read', 200, {}],
  ['GET', '/locations/{location_id}/descendants', 'locations:read', 200, {}],
  ['GET', '/locations/{location_id}/history', 'tracking:read', 200, {}],
  ['POST', '/locations', 'locations:write', 201, named],
  ['PATCH', '/locations/{location_id}', 'locations:write', 200, named],
  ['POST', '/locations/{location_id}/rename', 'locations:write', 200, key()],
  ['POST', '/locations/{location_id}/tags', 'locations:write', 201, tag()],
  ['DELETE', '/locations/{location_id}/tags/{tag_id}', 'locations:write', 204, {}],
  ['DELETE', '/locations/{location_id}', 'locations:write', 204, {}],
  ['GET', '/reports/asset-locations', 'tracking:read', 200, {}],
  ['POST', '/inventory/save', 'tracking:write', 201, {}],
  ['POST', '/bulk/assets', 'assets:write', 202, json([])],
  ['POST', '/bulk/locations', 'locations:write', 202, json([])],
  ['GET', '/bulk/assets', 'assets:read', 200, {}],
  ['GET', '/bulk/locations', 'locations:read', 200, {}],
  ['GET', '/bulk/history', 'tracking:read', 200, {}],
  ['GET', '/bulk/moves', 'tracking:read', 200, {}],
]

/** A job needs the scope of its kind (bulk-import.test.ts), and the live stream does not end (live.test.ts). */
const testedElsewhere = ['GET /bulk/jobs/{job_id}', 'GET /bulk/jobs/{job_id}/errors', 'GET /live']

/** A record of the path's kind with a tag, and the path filled in with their ids. */
async function fill(path: string): Promise<string> {
  const kind = path.split('/')[1]
  if (!path.includes('{')) return `/api/v1${path}`
  const tags = [{ tag_type: 'barcode', value: Math.random().toString(36) }]
  const reply = await org.full.post(`/api/v1/${kind}`, { name: 'a', tags })
  const { id, tags: attached } = reply.json.data
  return `/api/v1${path.replace('{tag_id}', attached[0].id).replace(/\{(asset|location)_id\}/, id)}`
}

/** Every selectable scope that does not grant this one. */
const others = (scope: string): string[] => credentialScopes.filter((one) => !grantedScopes([one]).has(scope))

async function save(): Promise<SendOptions> {
  const location = await org.full.post('/api/v1/locations', { name: 'a' })
  const asset = await org.full.post('/api/v1/assets', { name: 'a' })
  return json({
    location_identifier: location.json.data.external_key,
    asset_identifiers: [asset.json.data.external_key],
  })
}

describe('The scope of an operation', () => {
  it.each(table)('%s %s is open to a token that holds %s alone', async (method, path, scope, success, options) => {
    const { access } = await newTokens(org, scope)
    const sent = path === '/inventory/save' ? await save() : options
    const reply = await context.app.anonymous(method, await fill(path), { ...sent, token: access })
    expect(reply.status, reply.text).toBe(success)
  })

  it.each(table)(
    '%s %s is closed to a token that holds every scope but %s',
    async (method, path, scope, _success, options) => {
      const { access } = await newTokens(org, ...others(scope))
      const filled = await fill(path)
      const reply = await context.app.anonymous(method, filled, {
        ...options,
        ...(path === '/inventory/save' ? json({}) : {}),
        token: access,
      })
      expectApiError(reply, 'forbidden', { detail: `Missing required scope: ${scope}`, instance: filled })
    },
  )

  it.each(table.filter(([method]) => method === 'GET'))(
    'HEAD %s%s is closed likewise',
    async (_method, path, scope) => {
      const { access } = await newTokens(org, ...others(scope))
      const reply = await context.app.anonymous('HEAD', await fill(path), { token: access })
      expect(reply.status).toBe(403)
    },
  )

  it.each(table)('%s %s names %s in the description, which is the canonical source', async (method, path, scope) => {
    const reply = await context.app.anonymous('GET', '/api/openapi.json')
    expect(reply.json.paths[`/api/v1${path}`][method.toLowerCase()]['x-required-scopes']).toEqual([scope])
  })

  it('is listed in this table for every operation but the token exchange and orgs/me', () => {
    const known = [...table.map(([method, path]) => `${method} ${path}`), ...testedElsewhere]
    const outsiders = primaryRoutes
      .map((row) => `${row.method} ${row.path}`)
      .filter((name) => !known.includes(name) && name !== 'POST /oauth/token' && name !== 'GET /orgs/me')
    expect(outsiders).toEqual([])
  })

  it('is an empty list on GET /orgs/me alone', async () => {
    const reply = await context.app.anonymous('GET', '/api/openapi.json')
    const operations = Object.entries(reply.json.paths as Record<string, Record<string, Record<string, unknown>>>)
    const open = operations.flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([, operation]) => JSON.stringify(operation['x-required-scopes']) === '[]')
        .map(([method]) => `${method} ${path}`),
    )
    expect(open).toEqual(['get /api/v1/orgs/me'])
  })

  it('is absent from the token exchange, which declares an empty security list (D2)', async () => {
    const reply = await context.app.anonymous('GET', '/api/openapi.json')
    const operation = reply.json.paths['/api/v1/oauth/token'].post
    expect(operation).toHaveProperty('security', [])
    expect(operation).not.toHaveProperty('x-required-scopes')
  })
})

describe('The authentication in the OpenAPI document', () => {
  it('declares the schemes APIKey and BearerAuth and no other', async () => {
    const reply = await context.app.anonymous('GET', '/api/openapi.json')
    const schemes = reply.json.components.securitySchemes
    expect(Object.keys(schemes).sort()).toEqual(['APIKey', 'BearerAuth'])
    expect(schemes.APIKey).toMatchObject({ type: 'apiKey', in: 'header', name: 'Authorization' })
    expect(schemes.APIKey.description).toContain('Bearer <jwt>')
    expect(schemes.BearerAuth).toMatchObject({ type: 'http', scheme: 'bearer', bearerFormat: 'JWT' })
  })

  it('gives every operation but the token exchange a list of scopes', async () => {
    const reply = await context.app.anonymous('GET', '/api/openapi.json')
    const paths = reply.json.paths as Record<string, Record<string, Record<string, unknown>>>
    const without = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([, operation]) => !Array.isArray(operation['x-required-scopes']))
        .map(([method]) => `${method} ${path}`),
    )
    expect(without).toEqual(['post /api/v1/oauth/token'])
  })
})

describe('A missing scope', () => {
  it.each([
    ['a parameter it does not know', 'GET', '/api/v1/locations', { query: 'colour=red' }],
    ['an id out of range', 'GET', '/api/v1/locations/0', {}],
    ['a record that is not there', 'GET', '/api/v1/locations/9007199254740991', {}],
    [
      'a body that is not JSON',
      'POST',
      '/api/v1/locations',
      { raw: '{', headers: { 'content-type': 'application/json' } },
    ],
    ['a body that fails validation', 'POST', '/api/v1/locations', { json: { colour: 'red' } }],
  ])('is reported before %s (D6)', async (_what, method, path, options) => {
    const { access } = await newTokens(org, 'assets:read')
    expectApiError(await context.app.anonymous(method, path, { ...options, token: access }), 'forbidden')
  })

  it('is reported after the media type (D6)', async () => {
    const { access } = await newTokens(org, 'assets:read')
    const headers = { 'content-type': 'text/plain' }
    const reply = await context.app.anonymous('POST', '/api/v1/assets', { headers, raw: 'x', token: access })
    expectApiError(reply, 'unsupported_media_type')
  })

  it('changes nothing', async () => {
    const { access } = await newTokens(org, 'assets:read')
    const before = await org.full.get('/api/v1/assets')
    const reply = await context.app.anonymous('POST', '/api/v1/assets', { json: { name: 'a' }, token: access })
    expectApiError(reply, 'forbidden', { detail: 'Missing required scope: assets:write' })
    const after = await org.full.get('/api/v1/assets')
    expect(after.json.total_count).toBe(before.json.total_count)
  })
})

describe('Implied scopes (D35)', () => {
  it.each([
    ['assets:write', ['assets:write', 'tracking:write']],
    ['scans:read', ['scans:read', 'tracking:read']],
    ['assets:read', ['assets:read']],
    ['locations:read', ['locations:read']],
    ['locations:write', ['locations:write']],
    ['tracking:read', ['tracking:read']],
    ['tracking:write', ['tracking:write']],
  ])('%s grants %j and nothing more', (scope, expected) => {
    expect([...grantedScopes([scope])].sort()).toEqual(expected.sort())
  })

  it.each([
    ['assets:write', 'GET', '/api/v1/assets', 'assets:read'],
    ['locations:write', 'GET', '/api/v1/locations', 'locations:read'],
    ['assets:read', 'POST', '/api/v1/assets', 'assets:write'],
    ['tracking:write', 'POST', '/api/v1/assets', 'assets:write'],
    ['tracking:read', 'GET', '/api/v1/assets', 'assets:read'],
  ])('of %s do not include %s %s', async (scope, method, path, missing) => {
    const { access } = await newTokens(org, scope)
    const options = method === 'POST' ? named : {}
    const reply = await context.app.anonymous(method, path, { ...options, token: access })
    expectApiError(reply, 'forbidden', { detail: `Missing required scope: ${missing}` })
  })

  it.each([
    '/api/v1/reports/asset-locations',
    '/natural/api/v1/locations/current',
    '/natural/api/v1/assets/SCANNED/history',
  ])('let a token with scans:read, the old name, read %s', async (path) => {
    await org.full.post('/api/v1/assets', { external_key: 'SCANNED', name: 'a' })
    const { access } = await newTokens(org, 'scans:read')
    const reply = await context.app.anonymous('GET', path, { token: access })
    expect(reply.status, reply.text).toBe(200)
  })

  it.each(['/api/v1', '/natural/api/v1'])('let a token with assets:write save an inventory on %s', async (base) => {
    const { access } = await newTokens(org, 'assets:write')
    const reply = await context.app.anonymous('POST', `${base}/inventory/save`, { ...(await save()), token: access })
    expect(reply.status, reply.text).toBe(201)
  })

  it.each([[['assets:write']], [['scans:read']], [['tracking:read', 'assets:write']]])(
    'are not shown: orgs/me lists %j as minted',
    async (scopes) => {
      const { access } = await newTokens(org, ...scopes)
      expect((await whoAmI(context.app, access)).json.data.scopes).toEqual(scopes)
    },
  )
})

describe('The scope keys:admin', () => {
  it('is not selectable on API credentials', () => {
    expect(credentialScopes).not.toContain('keys:admin')
  })

  it('is required by no operation of the public OpenAPI document', async () => {
    const reply = await context.app.anonymous('GET', '/api/openapi.json')
    const paths = JSON.stringify(reply.json.paths)
    expect(paths).not.toContain('keys:admin')
    expect(Object.keys(reply.json.paths).filter((path) => path.includes('keys'))).toEqual([])
  })
})
