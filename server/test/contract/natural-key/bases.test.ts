import { beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { TestOrg, startApp, useApp } from '../../support/app.ts'
import type { Client } from '../../support/client.ts'
import { naturalDocument } from '../../support/openapi.ts'
import { expectCommonHeaders, expectApiError } from '../../support/error-response.ts'
import { naturalBase } from '../../support/natural-key.ts'
import { sendRaw } from '../../support/raw-http.ts'

const context = useApp()
const addressed = useApp({ settings: { LASTSEEN_BASE_URL: 'https://api.example.com/' } })

let full: Client
let assetId: number
beforeAll(async () => {
  full = (await context.app.newOrg()).full
  assetId = (await full.post('/api/v1/assets', { external_key: 'A', name: 'a' })).json.data.id
})

describe('The id-based API behaves as if the natural-key API did not exist', () => {
  it.each(['/api/v1/assets/A', '/api/v1/assets/{id}', '/api/v1/locations/5'])('PUT %s is 405 (D1)', async (path) => {
    const reply = await full.put(path.replace('{id}', String(assetId)), { name: 'b' })
    expectApiError(reply, 'method_not_allowed', { detail: 'Allowed methods: GET, HEAD, PATCH, DELETE' })
  })

  it('locations/current is 400 on location_id (D1)', async () => {
    const reply = await full.get('/api/v1/locations/current')
    expectApiError(reply, 'validation_error', { fields: [{ field: 'location_id', code: 'invalid_value' }] })
  })

  it('a natural key in a path is 400, also a key that looks like an id out of range', async () => {
    for (const key of ['A', '0', 'HALL%2FA']) {
      const reply = await full.get(`/api/v1/assets/${key}`)
      expectApiError(reply, 'validation_error')
      expect(reply.json.error.fields[0].field).toBe('asset_id')
    }
  })

  it.each([
    ['POST', '/assets/{id}/identifiers'],
    ['DELETE', '/assets/{id}/identifiers/5'],
    ['POST', '/locations/5/identifiers'],
    ['DELETE', '/locations/5/identifiers/5'],
  ])('%s %s is 404 with a detail that names the other base, token or not (D1)', async (method, path) => {
    const address = `/api/v1${path.replace('{id}', String(assetId))}`
    const expected = { detail: 'Path not found here; it is served under /natural/api/v1', instance: address }
    expectApiError(await full.send(method, address), 'not_found', expected)
    expectApiError(await context.app.anonymous(method, address), 'not_found', expected)
  })

  it('the detail for an unknown path names no base', async () => {
    for (const path of ['/api/v1/nothing', '/natural/api/v1/nothing', '/natural', '/natural/api/v2/assets', '/nothing'])
      expectApiError(await full.get(path), 'not_found', { detail: 'Path not found' })
  })

  it.each(['type', 'location', 'parent', 'identifier'])('the parameter %s is unknown on its lists', async (name) => {
    const reply = await full.get(`/api/v1/assets`, { [name]: 'a' })
    expectApiError(reply, 'validation_error', { fields: [{ field: name, code: 'unknown_field' }] })
  })

  it.each([
    ['assets', ['current_location', 'identifier', 'identifiers', 'type']],
    ['locations', ['identifier', 'identifiers', 'parent', 'parent_identifier', 'path']],
  ])('fields of the natural-key API are unknown in the bodies of %s: %j', async (kind, names) => {
    const body = { name: 'a', ...Object.fromEntries(names.map((name) => [name, 'x'])) }
    const fields = names.map((field) => ({ field, code: 'unknown_field' }))
    expectApiError(await full.post(`/api/v1/${kind}`, body), 'validation_error', { fields })
    const made = await full.post(`/api/v1/${kind}`, { name: 'a' })
    expectApiError(await full.patch(`/api/v1/${kind}/${made.json.data.id}`, body), 'validation_error', { fields })
  })

  it('an asset has no fields of the natural-key API', async () => {
    const { data } = (await full.get(`/api/v1/assets/${assetId}`)).json
    for (const key of ['type', 'current_location', 'identifier', 'identifiers', 'surrogate_id'])
      expect(data).not.toHaveProperty(key)
  })

  it('its OpenAPI document has no path, parameter or schema of the natural-key API', async () => {
    const { text } = await context.app.anonymous('GET', '/api/openapi.json')
    for (const word of ['{identifier}', '"put"', 'locations/current', 'surrogate_id', 'current_location', 'natural'])
      expect(text).not.toContain(word)
  })
})

describe('The natural-key base', () => {
  it.each([
    ['POST', '/assets/A/rename'],
    ['POST', '/locations/L/rename'],
    ['POST', '/assets/A/tags'],
    ['GET', '/reports/asset-locations'],
    ['GET', '/locations/L/history'],
    ['GET', '/readers'],
    ['POST', '/auth/login'],
    ['POST', '/orgs/5/api-keys'],
    ['DELETE', '/orgs/5/api-keys/5'],
    ['POST', '/webhooks'],
  ])('%s %s belongs to the other base alone (D1)', async (method, path) => {
    const reply = await full.send(method, `${naturalBase}${path}`, method === 'POST' ? { json: {} } : {})
    expectApiError(reply, 'not_found', { detail: 'Path not found here; it is served under /api/v1' })
  })

  it('PATCH is 405, and Allow names PUT', async () => {
    const reply = await full.patch(`${naturalBase}/assets/A`, {})
    expectApiError(reply, 'method_not_allowed', { detail: 'Allowed methods: GET, HEAD, PUT, DELETE' })
  })

  it('has the envelope, the headers and the rate-limit bucket of the other base', async () => {
    const reply = await context.app.anonymous('GET', `${naturalBase}/assets`)
    expectApiError(reply, 'unauthorized', { detail: 'Missing authorization header', instance: `${naturalBase}/assets` })
    const token = await full.token()
    const first = await context.app.anonymous('GET', `${naturalBase}/orgs/me`, { token })
    const second = await context.app.anonymous('GET', '/api/v1/orgs/me', { token })
    const left = [first, second].map((one) => Number(one.headers['x-ratelimit-remaining']))
    expect(left[0]! - left[1]!).toBeLessThanOrEqual(1)
    expect(left[1]).toBeLessThan(119)
  })

  it('has its own operation names in logs and metrics', async () => {
    await context.app.anonymous('GET', `${naturalBase}/assets`)
    const { text } = await context.app.anonymous('GET', '/metrics')
    expect(text).toMatch(/lastseen_http_requests_total\{operation="natural-key.assets.list",status="401"\} \d+/)
  })
})

describe('The OpenAPI document of the natural-key base', () => {
  it('is served as JSON and as YAML under its own base (D2)', async () => {
    const json = await context.app.anonymous('GET', '/natural/api/openapi.json')
    expect([json.status, json.headers['content-type']]).toEqual([200, 'application/json'])
    expect(json.json).toEqual(JSON.parse(JSON.stringify(naturalDocument)))
    expectCommonHeaders(json)
    const yaml = await context.app.anonymous('GET', '/natural/api/openapi.yaml')
    expect([yaml.headers['content-type'], parse(yaml.text)]).toEqual(['application/yaml', json.json])
  })

  it.each(['json', 'yaml'])('is the target of a 301 from /natural/openapi.%s (D2)', async (kind) => {
    const reply = await context.app.anonymous('GET', `/natural/openapi.${kind}`)
    expect([reply.status, reply.headers['location']]).toEqual([301, `/natural/api/openapi.${kind}`])
  })

  it('names its base as the server', async () => {
    const relative = await context.app.anonymous('GET', '/natural/api/openapi.json')
    const absolute = await addressed.app.anonymous('GET', '/natural/api/openapi.json')
    expect([relative.json.servers, absolute.json.servers]).toEqual([
      [{ url: '/natural' }],
      [{ url: 'https://api.example.com/natural' }],
    ])
  })
})

describe('With natural keys at the root', () => {
  // The responses are not those of the default bases, so they are not checked against the OpenAPI documents.
  it('a v1.0.0 client works on the root base, and the id-based API is under /primary (D1)', async () => {
    const app = await startApp({ sharesDatabaseWith: context.app, settings: { LASTSEEN_ROOT_SURFACE: 'natural-key' } })
    try {
      const org = await context.app.newOrg()
      const token = await new TestOrg(context.app, org.orgId, org.name).full.token()
      const ask = (method: string, path: string, json?: object) => {
        const body = json === undefined ? '' : JSON.stringify(json)
        const length = `Content-Length: ${Buffer.byteLength(body)}`
        const lines = [`${method} ${path} HTTP/1.1`, 'Host: a', `Authorization: Bearer ${token}`, length]
        return sendRaw(app.url, json === undefined ? lines : [...lines, 'Content-Type: application/json'], body)
      }
      const made = await ask('POST', '/api/v1/assets', { identifier: 'A', name: 'a' })
      expect([made.status, made.headers['location']]).toEqual([201, '/api/v1/assets/A'])
      expect((await ask('PUT', '/api/v1/assets/A', { name: 'b' })).json.data.name).toBe('b')
      expect((await ask('GET', '/api/v1/locations/current')).json.total_count).toBe(0)
      const other = await ask('POST', '/primary/api/v1/assets', { name: 'c' })
      expect(other.headers['location']).toBe(`/primary/api/v1/assets/${other.json.data.id}`)
      expect((await ask('GET', other.headers['location']!)).json.data.name).toBe('c')
      expect((await ask('GET', '/api/v1/reports/asset-locations')).json.error.detail).toContain('/primary/api/v1')
      expect((await ask('GET', '/natural/api/v1/assets')).status).toBe(404)
      expect((await ask('GET', '/api/openapi.json')).json.paths).toHaveProperty('/api/v1/inventory/save')
      expect((await ask('GET', '/api/openapi.json')).json.servers).toEqual([{ url: '/' }])
      expect((await ask('GET', '/primary/api/openapi.json')).json.servers).toEqual([{ url: '/primary' }])
      expect((await ask('GET', '/openapi.json')).headers['location']).toBe('/api/openapi.json')
      const moved = await ask('GET', '/primary/openapi.yaml')
      expect([moved.status, moved.headers['location']]).toEqual([301, '/primary/api/openapi.yaml'])
    } finally {
      await app.stop()
    }
  })
})
