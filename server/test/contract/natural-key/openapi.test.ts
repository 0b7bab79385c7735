import { readFile } from 'node:fs/promises'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import openapiTS, { astToString } from 'openapi-typescript'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { naturalDocument, naturalRoutes, document as primaryDocument } from '../../support/description.ts'

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
  components: { schemas: Record<string, { required?: string[]; properties: Node }> }
}

describe('The description of the natural-key base', () => {
  it('is OpenAPI 3.0.3 with the title API and the version v1 (D2)', () => {
    expect(described.openapi).toBe('3.0.3')
    expect(described.info).toMatchObject({ title: 'API', version: 'v1' })
  })

  it('passes the recommended rules of a linter', async () => {
    const config = await createConfig({
      extends: ['recommended'],
      // A group is called what it holds, such as Assets; /locations/current stands beside /locations/{identifier}; the
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

  it('declares the operations of v1.0.0 under their names, and the three that both bases share', () => {
    const names = operations.map(([method, path, { operationId }]) => `${operationId}: ${method} ${path.slice(7)}`)
    expect(names.sort()).toEqual(
      [
        'oauth.token: POST /oauth/token',
        'orgs.me: GET /orgs/me',
        'inventory.save: POST /inventory/save',
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

  it('takes keys as text and ids as int64 in paths', () => {
    for (const [, path, { parameters = [] }] of operations) {
      const inPath = parameters.filter((one) => one.in === 'path')
      expect(inPath.map((one) => one.name)).toEqual([...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]))
      for (const { name, schema } of inPath)
        expect(schema).toMatchObject(name === 'identifier' ? { type: 'string' } : { type: 'integer', format: 'int64' })
    }
  })

  it.each([
    ['Asset', ['description', 'current_location']],
    ['Location', ['description', 'parent_identifier', 'parent']],
    ['HistoryItem', ['location', 'duration_seconds']],
    ['CurrentLocation', ['location']],
    ['Identifier', []],
  ])('%s may be without %j alone (D36)', (name, optional) => {
    const { required = [], properties } = described.components.schemas[name]!
    expect(Object.keys(properties).filter((key) => !required.includes(key))).toEqual(optional)
  })

  it.each(['Asset', 'Location'])('%s always has valid_to, which may be null [D36]', (name) => {
    const { required, properties } = described.components.schemas[name]!
    expect(required).toContain('valid_to')
    expect(properties['valid_to']).toMatchObject({ type: 'string', format: 'date-time', nullable: true })
  })

  /** Every schema of a property `type`, with where it stands. */
  function typesIn(node: unknown, at: string): [string, Node][] {
    if (typeof node !== 'object' || node === null) return []
    const { properties } = node as { properties?: Record<string, Node> }
    const own: [string, Node][] = properties?.['type'] === undefined ? [] : [[at, properties['type']]]
    return [...own, ...Object.entries(node).flatMap(([key, below]) => typesIn(below, `${at}/${key}`))]
  }

  it('has `type` of assets and identifiers as a closed enum wherever it stands [D50]', () => {
    const all = typesIn(described, '').filter(([at]) => !at.startsWith('/components/schemas/Error'))
    expect(all.length).toBeGreaterThanOrEqual(6)
    for (const [at, schema] of all) {
      expect(schema, at).not.toHaveProperty('x-extensible-enum')
      expect(
        [
          ['asset', 'person', 'inventory'],
          ['rfid', 'ble', 'barcode'],
        ],
        at,
      ).toContainEqual(schema['enum'])
    }
  })

  it('leaves the type filter of the list of assets an open text, as v1.0.0 had it [D50]', () => {
    const list = operations.find(([, , one]) => one.operationId === 'assets.list')![2]
    const filter = list.parameters!.find((one) => one.name === 'type')!
    expect(filter.schema).toEqual({ type: 'string', maxLength: 255 })
  })

  it('holds the schemas of key administration, the same as the other description does [D50]', () => {
    const primary = JSON.parse(JSON.stringify(primaryDocument)) as typeof described
    for (const name of ['APIKeyCreate', 'APIKeyCreated', 'APIKeyListItem']) {
      expect(described.components.schemas[name], name).toBeDefined()
      expect(described.components.schemas[name]).toEqual(primary.components.schemas[name])
    }
  })
})

/** The compiler's complaints about a program of one file. */
function complaints(source: string): string[] {
  const options = { strict: true, noEmit: true, skipLibCheck: true, types: [], target: ts.ScriptTarget.ES2022 }
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
  it('compiles, and types what a client writes', async () => {
    const kept = await readFile(new URL(`../../../openapi/${name}.json`, import.meta.url), 'utf8')
    const types = astToString(await openapiTS(JSON.parse(kept) as never))
    expect(complaints(`${types}\n${use}\nvoid [asset]`)).toEqual([])
    expect(complaints(`${types}\nconst id: components['schemas']['Asset']['name'] = 5`)).not.toEqual([])
  })
})
