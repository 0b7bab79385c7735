import { type Scope, roleScopes } from '../../../src/kernel/scopes.ts'
import { createReader } from '../../../src/readers/commands.ts'
import { beforeAll, describe, expect, it } from 'vitest'
import { revokeCredential } from '../../../src/auth/commands.ts'
import { type AnyRoute, variablesOf } from '../../../src/http/route.ts'
import { type TestOrg, useApp } from '../../support/app.ts'
import { drainedToken } from '../../support/drained-token.ts'
import type { Client, Reply, SendOptions } from '../../support/client.ts'
import { type ErrorType, expectApiError } from '../../support/error-response.ts'
import { bodyTypeOf, pathTemplateOf, allRoutes, routePathWith } from '../../support/all-routes.ts'
import { useSnapshotDatabase } from '../../support/tenant-snapshot.ts'

const startedAt = Date.now()
const context = useApp({ clock: { millis: () => startedAt } })
const database = useSnapshotDatabase(context)
const nowhere = 4_503_599_627_370_497

let org: TestOrg
let full: Client
let drained: string
const sessions: Record<string, string> = {}
const owned: Record<string, number> = {}

beforeAll(async () => {
  org = await context.app.newOrg()
  full = org.full
  drained = (await drainedToken(org, 'tracking:write')).token
  sessions['admin'] = (await org.signIn('admin')).accessToken
  sessions['viewer'] = (await org.signIn('viewer')).accessToken
  const asset = await full.post('/api/v1/assets', {
    external_key: 'A',
    name: 'a',
    tags: [{ tag_type: 'barcode', value: 'TAKEN' }],
  })
  await full.post('/api/v1/assets', { external_key: 'B', name: 'b' })
  const location = await full.post('/api/v1/locations', { external_key: 'L', name: 'l' })
  const child = await full.post('/api/v1/locations', { external_key: 'M', name: 'm', parent_external_key: 'L' })
  owned['asset_id'] = asset.json.data.id
  owned['tag_id'] = asset.json.data.tags[0].id
  owned['location_id'] = location.json.data.id
  owned['child_id'] = child.json.data.id
  owned['org_id'] = org.orgId
  const me = await context.app.anonymous('GET', '/api/v1/auth/me', { token: sessions['viewer']! })
  owned['user_id'] = me.json.data.id
  const json = { kind: 'assets' }
  const started = await context.app.anonymous('POST', '/api/v1/imports', { token: sessions['admin']!, json })
  owned['import_id'] = started.json.data.id
  owned['job_id'] = started.json.data.id
  const webhook = { url: 'https://receiver.example/hook' }
  const registered = await context.app.anonymous('POST', '/api/v1/webhooks', {
    token: sessions['admin']!,
    json: webhook,
  })
  owned['webhook_id'] = registered.json.data.id
  const draft = { name: 'R', format: 'auto', clock: 'reader', scanPoints: [] }
  owned['reader_id'] = (await createReader(context.app.context, org.orgId, draft)).reader.id
})

const send = (method: string, path: string, options: SendOptions = {}): Promise<Reply> =>
  context.app.anonymous(method, path, options)

type Fill = (name: string) => number | string

/** The caller's own record for each path parameter. */
const ownOf =
  (route: AnyRoute): Fill =>
  (name) => {
    if (name === 'identifier') return route.path.startsWith('/assets') ? 'A' : 'L'
    return owned[name] ?? nowhere
  }

interface Stage {
  type: ErrorType
  field?: string
  options: SendOptions
  fill?: Fill
}

/** A request with every possible error of a route, corrected one step at a time in the order of D6. */
function* stages(route: AnyRoute, withScope: string, lacking: string | null): Generator<Stage> {
  const withoutScope = lacking ?? withScope
  const isSession = route.access === 'session'
  const wrong = { query: 'zz_nope=1', raw: '{', headers: { 'content-type': 'text/plain' } }
  if (route.access !== 'public') yield { type: 'unauthorized', options: wrong }
  if (route.access !== 'public' && !isSession) yield { type: 'rate_limited', options: { ...wrong, token: drained } }
  const access = (token: string): { token?: string } => (route.access === 'public' ? {} : { token })
  const bodyType = bodyTypeOf(route)
  if (bodyType !== undefined) yield { type: 'unsupported_media_type', options: { ...wrong, ...access(withoutScope) } }
  const typed = { ...wrong, headers: bodyType === undefined ? {} : { 'content-type': bodyType } }
  if (route.scopes.length > 0 && lacking !== null)
    yield { type: 'forbidden', options: { ...typed, ...access(withoutScope) } }
  const allowed = { ...typed, ...access(withScope) }
  yield { type: 'validation_error', field: 'zz_nope', options: allowed }
  const asked = { ...allowed, query: '' }
  for (const name of variablesOf(route)) {
    const bad = route.keys?.includes(name) ? '%FF' : 0
    yield { type: 'validation_error', field: name, options: asked, fill: (one) => (one === name ? bad : nowhere) }
  }
  if (route.ids?.[0] === 'org_id') yield { type: 'forbidden', options: asked, fill: () => nowhere }
  else if (route.path.includes('{')) yield { type: 'not_found', options: asked, fill: () => nowhere }
  if (bodyType !== undefined) yield { type: 'bad_request', options: asked, fill: ownOf(route) }
}

