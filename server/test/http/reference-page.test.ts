import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { renderReference } from '../../src/http/reference-page.ts'

const ref = (path: string) => ({ $ref: `#/components/${path}` })
const jsonBody = (schema: object, rest: object = {}) => ({ content: { 'application/json': { schema, ...rest } } })
const failures = (...names: string[]) => {
  const statuses: Record<string, string> = { BadRequest: '400', NotFound: '404', Conflict: '409', TooMany: '429' }
  return Object.fromEntries(names.map((name) => [statuses[name] ?? 'default', ref(`responses/${name}`)]))
}
const failure = (description: string, type: string, message: string) => ({
  description,
  ...jsonBody(ref('schemas/Error'), { example: { error: { type, message, request_id: 'req_01JQ4T' } } }),
})
const requestId = { 'X-Request-Id': ref('headers/RequestId') }

const sample = {
  openapi: '3.0.3',
  info: {
    title: 'Lastseen API',
    version: '1.0.0',
    description:
      'Lastseen knows where physical things are: register an asset, record where it was seen, ask where it is.\n\n' +
      'All bodies are JSON in UTF-8. Times are RFC 3339 in UTC. Three habits make an integration robust:\n\n' +
      '- ignore fields you do not know,\n- follow `next_cursor` until it is null,\n- retry only what is safe to retry.',
  },
  servers: [
    { url: 'https://api.lastseen.example/v1', description: 'Production' },
    { url: 'https://sandbox.lastseen.example/v1', description: 'Sandbox, emptied each night' },
  ],
  security: [{ oauth: [] }, { token: [] }],
  tags: [
    { name: 'Access tokens', description: 'Trade a client key for a short lived token.' },
    { name: 'Assets', description: 'An asset is one physical thing that you want to find again.' },
    { name: 'Locations', description: 'Places form a tree: site, building, floor, room, shelf.' },
  ],
  paths: {
    '/oauth/token': {
      post: {
        operationId: 'exchangeToken',
        tags: ['Access tokens'],
        summary: 'Get an access token',
        description: 'The client credentials grant of OAuth 2.0. Ask for fewer scopes to get a weaker token.',
        security: [],
        requestBody: {
          required: true,
          content: {
            'application/x-www-form-urlencoded': {
              schema: {
                type: 'object',
                required: ['grant_type', 'client_id', 'client_secret'],
                properties: {
                  grant_type: { type: 'string', enum: ['client_credentials'] },
                  client_id: { type: 'string', example: 'cli_01JQ4T8E' },
                  client_secret: { type: 'string', format: 'password', example: 'sec_8Zk2', writeOnly: true },
                  scope: { type: 'string', description: 'Scopes with spaces between.', example: 'assets:read' },
                },
              },
            },
          },
        },
        responses: {
          200: {
            description: 'The token.',
            headers: { 'Cache-Control': { schema: { type: 'string', enum: ['no-store'] } } },
            ...jsonBody(ref('schemas/Token')),
          },
          401: {
            description: 'The client key is wrong or was revoked.',
            ...jsonBody(ref('schemas/OAuthError'), { example: { error: 'invalid_client' } }),
          },
        },
      },
    },
    '/assets': {
      get: {
        operationId: 'listAssets',
        tags: ['Assets'],
        summary: 'List assets',
        description: 'Newest first. Filters narrow the list together.',
        'x-required-scopes': ['assets:read'],
        parameters: [
          {
            name: 'location_id',
            in: 'query',
            description: 'Only assets seen at this place.',
            schema: { type: 'string' },
          },
          {
            name: 'state',
            in: 'query',
            description: 'Only assets in one of these states.',
            schema: { type: 'array', maxItems: 5, items: ref('schemas/AssetState') },
          },
          ref('parameters/Limit'),
          { name: 'cursor', in: 'query', description: '`next_cursor` of the page before.', schema: { type: 'string' } },
        ],
        responses: {
          200: { description: 'One page.', headers: requestId, ...jsonBody(ref('schemas/AssetPage')) },
          ...failures('BadRequest', 'TooMany'),
        },
      },
      post: {
        operationId: 'createAsset',
        tags: ['Assets'],
        summary: 'Create an asset',
        'x-required-scopes': ['assets:read', 'assets:write'],
        parameters: [
          {
            name: 'Idempotency-Key',
            in: 'header',
            description: 'A retry with the same key does the work once.',
            schema: { type: 'string', minLength: 1, maxLength: 255 },
          },
        ],
        requestBody: {
          required: true,
          ...jsonBody(ref('schemas/NewAsset'), {
            examples: {
              drill: {
                summary: 'A drill',
                value: { name: "Ana's drill", labels: { team: 'north' }, value_cents: 12900 },
              },
            },
          }),
        },
        responses: {
          201: { description: 'The new asset.', headers: requestId, ...jsonBody(ref('schemas/Asset')) },
          ...failures('BadRequest', 'Conflict', 'TooMany'),
        },
      },
    },
    '/assets/{asset_id}': {
      parameters: [
        { name: 'asset_id', in: 'path', required: true, schema: { type: 'string', pattern: '^ast_[0-9A-Z]{26}$' } },
      ],
      get: {
        operationId: 'getAsset',
        tags: ['Assets'],
        summary: 'Get an asset',
        'x-required-scopes': ['assets:read'],
        responses: {
          200: {
            description: 'The asset.',
            content: {
              'text/csv': { schema: { type: 'string' }, examples: { one: { summary: 'One line', value: 'id,name' } } },
              'application/json': { schema: ref('schemas/Asset') },
            },
          },
          ...failures('NotFound'),
        },
      },
      patch: {
        operationId: 'updateAsset',
        tags: ['Assets'],
        summary: 'Change an asset',
        description: 'A JSON merge patch: fields you leave out stay, `null` clears a field.',
        'x-required-scopes': ['assets:write'],
        requestBody: {
          required: true,
          content: {
            'application/merge-patch+json': { schema: ref('schemas/NewAsset'), example: { name: 'Drill 7' } },
          },
        },
        responses: {
          200: { description: 'The changed asset.', ...jsonBody(ref('schemas/Asset')) },
          ...failures('BadRequest', 'NotFound', 'Conflict'),
        },
      },
      delete: {
        operationId: 'deleteAsset',
        tags: ['Assets'],
        summary: 'Delete an asset',
        'x-required-scopes': ['assets:write'],
        responses: { 204: { description: 'It is gone.' }, ...failures('NotFound') },
      },
    },
    '/locations': {
      get: {
        operationId: 'listLocations',
        tags: ['Locations'],
        summary: 'List locations as a tree',
        'x-required-scopes': [],
        parameters: [
          { name: 'depth', in: 'query', required: true, schema: { type: 'integer', minimum: 1, maximum: 8 } },
        ],
        responses: {
          200: {
            description: 'The tree.',
            ...jsonBody({ type: 'object', properties: { items: { type: 'array', items: ref('schemas/Location') } } }),
          },
          ...failures('BadRequest', 'Unexpected'),
        },
      },
      post: {
        operationId: 'createLocation',
        tags: ['Locations'],
        summary: 'Create a location',
        deprecated: true,
        'x-required-scopes': ['locations:write'],
        requestBody: { required: true, ...jsonBody(ref('schemas/Location')) },
        responses: { 201: { description: 'Made.', ...jsonBody(ref('schemas/Location')) }, ...failures('BadRequest') },
      },
    },
  },
  components: {
    securitySchemes: {
      oauth: {
        type: 'oauth2',
        description: 'For services. Tokens live for one hour.',
        flows: {
          clientCredentials: {
            tokenUrl: 'https://api.lastseen.example/v1/oauth/token',
            scopes: { 'assets:read': 'See assets.', 'assets:write': 'Create and change assets.' },
          },
        },
      },
      token: { type: 'http', scheme: 'bearer', description: 'A personal token, made in the console.' },
    },
    headers: { RequestId: { description: 'Name this in a support request.', schema: { type: 'string' } } },
    parameters: {
      Limit: {
        name: 'limit',
        in: 'query',
        description: 'The most entries on one page.',
        schema: { type: 'integer', minimum: 1, maximum: 200, default: 50 },
      },
    },
    responses: {
      BadRequest: failure('The request is not valid.', 'invalid_request', 'limit must be at most 200'),
      NotFound: failure('There is no such thing, or the token may not see it.', 'not_found', 'No such asset'),
      Conflict: failure('Another asset has this name.', 'conflict', 'The name is taken'),
      Unexpected: { description: 'Anything else.', ...jsonBody(ref('schemas/Error')) },
      TooMany: {
        ...failure('Too many calls; wait as long as the header says.', 'rate_limited', 'Slow down'),
        headers: {
          'Retry-After': { required: true, description: 'Seconds.', schema: { type: 'integer', minimum: 1 } },
        },
      },
    },
    schemas: {
      AssetState: { type: 'string', 'x-extensible-enum': ['active', 'missing', 'retired'] },
      NewAsset: {
        type: 'object',
        required: ['name'],
        properties: {
          name: {
            type: 'string',
            minLength: 1,
            maxLength: 120,
            description: 'Unique in the tenant.',
            example: 'Drill 7',
          },
          serial: { type: 'string', nullable: true, maxLength: 64, description: 'As printed by the maker.' },
          value_cents: { type: 'integer', format: 'int64', minimum: 0, nullable: true },
          labels: { type: 'object', maxProperties: 16, additionalProperties: { type: 'string', maxLength: 64 } },
        },
      },
      Asset: {
        allOf: [
          ref('schemas/NewAsset'),
          {
            type: 'object',
            required: ['id', 'state', 'created_at'],
            properties: {
              id: { type: 'string', readOnly: true, example: 'ast_01JQ4T8E6N5W3KX9V2M7RZC0YB' },
              state: ref('schemas/AssetState'),
              last_seen: { allOf: [ref('schemas/Sighting')], nullable: true, description: 'Null until first seen.' },
              created_at: { type: 'string', format: 'date-time', readOnly: true },
            },
          },
        ],
      },
      Sighting: {
        type: 'object',
        required: ['at', 'location'],
        properties: {
          at: { type: 'string', format: 'date-time' },
          location: ref('schemas/Location'),
          source: { type: 'string', enum: ['scan', 'gps', 'manual'] },
          evidence: { oneOf: [ref('schemas/Point'), { type: 'string', format: 'uri' }] },
        },
      },
      Point: {
        type: 'object',
        properties: { lat: { type: 'number', minimum: -90, maximum: 90 }, lon: { type: 'number' } },
      },
      AssetPage: {
        type: 'object',
        required: ['items', 'next_cursor'],
        properties: {
          items: { type: 'array', items: ref('schemas/Asset') },
          next_cursor: { type: 'string', nullable: true, example: null, description: 'Null on the last page.' },
        },
      },
      Location: {
        type: 'object',
        required: ['name'],
        properties: {
          id: { type: 'string', readOnly: true, example: 'loc_01JQ4TB0' },
          name: { type: 'string', minLength: 1, maxLength: 120, example: 'North hall' },
          parent: { allOf: [ref('schemas/Location')], nullable: true },
          children: { type: 'array', items: ref('schemas/Location') },
        },
      },
      Token: {
        type: 'object',
        required: ['access_token', 'token_type', 'expires_in'],
        properties: {
          access_token: { type: 'string', example: 'lst_9f0c2a' },
          token_type: { type: 'string', enum: ['Bearer'] },
          expires_in: { type: 'integer', example: 3600 },
        },
      },
      Error: {
        type: 'object',
        required: ['error'],
        properties: {
          error: {
            type: 'object',
            required: ['type', 'message', 'request_id'],
            properties: {
              type: { type: 'string', 'x-extensible-enum': ['invalid_request', 'not_found', 'conflict'] },
              message: { type: 'string', description: 'For people; it may change.' },
              request_id: { type: 'string' },
            },
          },
        },
      },
      OAuthError: { type: 'object', required: ['error'], properties: { error: { type: 'string' } } },
    },
  },
}
const options = { title: 'Lastseen API reference', descriptionUrl: '/openapi.json' }
const { html, contentSecurityPolicy } = renderReference(sample, options)
const operationIds = Object.values(sample.paths).flatMap((item) =>
  Object.values(item).flatMap((operation) => ('operationId' in operation ? [operation.operationId] : [])),
)
/** The part of the page that belongs to one operation. */
const section = (id: string) => html.split(`id="${id}"`)[1]?.split('</section>')[0] ?? ''
/** What a reader sees: no tags, character references read back. */
const seen = (markup: string) =>
  markup
    .replace(/<[^>]*>/g, '')
    .replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))
    .replace(/\s+/g, ' ')

