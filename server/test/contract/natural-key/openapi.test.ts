import { isDeepStrictEqual } from 'node:util'
import { readFile } from 'node:fs/promises'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import openapiTS, { astToString } from 'openapi-typescript'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { naturalDocument, naturalRoutes, primaryDocument as primaryDocument } from '../../support/openapi.ts'
import { errorTypes } from '../../support/error-response.ts'

type Node = Record<string, unknown>

interface Operation extends Node {
  operationId: string
  parameters?: { name: string; in: string; schema: Node }[]
  responses: Record<string, Node>
}

const described = JSON.parse(JSON.stringify(naturalDocument)) as {
  openapi: string
  info: Node
  paths: Record<string, Record<string, Operation>>
  components: {
    schemas: Record<string, { required?: string[]; properties: Node }>
    securitySchemes: Node
    responses: Record<string, Node>
  }
}

describe('The OpenAPI document of the natural-key base', () => {
  it('is OpenAPI 3.0.3 with the title API and the version v1 (D2)', () => {
    expect(described.openapi).toBe('3.0.3')
    expect(described.info).toMatchObject({ title: 'API', version: 'v1' })
  })

  it('passes the recommended rules of a linter', async () => {
    const config = await createConfig({
      extends: ['recommended'],
      // Tags are named after their resources, such as Assets; /locations/current overlaps /locations/{identifier}; the
      // operations of key administration are internal.
      rules: { 'tag-description': 'off', 'no-ambiguous-paths': 'off', 'no-unused-components': 'off' },
    })
    const problems = await lintFromString({ source: JSON.stringify(described), config })
    expect(problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual([])
  })

  it('is kept in server/openapi/natural-key.json as it is served; node scripts/openapi.mjs writes it', async () => {
    const kept = await readFile(new URL('../../../openapi/natural-key.json', import.meta.url), 'utf8')
    expect(kept).toBe(`${JSON.stringify(naturalDocument, null, 2)}\n`)
  })

  const operations = Object.entries(described.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => [method.toUpperCase(), path, operation] as const),
  )

  it('declares the operations of v1.0.0 under their names, and those that both bases share', () => {
    const names = operations.map(([method, path, { operationId }]) => `${operationId}: ${method} ${path.slice(7)}`)
    expect(names.sort()).toEqual(
      [
        'oauth.token: POST /oauth/token',
        'orgs.me: GET /orgs/me',
        'inventory.save: POST /inventory/save',
        'bulk.assets.import: POST /bulk/assets',
        'bulk.locations.import: POST /bulk/locations',
        'bulk.jobs.get: GET /bulk/jobs/{job_id}',
        'bulk.jobs.errors: GET /bulk/jobs/{job_id}/errors',
        'bulk.assets.export: GET /bulk/assets',
        'bulk.locations.export: GET /bulk/locations',
        'bulk.history.export: GET /bulk/history',
        'bulk.moves.export: GET /bulk/moves',
        'live: GET /live',
        'assets.list: GET /assets',
        'assets.create: POST /assets',
        'assets.get: GET /assets/{identifier}',
        'assets.update: PUT /assets/{identifier}',
        'assets.delete: DELETE /assets/{identifier}',
        'assets.history: GET /assets/{identifier}/history',
        'assets.identifiers.attach: POST /assets/{identifier}/identifiers',
        'assets.identifiers.detach: DELETE /assets/{identifier}/identifiers/{identifierId}',
        'locations.list: GET /locations',
        'locations.create: POST /locations',
        'locations.get: GET /locations/{identifier}',
        'locations.update: PUT /locations/{identifier}',
        'locations.delete: DELETE /locations/{identifier}',
        'locations.ancestors: GET /locations/{identifier}/ancestors',
        'locations.children: GET /locations/{identifier}/children',
        'locations.descendants: GET /locations/{identifier}/descendants',
        'locations.identifiers.attach: POST /locations/{identifier}/identifiers',
        'locations.identifiers.detach: DELETE /locations/{identifier}/identifiers/{identifierId}',
        'locations.current: GET /locations/current',
      ].sort(),
    )
  })

  it.each([
    ['assets.list', ['200', '400', '401', '403', '429', '500']],
    ['assets.create', ['201', '400', '401', '403', '409', '415', '429', '500']],
    ['assets.get', ['200', '400', '401', '403', '404', '429', '500']],
    ['assets.update', ['200', '400', '401', '403', '404', '409', '415', '429', '500']],
    ['assets.delete', ['204', '400', '401', '403', '404', '429', '500']],
    ['locations.delete', ['204', '400', '401', '403', '404', '409', '429', '500']],
    ['inventory.save', ['201', '400', '401', '403', '415', '429', '500']],
  ])('%s declares the statuses %j', (id, statuses) => {
    const operation = operations.find(([, , one]) => one.operationId === id)![2]
    expect(Object.keys(operation.responses)).toEqual(statuses)
  })

  it('gives every operation its x-required-scopes except the token exchange, which has an empty security instead [D2]', () => {
    for (const [method, path, operation] of operations) {
      const route = naturalRoutes.find((one) => one.method === method && `/api/v1${one.path}` === path)!
      const isExchange = path === '/api/v1/oauth/token'
      expect(operation['x-required-scopes'], path).toEqual(isExchange ? undefined : route.scopes)
      if (isExchange) expect(operation['security']).toEqual([])
    }
  })

  it('declares keys as strings and ids as int64 in paths', () => {
    for (const [, path, { parameters = [] }] of operations) {
      const inPath = parameters.filter((one) => one.in === 'path')
      expect(inPath.map((one) => one.name)).toEqual([...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]))
      for (const { name, schema } of inPath)
        expect(schema).toMatchObject(name === 'identifier' ? { type: 'string' } : { type: 'integer', format: 'int64' })
    }
  })

  it('declares every surrogate id an int64', () => {
    const ids = Object.entries(described.components.schemas).flatMap(([name, { properties }]) =>
      Object.entries(properties as Record<string, Node>)
        .filter(([key]) => /^id$|_id$/.test(key) && !['api_key_id', 'client_id', 'delivery_id'].includes(key))
        .map(([key, schema]) => [`${name}.${key}`, schema['type'], schema['format']]),
    )
    expect(ids.map(([name]) => name)).toEqual(
      expect.arrayContaining(['Asset.surrogate_id', 'Location.surrogate_id', 'Identifier.id', 'Organization.id']),
    )
    for (const [name, ...declared] of ids) expect([name, ...declared]).toEqual([name, 'integer', 'int64'])
  })

  it('has all its endpoints under /api/v1/', () => {
    for (const [, path] of operations) expect(path).toMatch(/^\/api\/v1\/\w/)
  })

  it.each(['assets.create', 'locations.create'])('declares the Location header of %s', (id) => {
    const operation = operations.find(([, , one]) => one.operationId === id)![2]
    expect(operation.responses['201']!['headers']).toHaveProperty('Location')
  })

  it('declares a repeatable filter as an array, so that a typed client sends one', () => {
    const lists = operations.flatMap(([, path, { parameters = [] }]) =>
      parameters.filter(({ schema }) => schema['type'] === 'array').map((one) => ({ path: path.slice(7), ...one })),
    )
    expect(lists.map(({ path, name }) => `${path} ${name}`)).toEqual([
      '/assets location',
      '/locations parent',
      '/locations/current location',
    ])
    for (const one of lists) expect(one).toMatchObject({ in: 'query', style: 'form', explode: true })
  })

  it.each([
    ['Asset', ['description', 'current_location']],
    ['Location', ['description', 'parent_identifier', 'parent']],
    ['HistoryItem', ['location', 'duration_seconds']],
    ['CurrentLocation', ['location']],
    ['Identifier', []],
  ])('%s may omit only %j (D36)', (name, optional) => {
    const { required = [], properties } = described.components.schemas[name]!
    expect(Object.keys(properties).filter((key) => !required.includes(key))).toEqual(optional)
  })

  it.each(['Asset', 'Location'])('%s always has valid_to, which may be null [D36]', (name) => {
    const { required, properties } = described.components.schemas[name]!
    expect(required).toContain('valid_to')
    expect(properties['valid_to']).toMatchObject({ type: 'string', format: 'date-time', nullable: true })
  })

  const assetTypes = ['asset', 'person', 'inventory']
  const tagTypes = ['rfid', 'ble', 'barcode']

  /** Every schema of a property `type`, with its path. */
  function typesIn(node: unknown, at: string): [string, Node][] {
    if (typeof node !== 'object' || node === null) return []
    const { properties } = node as { properties?: Record<string, Node> }
    const own: [string, Node][] = properties?.['type'] === undefined ? [] : [[at, properties['type']]]
    return [...own, ...Object.entries(node).flatMap(([key, below]) => typesIn(below, `${at}/${key}`))]
  }

  it('declares `type` of assets and identifiers as a closed enum everywhere [D50]', () => {
    const all = typesIn(described, '').filter(([at]) => !at.startsWith('/components/schemas/Error'))
    expect(all.length).toBeGreaterThanOrEqual(6)
    for (const [at, schema] of all) expect([assetTypes, tagTypes], at).toContainEqual(schema['enum'])
  })

  it('marks the tag type with x-extensible-enum, as the contract asks of every declaration of it, and no asset type', () => {
    const all = typesIn(described, '').filter(([at]) => !at.startsWith('/components/schemas/Error'))
    const ofTags = all.filter(([, schema]) => isDeepStrictEqual(schema['enum'], tagTypes))
    expect(ofTags.length).toBeGreaterThanOrEqual(3)
    for (const [at, schema] of ofTags) expect(schema['x-extensible-enum'], at).toEqual(tagTypes)
    for (const [at, schema] of all)
      if (isDeepStrictEqual(schema['enum'], assetTypes)) expect(schema, at).not.toHaveProperty('x-extensible-enum')
  })

  it('declares the type filter of the list of assets as an open string, as in v1.0.0 [D50]', () => {
    const list = operations.find(([, , one]) => one.operationId === 'assets.list')![2]
    const filter = list.parameters!.find((one) => one.name === 'type')!
    expect(filter.schema).toEqual({ type: 'string', maxLength: 255 })
  })

  it('contains the schemas of key administration, as the other document does [D50]', () => {
    const primary = JSON.parse(JSON.stringify(primaryDocument)) as typeof described
    for (const name of ['APIKeyCreate', 'APIKeyCreated', 'APIKeyListItem']) {
      expect(described.components.schemas[name], name).toBeDefined()
      expect(described.components.schemas[name]).toEqual(primary.components.schemas[name])
    }
  })

  const { schemas, securitySchemes, responses } = described.components

  it('declares two security schemes, APIKey and BearerAuth, and every operation but the token exchange accepts either', () => {
    expect(securitySchemes).toEqual({
      APIKey: {
        type: 'apiKey',
        in: 'header',
        name: 'Authorization',
        description: expect.stringContaining('Bearer <jwt>'),
      },
      BearerAuth: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
    })
    for (const [, path, { security }] of operations)
      expect(security, path).toEqual(path === '/api/v1/oauth/token' ? [] : [{ BearerAuth: [] }, { APIKey: [] }])
  })

  it('has an empty list of scopes on GET /api/v1/orgs/me only', () => {
    const empty = operations.filter(([, , one]) => JSON.stringify(one['x-required-scopes']) === '[]')
    expect(empty.map(([method, path]) => `${method} ${path}`)).toEqual(['GET /api/v1/orgs/me'])
  })

  it('marks error types, validation codes and scope strings with x-extensible-enum', () => {
    const types = ['validation_error', 'bad_request', 'unauthorized', 'forbidden', 'not_found', 'conflict']
    types.push('rate_limited', 'internal_error')
    expect(schemas['Error']).toHaveProperty(
      'properties.error.properties.type.x-extensible-enum',
      expect.arrayContaining(types),
    )
    const codes = ['required', 'invalid_value', 'unknown_field', 'invalid_context', 'too_short', 'too_long']
    codes.push('too_small', 'too_large', 'fk_not_found', 'ambiguous_fields', 'read_only')
    expect(schemas['FieldProblem']).toHaveProperty('properties.code.x-extensible-enum', codes)
    const scopes = ['assets:read', 'assets:write', 'locations:read', 'locations:write', 'tracking:read', 'scans:read']
    expect(schemas['Organization']).toHaveProperty(
      'properties.scopes.items.x-extensible-enum',
      expect.arrayContaining(scopes),
    )
  })

  it('says nullable: true and never names null as a type', () => {
    const text = JSON.stringify(described)
    expect(text.match(/"nullable":true/g)!.length).toBeGreaterThan(5)
    expect(text).not.toMatch(/"nullable":false|"type":("null"|\[)/)
  })

  it('declares 422 on GET /api/v1/orgs/me only, and no status outside the closed set', () => {
    const closed = Object.values(errorTypes).map(({ status }) => status as number)
    for (const [method, path, operation] of operations) {
      const statuses = Object.keys(operation.responses).map(Number)
      for (const status of statuses) if (status >= 400) expect(closed, `${method} ${path}`).toContain(status)
      expect(statuses.includes(422), `${method} ${path}`).toBe(path === '/api/v1/orgs/me')
    }
  })

  it('gives every error the Error schema and the headers of the contract', () => {
    const common = ['X-Request-ID', 'RateLimit-Policy', 'X-RateLimit-Limit', 'X-RateLimit-Remaining']
    common.push('X-RateLimit-Reset')
    for (const [status, response] of Object.entries(responses)) {
      expect(response).toHaveProperty('content.application/json.schema', { $ref: '#/components/schemas/Error' })
      const headers = Object.keys(response['headers'] as Node)
      expect(headers).toEqual(expect.arrayContaining(common))
      expect(headers.includes('WWW-Authenticate')).toBe(status === '401')
      expect(headers.includes('Retry-After')).toBe(status === '429')
    }
  })

  it('deprecates no endpoint in v1', () => {
    for (const [, path, { deprecated }] of operations) expect(deprecated, path).toBeUndefined()
  })
})

