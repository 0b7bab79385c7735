import { readFile } from 'node:fs/promises'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { describe, expect, it } from 'vitest'
import { errorStatusesOf } from '../../src/http/openapi/document.ts'
import { primaryDocument, naturalRoutes, primaryRoutes, webDocument } from '../support/openapi.ts'
import { errorTypes } from '../support/error-response.ts'
import { allRoutes } from '../support/all-routes.ts'

type Node = Record<string, unknown>

interface Operation extends Node {
  operationId: string
  parameters?: { name: string; in: string; schema: Node }[]
  responses: Record<string, Node>
  requestBody?: { content: Record<string, Node> }
}

/** As served. */
const described = JSON.parse(JSON.stringify(primaryDocument)) as {
  openapi: string
  info: Node
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Node>; responses: Record<string, Node>; securitySchemes: Node; headers: Node }
}

const operations = Object.entries(described.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => [method.toUpperCase(), path, operation] as const),
)

/** Every object of the document with the keys that lead to it. */
function* nodes(value: unknown, path: readonly string[] = []): Generator<[readonly string[], Node]> {
  if (typeof value !== 'object' || value === null) return
  if (!Array.isArray(value)) yield [path, value as Node]
  for (const [key, inner] of Object.entries(value)) yield* nodes(inner, [...path, key])
}

const schemaNodes = [...nodes(described)].filter(([path]) => !path.includes('example'))