const hostile = `"'><img src=x onerror=alert(1)><script>alert(2)&lt;`
const openKeys = [
  'properties',
  'content',
  'scopes',
  'securitySchemes',
  'examples',
  'labels',
  'paths',
  'schemas',
].concat(['responses', 'headers'])

/** Adds the hostile text to every string, number and name that the author of a document may choose. */
function poison(node: unknown, key = ''): unknown {
  if (['in', 'type'].includes(key) && typeof node === 'string') return node
  if (key === '$ref' && String(node).includes('/parameters/')) return node
  if (typeof node === 'string' || typeof node === 'number') return `${node}${hostile}`
  if (Array.isArray(node)) return node.map((item) => poison(item, key))
  if (typeof node !== 'object' || node === null) return node
  return Object.fromEntries(
    Object.entries(node).map(([name, child]) => [openKeys.includes(key) ? name + hostile : name, poison(child, name)]),
  )
}

describe('the page is safe to open', () => {
  test('hostile text in any field shows as text', () => {
    const page = renderReference(poison(sample) as typeof sample, { title: hostile, descriptionUrl: hostile }).html
    const tags = new Set([...page.matchAll(/<\/?([a-z0-9]+)/gi)].map((match) => match[1]))
    expect(tags).not.toContain('img')
    expect(tags).not.toContain('script')
    expect(page.split('&#60;img src=x').length).toBeGreaterThan(300)
    const clean = (markup: string) => markup.replace(/<[^>]*>/g, (tag) => tag.replace(/"[^"]*"/g, '""'))
    expect(new Set(clean(page).match(/<[^>]*>/g))).toEqual(new Set(clean(html).match(/<[^>]*>/g)))
  })

  test('the policy allows the style of the page by its hash and nothing else', () => {
    const styles = [...html.matchAll(/<style>([^]*?)<\/style>/g)]
    expect(styles).toHaveLength(1)
    const hash = createHash('sha256')
      .update(styles[0]?.[1] ?? '')
      .digest('base64')
    expect(contentSecurityPolicy).toBe(
      `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    )
    expect(html).not.toMatch(/ style=/)
  })

  test('it has no script and loads nothing', () => {
    expect(html).not.toMatch(/<script/i)
    expect(html).not.toMatch(/<(link|img|iframe|object|embed|base|form)\b|\ssrc=|url\(|@import/i)
    expect(html).not.toMatch(/<(?!a\b)[a-z]+[^>]*\shref=/i)
    expect(html).not.toMatch(/<[a-z]+[^>]*"https?:/i)
  })
})

describe('an integrator finds', () => {
  test('an anchor and a link for each operation, once each', () => {
    expect(operationIds).toHaveLength(8)
    for (const id of operationIds) {
      expect(html.split(`id="${id}"`)).toHaveLength(2)
      expect(html).toContain(`href="#${id}"`)
    }
    const ids = [...html.matchAll(/\sid="([^"]*)"/g)].map((match) => match[1])
    expect(new Set(ids).size).toBe(ids.length)
    for (const [, target] of html.matchAll(/href="#([^"]*)"/g)) expect(ids).toContain(target)
  })

  test('what each token must be allowed to do', () => {
    expect(section('createAsset')).toContain('<span class="scope">assets:read</span>')
    expect(section('createAsset')).toContain('<span class="scope">assets:write</span>')
    expect(section('listLocations')).toContain('>any token<')
    expect(section('exchangeToken')).toContain('>no token<')
    expect(section('exchangeToken')).not.toContain('Bearer $TOKEN')
  })

  test('parameters, fields and headers behind references, with types and limits', () => {
    expect(seen(section('listAssets'))).toContain('limitinteger · 1 to 200The most entries on one page.Default: 50')
    expect(seen(section('listAssets'))).toContain('array of string · at most 5 items')
    expect(seen(section('listAssets'))).toContain('Values, may grow: active missing retired')
    expect(seen(section('listAssets'))).toContain('X-Request-Idstring')
    expect(seen(section('createAsset'))).toContain('name requiredstring · 1 to 120 characters')
    expect(seen(section('createAsset'))).toContain('integer (int64) or null · at least 0')
    expect(seen(section('getAsset'))).toContain('Sighting or null')
    expect(seen(section('getAsset'))).toContain('One of: scan gps manual')
    expect(seen(section('getAsset'))).toContain('Pattern: ^ast_[0-9A-Z]{26}$')
  })

  test('every status, with the type of its error', () => {
    const text = seen(section('updateAsset'))
    for (const part of ['200 OK', '400 Bad Request', '404 Not Found', '409 Conflict']) expect(text).toContain(part)
    expect(text).toContain('Error type not_found')
    expect(seen(section('deleteAsset'))).toContain('204 No Content')
    expect(seen(section('section-errors'))).toContain('rate_limited429 Too Many Requests')
  })

  test('a command that a shell reads as meant', () => {
    expect(seen(section('createAsset'))).toContain(String.raw`Ana'\''s drill`)
    expect(seen(section('updateAsset'))).toContain('-H "Content-Type: application/merge-patch+json"')
    expect(seen(section('updateAsset'))).toContain('"https://api.lastseen.example/v1/assets/ASSET_ID"')
    expect(seen(section('listLocations'))).toContain('/locations?depth=1"')
  })

  test('given examples, else examples made from the schema', () => {
    expect(seen(section('updateAsset'))).toContain(`-d '{ "name": "Drill 7" }'`)
    expect(seen(section('createAsset'))).toContain('"created_at": "2026-03-14T09:26:53Z"')
    expect(seen(section('getAsset'))).toContain('200 OK text/csv, One lineid,name')
    const request = seen(section('createLocation')).split('Response')
    expect(request.find((part) => part.includes('curl'))).not.toContain('loc_01JQ4TB0')
  })

  test('the overview: text, base address, both schemes, a token command and the description files', () => {
    expect(html).toContain('<li>follow <code>next_cursor</code> until it is null,</li>')
    expect(seen(section('section-overview'))).toContain('https://api.lastseen.example/v1')
    expect(section('section-overview')).toContain('href="/openapi.json"')
    expect(section('section-overview')).toContain('href="/openapi.yaml"')
    const text = seen(section('section-authentication'))
    expect(text).toContain('OAuth 2.0')
    expect(text).toContain('HTTP bearer')
    expect(text).toContain('curl "https://api.lastseen.example/v1/oauth/token"')
    expect(text).toContain('-d "grant_type=client_credentials"')
  })
})

describe('odd documents', () => {
  test('a schema that contains itself ends', () => {
    expect(seen(section('listLocations'))).toContain('this object can contain itself')
    const loop = { $ref: '#/components/schemas/Loop' }
    const schemas = { Loop: loop, Both: { allOf: [{ $ref: '#/components/schemas/Both' }] }, Any: { anyOf: [loop] } }
    const answers = Object.keys(schemas).map((name, index) => [200 + index, jsonBody(ref(`schemas/${name}`))])
    const page = renderReference(
      {
        paths: { '/x': { get: { operationId: 'x', responses: Object.fromEntries(answers) } } },
        components: { schemas },
      },
      options,
    )
    expect(page.html).toContain('id="x"')
  })

  test('missing and wrong parts are passed over', () => {
    expect(renderReference({}, options).html).toContain('<h1>Lastseen API reference</h1>')
    const odd = {
      info: 1,
      servers: {},
      tags: ['a'],
      paths: { '/a': { get: { responses: [], parameters: [null] } }, '/b': 7 },
    }
    expect(renderReference(odd, options).html).toContain('$BASE_URL/a')
  })
})