describe('A request that is wrong in every way', () => {
  const rows = allRoutes.map((route) => [route.method, pathTemplateOf(route), route] as const)

  it.each(rows)(
    '%s %s is rejected for the earliest reason in the order of checks (D6)',
    async (method, _path, route) => {
      const before = await database.snapshot(org.orgId)
      const scopes = route.scopes.includes('locations:read') ? ['assets:read'] : ['locations:read']
      // No session lacks a scope that every role has.
      const isForAll =
        route.access === 'session' && route.scopes.every((one) => roleScopes.viewer.includes(one as Scope))
      const lackingSession = isForAll ? null : sessions['viewer']!
      const withoutScope = route.access === 'session' ? lackingSession : await org.client(...scopes).token()
      const withScope = route.access === 'session' ? sessions['admin']! : await org.full.token()
      for (const { type, field, options, fill = () => 0 } of stages(route, withScope, withoutScope)) {
        const reply = await send(method, routePathWith(route, fill), options)
        expectApiError(reply, type)
        if (field !== undefined)
          expect(reply.json.error.fields.map((one: { field: string }) => one.field)).toEqual([field])
      }
      expect(await database.snapshot(org.orgId)).toBe(before)
    },
  )
})

describe('A CORS preflight is answered before every check', () => {
  it.each([
    ['an unknown path', '/api/v1/nothing'],
    ['a trailing slash', '/api/v1/assets/'],
    ['a missing token', '/api/v1/assets'],
  ])('such as %s (D6)', async (_what, path) => {
    expect((await send('OPTIONS', path)).status).toBe(204)
  })

  it('such as an empty bucket (D6)', async () => {
    expect((await send('OPTIONS', '/api/v1/assets', { token: drained })).status).toBe(204)
  })
})

describe('An unknown path or a wrong method is reported before authentication and the rate limit', () => {
  it.each([
    ['no token', () => ({})],
    ['a bad token', () => ({ token: 'bad' })],
    ['an empty bucket', () => ({ token: drained })],
    ['a wrong Content-Type', () => ({ raw: '{', headers: { 'content-type': 'text/plain' } })],
  ])('with %s (D6)', async (_what, options) => {
    const unknown = await send('POST', '/api/v1/assets/', options())
    expectApiError(unknown, 'not_found')
    expect(unknown.headers['x-ratelimit-remaining']).toBe('120')
    const wrong = await send('PUT', '/api/v1/assets', options())
    expectApiError(wrong, 'method_not_allowed', { detail: 'Allowed methods: GET, HEAD, POST' })
    expect(wrong.headers['x-ratelimit-remaining']).toBe('120')
  })

  it('and an unknown path is reported before a wrong method (D6)', async () => {
    expectApiError(await send('PUT', '/api/v1/nothing'), 'not_found')
  })
})

describe('An invalid token is reported before its empty bucket', () => {
  it('when the credential was revoked after its bucket was empty (D6)', async () => {
    const { token, pair } = await drainedToken(org, 'assets:read')
    expectApiError(await send('GET', '/api/v1/orgs/me', { token }), 'rate_limited')
    await revokeCredential(context.app.context, org.orgId, { clientId: pair.clientId })
    expectApiError(await send('GET', '/api/v1/orgs/me', { token }), 'unauthorized')
  })

  it('and a rejected request consumes no future tokens (D10)', async () => {
    const reply = await send('GET', '/api/v1/orgs/me', { token: drained })
    expectApiError(reply, 'rate_limited', { detail: 'Rate limit exceeded; retry after 1 second' })
    expect(reply.headers['retry-after']).toBe('1')
    expect(reply.headers['x-ratelimit-remaining']).toBe('0')
    expect(Number(reply.headers['x-ratelimit-reset'])).toBe(Math.ceil(startedAt / 1000) + 120)
  })
})

describe('Errors after the rate-limit check consume a token', () => {
  it.each([
    ['415', 'POST', '/api/v1/assets', { raw: '{', headers: { 'content-type': 'text/plain' } }, 415],
    ['403', 'GET', '/api/v1/locations', {}, 403],
    ['400 by query', 'GET', '/api/v1/assets', { query: 'nope=1' }, 400],
    ['400 by id', 'GET', '/api/v1/assets/0', {}, 400],
    ['404', 'GET', `/api/v1/assets/${nowhere}`, {}, 404],
  ] as const)('%s', async (_what, method, path, options, status) => {
    const token = await org.client('assets:read').token()
    const reply = await send(method, path, { ...options, token })
    expect([reply.status, reply.headers['x-ratelimit-remaining']]).toEqual([status, '119'])
  })
})