/** The compiler errors of a one-file program. */
function complaints(source: string): string[] {
  // Without the types of browsers, which take most of the time of the compiler.
  const lib = ['lib.es2022.d.ts']
  const options = { strict: true, noEmit: true, skipLibCheck: true, types: [], lib, target: ts.ScriptTarget.ES2022 }
  const host = ts.createCompilerHost(options)
  const getSourceFile = host.getSourceFile.bind(host)
  host.getSourceFile = (name, ...more) =>
    name === 'api.ts' ? ts.createSourceFile(name, source, ts.ScriptTarget.ES2022) : getSourceFile(name, ...more)
  const program = ts.createProgram(['api.ts'], options, host)
  return ts.getPreEmitDiagnostics(program).map((one) => ts.flattenDiagnosticMessageText(one.messageText, '\n'))
}

describe.each([
  [
    'primary',
    `const asset: components['schemas']['Asset']['external_key'] = 'A'
     const patch: paths['/api/v1/assets/{asset_id}']['patch']['parameters']['path'] = { asset_id: 5 }`,
  ],
  [
    'natural-key',
    `const asset: components['schemas']['Asset']['current_location'] = undefined
     const put: paths['/api/v1/assets/{identifier}']['put']['parameters']['path'] = { identifier: 'A/B' }`,
  ],
])('TypeScript generated from %s.json', (name, use) => {
  it('compiles, and types a client’s requests', async () => {
    const kept = await readFile(new URL(`../../../openapi/${name}.json`, import.meta.url), 'utf8')
    const types = astToString(await openapiTS(JSON.parse(kept) as never))
    expect(complaints(`${types}\n${use}\nvoid [asset]`)).toEqual([])
    expect(complaints(`${types}\nconst id: components['schemas']['Asset']['name'] = 5`)).not.toEqual([])
  })
})