describe('The OpenAPI document as a whole', () => {
  it('is OpenAPI 3.0.3 with the title API and the version v1 (D2)', () => {
    expect(described.openapi).toBe('3.0.3')
    expect(described.info).toMatchObject({ title: 'API', version: 'v1' })
  })

  it('passes the recommended rules of a linter', async () => {
    const config = await createConfig({
      extends: ['recommended'],
      rules: {
        // The contract requires the schemas of key administration, whose operations are internal.
        'no-unused-components': 'off',
        // Tags are named after their resources, such as Assets.
        'tag-description': 'off',
      },
    })
    const problems = await lintFromString({ source: JSON.stringify(primaryDocument), config })
    expect(problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual([])
  })

  it('is kept in server/openapi/primary.json as it is served; node scripts/openapi.mjs writes it', async () => {
    const kept = await readFile(new URL('../../openapi/primary.json', import.meta.url), 'utf8')
    expect(JSON.parse(kept)).toEqual(described)
    expect(kept).toBe(`${JSON.stringify(primaryDocument, null, 2)}\n`)
  })

  it('of the session API is kept in server/openapi/web.json, is valid OpenAPI too, and is not served', async () => {
    const kept = await readFile(new URL('../../openapi/web.json', import.meta.url), 'utf8')
    expect(kept).toBe(`${JSON.stringify(webDocument, null, 2)}\n`)
    const config = await createConfig({
      extends: ['recommended'],
      // It defines types for one app and has no example bodies.
      rules: { 'tag-description': 'off', 'no-invalid-media-type-examples': 'off' },
    })
    const problems = await lintFromString({ source: kept, config })
    expect(problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual([])
  })

  it('declares the live stream as text/event-stream and shows one of its events', () => {
    const { content } = described.paths['/api/v1/live']!['get']!.responses['200'] as {
      content: Record<string, { schema: Node; example: string }>
    }
    expect(Object.keys(content)).toEqual(['text/event-stream'])
    expect(content['text/event-stream']!.schema).toEqual({ type: 'string' })
    const data = /^event: move\nid: .+\ndata: (.+)$/m.exec(content['text/event-stream']!.example)![1]!
    const { Move } = described.components.schemas
    expect(Object.keys(JSON.parse(data) as Node)).toEqual(Object.keys(Move!['properties'] as Node))
  })

  it('declares both ways to send a token', () => {
    expect(described.components.securitySchemes).toMatchObject({
      APIKey: { type: 'apiKey', in: 'header', name: 'Authorization' },
      BearerAuth: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
    })
    expect(Object.keys(described.components.securitySchemes)).toHaveLength(2)
  })

  it('says nullable: true and never names null as a type', () => {
    const nullables = schemaNodes.filter(([, node]) => 'nullable' in node)
    expect(nullables.length).toBeGreaterThan(5)
    for (const [, node] of nullables) expect(node['nullable']).toBe(true)
    for (const [path, node] of schemaNodes)
      if (path.at(-1) !== 'properties' && 'type' in node && typeof node['type'] !== 'object')
        expect([path.join('.'), node['type']]).not.toContain('null')
    for (const [path, node] of schemaNodes) expect(Array.isArray(node['type']), path.join('.')).toBe(false)
  })

  it('declares every id an int64', () => {
    const uuids = ['api_key_id', 'client_id', 'request_id', 'delivery_id']
    const ids = schemaNodes
      .filter(([path]) => path.at(-2) === 'properties')
      .filter(([path]) => /^id$|_id$/.test(path.at(-1)!) && !uuids.includes(path.at(-1)!))
    expect(ids.length).toBeGreaterThan(5)
    for (const [path, node] of ids)
      expect([path.join('.'), node['type'], node['format']]).toEqual([path.join('.'), 'integer', 'int64'])
  })

  it('marks extensible enums: error types, field codes, scopes and tag types', () => {
    const {
      Error: error,
      FieldProblem,
      Organization,
      Tag,
      TagAttach,
    } = described.components.schemas as Record<string, never>
    expect(error).toHaveProperty('properties.error.properties.type.x-extensible-enum', Object.keys(errorTypes))
    expect(FieldProblem).toHaveProperty('properties.code.x-extensible-enum', [
      'required',
      'invalid_value',
      'unknown_field',
      'invalid_context',
      'too_short',
      'too_long',
      'too_small',
      'too_large',
      'fk_not_found',
      'ambiguous_fields',
      'read_only',
    ])
    expect(Organization).toHaveProperty(
      'properties.scopes.items.x-extensible-enum',
      expect.arrayContaining(['assets:read', 'assets:write', 'locations:read', 'locations:write', 'tracking:read']),
    )
    for (const schema of [Tag, TagAttach])
      expect(schema).toHaveProperty('properties.tag_type.x-extensible-enum', ['rfid', 'ble', 'barcode'])
    for (const [path, node] of schemaNodes)
      if (path.at(-1) !== 'properties') expect('enum' in node, path.join('.')).toBe(false)
  })

  it('forbids unknown keys in every request body and in no response', () => {
    const bodies = new Set(primaryRoutes.flatMap((route) => (route.body === undefined ? [] : [route.body.name])))
    for (const name of bodies) expect(described.components.schemas[name]).toMatchObject({ additionalProperties: false })
    for (const name of ['Asset', 'Location', 'Tag', 'Organization', 'Error'])
      expect(described.components.schemas[name]).not.toHaveProperty('additionalProperties')
  })

  it('contains the schemas of key administration', () => {
    const keys = (name: string): string[] => Object.keys(described.components.schemas[name]!['properties'] as Node)
    expect(keys('APIKeyCreate')).toEqual(['name', 'scopes', 'expires_at'])
    expect(described.components.schemas['APIKeyCreate']!['required']).toEqual(['name', 'scopes'])
    expect(keys('APIKeyCreated').sort()).toEqual(['created_at', 'expires_at', 'id', 'jti', 'key', 'name', 'scopes'])
    expect(keys('APIKeyListItem').sort()).toEqual(
      [
        'created_at',
        'created_by',
        'created_by_key_id',
        'expires_at',
        'id',
        'jti',
        'last_used_at',
        'name',
        'scopes',
      ].sort(),
    )
  })
})

describe('The operations', () => {
  it.each([
    ['POST', '/oauth/token', '200', undefined],
    ['GET', '/orgs/me', '200', []],
    ['GET', '/assets', '200', ['assets:read']],
    ['POST', '/assets', '201', ['assets:write']],
    ['GET', '/assets/{asset_id}', '200', ['assets:read']],
    ['PATCH', '/assets/{asset_id}', '200', ['assets:write']],
    ['DELETE', '/assets/{asset_id}', '204', ['assets:write']],
    ['POST', '/assets/{asset_id}/rename', '200', ['assets:write']],
    ['POST', '/assets/{asset_id}/tags', '201', ['assets:write']],
    ['DELETE', '/assets/{asset_id}/tags/{tag_id}', '204', ['assets:write']],
    ['GET', '/assets/{asset_id}/history', '200', ['tracking:read']],
    ['GET', '/locations', '200', ['locations:read']],
    ['POST', '/locations', '201', ['locations:write']],
    ['GET', '/locations/{location_id}', '200', ['locations:read']],
    ['PATCH', '/locations/{location_id}', '200', ['locations:write']],
    ['DELETE', '/locations/{location_id}', '204', ['locations:write']],
    ['POST', '/locations/{location_id}/rename', '200', ['locations:write']],
    ['POST', '/locations/{location_id}/tags', '201', ['locations:write']],
    ['DELETE', '/locations/{location_id}/tags/{tag_id}', '204', ['locations:write']],
    ['GET', '/locations/{location_id}/ancestors', '200', ['locations:read']],
    ['GET', '/locations/{location_id}/children', '200', ['locations:read']],
    ['GET', '/locations/{location_id}/descendants', '200', ['locations:read']],
    ['GET', '/reports/asset-locations', '200', ['tracking:read']],
    ['POST', '/inventory/save', '201', ['tracking:write']],
    ['POST', '/bulk/assets', '202', ['assets:write']],
    ['POST', '/bulk/locations', '202', ['locations:write']],
    ['GET', '/bulk/jobs/{job_id}', '200', ['assets:write', 'locations:write']],
    ['GET', '/bulk/jobs/{job_id}/errors', '200', ['assets:write', 'locations:write']],
    ['GET', '/bulk/assets', '200', ['assets:read']],
    ['GET', '/bulk/locations', '200', ['locations:read']],
    ['GET', '/bulk/history', '200', ['tracking:read']],
    ['GET', '/bulk/moves', '200', ['tracking:read']],
    ['GET', '/live', '200', ['tracking:read']],
  ])('include %s %s with %s as its only success and its scopes (D2, D3)', (method, path, status, scopes) => {
    const operation = described.paths[`/api/v1${path}`]?.[method.toLowerCase()]
    expect(operation).toBeDefined()
    expect(operation!['x-required-scopes']).toEqual(scopes)
    expect(Object.keys(operation!.responses).filter((one) => Number(one) < 400)).toEqual([status])
  })

  it('all require a token by either scheme except the token exchange, which has an empty security list (D2)', () => {
    for (const [, path, operation] of operations) {
      const isExchange = path === '/api/v1/oauth/token'
      expect(operation['security']).toEqual(isExchange ? [] : [{ BearerAuth: [] }, { APIKey: [] }])
      expect('x-required-scopes' in operation, path).toBe(!isExchange)
    }
  })

  it('require no scope only on orgs/me', () => {
    const empty = operations.filter(
      ([, , operation]) => (operation['x-required-scopes'] as [] | undefined)?.length === 0,
    )
    expect(empty.map(([method, path]) => `${method} ${path}`)).toEqual(['GET /api/v1/orgs/me'])
  })

  it('are all under /api/v1/', () => {
    for (const [, path] of operations) expect(path).toMatch(/^\/api\/v1\/\w/)
  })

  it('accept no raw scan events: the only write of tracking data is the inventory save', () => {
    const writes = operations
      .filter(([method]) => method !== 'GET')
      .map(([method, path]) => `${method} ${path.slice(7)}`)
    const ofRecords = ['asset', 'location'].flatMap((one) => [
      `POST /${one}s`,
      `PATCH /${one}s/{${one}_id}`,
      `DELETE /${one}s/{${one}_id}`,
      `POST /${one}s/{${one}_id}/rename`,
      `POST /${one}s/{${one}_id}/tags`,
      `DELETE /${one}s/{${one}_id}/tags/{tag_id}`,
    ])
    const bulk = ['POST /bulk/assets', 'POST /bulk/locations']
    expect(writes.sort()).toEqual([...ofRecords, ...bulk, 'POST /oauth/token', 'POST /inventory/save'].sort())
  })

  it('declare a repeatable filter as an array, so that a typed client sends one', () => {
    const lists = operations.flatMap(([, path, { parameters = [] }]) =>
      parameters.filter(({ schema }) => schema['type'] === 'array').map((one) => ({ path: path.slice(7), ...one })),
    )
    expect(lists.map(({ path, name }) => `${path} ${name}`)).toEqual([
      '/assets external_key',
      '/locations external_key',
      '/locations parent_id',
      '/locations parent_external_key',
      '/reports/asset-locations asset_id',
      '/reports/asset-locations asset_external_key',
      '/reports/asset-locations location_id',
      '/reports/asset-locations location_external_key',
    ])
    for (const one of lists) expect(one).toMatchObject({ in: 'query', style: 'form', explode: true })
  })

  it('declare limit and offset with their bounds and defaults on every list', () => {
    const paged = operations.filter(([, , { parameters = [] }]) => parameters.some(({ name }) => name === 'limit'))
    expect(paged).toHaveLength(9)
    for (const [, path, { parameters = [] }] of paged) {
      const schemaOf = (name: string) => parameters.find((one) => one.name === name)?.schema
      expect(schemaOf('limit'), path).toEqual({ type: 'integer', minimum: 1, maximum: 200, default: 50 })
      expect(schemaOf('offset'), path).toEqual({ type: 'integer', minimum: 0, default: 0 })
    }
  })

  it('leave session-only endpoints out', () => {
    expect(operations.map(([, path]) => path).filter((path) => /\/auth\/|api-keys|webhook/.test(path))).toEqual([])
  })

  it('have unique ids', () => {
    const ids = allRoutes.filter((route) => !naturalRoutes.includes(route)).map((route) => route.id)
    expect(new Set(ids).size).toBe(ids.length)
    expect(operations.map(([, , operation]) => operation.operationId).sort()).toEqual(
      primaryRoutes.map((route) => route.id).sort(),
    )
  })

  it('declare only statuses of the closed set', () => {
    const closed = new Set<number>(Object.values(errorTypes).map((one) => one.status))
    for (const route of allRoutes)
      for (const status of errorStatusesOf(route)) expect([...closed], `${route.id} ${status}`).toContain(status)
    for (const [method, path, operation] of operations)
      for (const status of Object.keys(operation.responses))
        if (Number(status) >= 400) expect([...closed], `${method} ${path}`).toContain(Number(status))
  })

  it.each(operations.map(([method, path, operation]) => [method, path, operation] as const))(
    '%s %s: all implied parameters and responses are declared',
    (method, path, operation) => {
      const statuses = Object.keys(operation.responses).map(Number)
      const isOpen = path === '/api/v1/oauth/token'
      expect(statuses).toEqual(expect.arrayContaining([400, 401, 429, 500]))
      expect(statuses.includes(403)).toBe(!isOpen && path !== '/api/v1/orgs/me')
      expect(statuses.includes(404)).toBe(path.includes('{'))
      expect(statuses.includes(415)).toBe(['POST', 'PATCH'].includes(method))
      expect(statuses.includes(422)).toBe(path === '/api/v1/orgs/me')
      const names = (operation.parameters ?? []).filter((one) => one.in === 'path').map((one) => one.name)
      expect(names).toEqual([...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]))
      for (const one of operation.parameters ?? [])
        if (one.in === 'path')
          expect(one.schema).toEqual({ type: 'integer', format: 'int64', minimum: 1, maximum: Number.MAX_SAFE_INTEGER })
      const mediaTypes = Object.keys(operation.requestBody?.content ?? {})
      const expected = { POST: ['application/json'], PATCH: ['application/merge-patch+json'] }[method] ?? []
      const isUpload = method === 'POST' && path.startsWith('/api/v1/bulk/')
      expect(mediaTypes).toEqual(isUpload ? ['application/x-ndjson', 'application/json', 'text/csv'] : expected)
    },
  )

  it('declare every error response with the Error schema and the headers of the contract', () => {
    for (const [status, response] of Object.entries(described.components.responses)) {
      expect(response).toHaveProperty('content.application/json.schema', { $ref: '#/components/schemas/Error' })
      const headers = Object.keys(response['headers'] as Node)
      const common = [
        'X-Request-ID',
        'RateLimit-Policy',
        'X-RateLimit-Limit',
        'X-RateLimit-Remaining',
        'X-RateLimit-Reset',
      ]
      expect(headers).toEqual(expect.arrayContaining(common))
      expect(headers.includes('WWW-Authenticate')).toBe(status === '401')
      expect(headers.includes('Retry-After')).toBe(status === '429')
    }
  })

  it('are not deprecated in v1', () => {
    for (const [, , operation] of operations) expect(operation['deprecated']).toBeUndefined()
  })
})