describe('A path id out of range is reported before a record that does not exist', () => {
  it('in one path (D6)', async () => {
    const reply = await full.delete(`/api/v1/assets/${nowhere}/tags/0`)
    expectApiError(reply, 'validation_error', { fields: [{ field: 'tag_id', code: 'too_small', params: { min: 1 } }] })
  })
})

describe('A record that does not exist is reported before errors in the body', () => {
  const bodies: [string, unknown][] = [
    ['an unknown field', { colour: 'red' }],
    ['a wrong type', { name: 5, external_key: 5, value: 5 }],
    ['a null', null],
  ]
  const addresses: [string, string][] = [
    ['PATCH', '/api/v1/assets/{id}'],
    ['POST', '/api/v1/assets/{id}/rename'],
    ['POST', '/api/v1/assets/{id}/tags'],
    ['PATCH', '/api/v1/locations/{id}'],
    ['POST', '/api/v1/locations/{id}/rename'],
    ['POST', '/api/v1/locations/{id}/tags'],
  ]

  it.each(addresses.flatMap(([method, path]) => bodies.map(([what, json]) => [method, path, what, json] as const)))(
    'on %s %s with %s: 404 for an unknown id, 403 for an id of another organization (D6, D24)',
    async (method, path, _what, json) => {
      const missing = await full.send(method, path.replace('{id}', String(nowhere)), { json })
      expectApiError(missing, 'not_found')
      const outsider = (await context.app.newOrg()).full
      const id = path.includes('assets') ? owned['asset_id'] : owned['location_id']
      expectApiError(await outsider.send(method, path.replace('{id}', String(id)), { json }), 'forbidden')
    },
  )
})

describe('Errors in the body are reported before a conflict', () => {
  const window = { valid_from: '2026-02-01T00:00:00Z', valid_to: '2026-01-01T00:00:00Z' }
  const tag = { tag_type: 'barcode', value: 'TAKEN' }

  it.each([
    ['a key in use and an unknown field', 'POST', '/assets', { external_key: 'A', name: 'x', colour: 1 }, 'colour'],
    ['a key in use and a missing name', 'POST', '/assets', { external_key: 'A' }, 'name'],
    ['a key in use and an empty window', 'POST', '/assets', { external_key: 'A', name: 'x', ...window }, 'valid_to'],
    ['a tag in use and an empty window', 'POST', '/assets', { name: 'x', tags: [tag], ...window }, 'valid_to'],
    [
      'a key in use and no such parent',
      'POST',
      '/locations',
      { external_key: 'L', name: 'x', parent_id: 5 },
      'parent_id',
    ],
    ['a key in use and an unknown field', 'POST', '/assets/{asset_id}/rename', { external_key: 'B', x: 1 }, 'x'],
    ['a tag in use and an unknown field', 'POST', '/assets/{asset_id}/tags', { ...tag, x: 1 }, 'x'],
    [
      'a cycle and an empty window',
      'PATCH',
      '/locations/{location_id}',
      { parent_external_key: 'M', ...window },
      'valid_to',
    ],
    ['a cycle and a wrong id', 'PATCH', '/locations/{location_id}', { parent_external_key: 'M', id: 5 }, 'id'],
  ])('%s on %s %s (D6)', async (_what, method, path, json, field) => {
    const before = await database.snapshot(org.orgId)
    const reply = await full.send(
      method,
      `/api/v1${path.replace(/\{(\w+)\}/, (_all, name: string) => String(owned[name]))}`,
      { json },
    )
    expectApiError(reply, 'validation_error')
    expect(reply.json.error.fields.map((one: { field: string }) => one.field)).toEqual([field])
    expect(await database.snapshot(org.orgId)).toBe(before)
  })

  it('and a valid body leads to the conflict', async () => {
    const replies = [
      await full.post('/api/v1/assets', { external_key: 'A', name: 'x' }),
      await full.post('/api/v1/assets', { name: 'x', tags: [tag] }),
      await full.post('/api/v1/locations', { external_key: 'L', name: 'x' }),
      await full.post(`/api/v1/assets/${owned['asset_id']}/rename`, { external_key: 'B' }),
      await full.post(`/api/v1/assets/${owned['asset_id']}/tags`, tag),
      await full.patch(`/api/v1/locations/${owned['location_id']}`, { parent_external_key: 'M' }),
      await full.delete(`/api/v1/locations/${owned['location_id']}`),
    ]
    for (const reply of replies) expectApiError(reply, 'conflict')
  })
})
