import { beforeAll, describe, expect, it } from 'vitest'
import type { AnyRoute } from '../../src/http/route.ts'
import { type TestOrg, useApp } from '../support/app.ts'
import { type Client, type Reply, type SendOptions } from '../support/client.ts'
import { expectApiError } from '../support/error-response.ts'
import { naturalRoutes } from '../support/openapi.ts'
import { bodyTypeOf, pathTemplateOf, allRoutes, routePathWith } from '../support/all-routes.ts'

const context = useApp()
const nowhere = 4_503_599_627_370_497

/** The implied scopes of the contract and D35. */
const implied: Record<string, string[]> = { 'assets:write': ['tracking:write'], 'scans:read': ['tracking:read'] }

const credentialScopes = [
  'assets:read',
  'assets:write',
  'locations:read',
  'locations:write',
  'tracking:read',
  'tracking:write',
  'scans:read',
]

/** D39. */
const reads = ['assets:read', 'locations:read', 'tracking:read']
const operator = [...reads, 'tracking:write']
const manager = [...operator, 'assets:write', 'locations:write']
const roleScopes = {
  viewer: reads,
  operator,
  manager,
  admin: [...manager, 'keys:admin', 'webhooks:admin', 'members:admin'],
}
const roles = Object.keys(roleScopes) as (keyof typeof roleScopes)[]

/** The scopes of the single operations. A job needs the scope of its kind. */
const bulkScopes = {
  'POST /bulk/assets': 'assets:write',
  'POST /bulk/locations': 'locations:write',
  'GET /bulk/jobs/{job_id}': 'assets:write locations:write',
  'GET /bulk/jobs/{job_id}/errors': 'assets:write locations:write',
  'GET /bulk/assets': 'assets:read',
  'GET /bulk/locations': 'locations:read',
  'GET /bulk/history': 'tracking:read',
  'GET /bulk/moves': 'tracking:read',
}

let org: TestOrg
const tokens: Record<string, string> = {}
const clients: Record<string, Client> = {}

beforeAll(async () => {
  org = await context.app.newOrg()
  for (const scope of credentialScopes) clients[scope] = org.client(scope)
  for (const role of roles) tokens[role] = (await org.signIn(role)).accessToken
})

/** Passes the scope check and fails at an unknown id or a body that is not JSON, so nothing changes. */
function harmless(route: AnyRoute): [path: string, options: SendOptions] {
  const path = routePathWith(route, (name) => (name === 'org_id' ? org.orgId : nowhere))
  const type = bodyTypeOf(route)
  return [path, type === undefined ? {} : { raw: '{', headers: { 'content-type': type } }]
}

const ask = (route: AnyRoute, token?: string): Promise<Reply> => {
  const [path, options] = harmless(route)
  return context.app.anonymous(route.method, path, token === undefined ? options : { ...options, token })
}

function expectAllowed(route: AnyRoute, reply: Reply): void {
  const expected = bodyTypeOf(route) !== undefined && !route.path.includes('{') ? [400] : [200, 202, 400, 404]
  expect(expected, `${route.id}: ${reply.text}`).toContain(reply.status)
  if (reply.status === 400) expect(reply.json.error.type).toBe('bad_request')
}

/** The first scope that is missing; one of several suffices for some routes. */
function missingScope(route: AnyRoute, granted: readonly string[]): string | undefined {
  if (route.needsAnyScope && route.scopes.some((one) => granted.includes(one))) return undefined
  return route.scopes.find((one) => !granted.includes(one))
}

const label = (route: AnyRoute) => [route.method, pathTemplateOf(route), route] as const
const isPublic = (route: AnyRoute): boolean => route.access === 'public'
const isDestructive = (route: AnyRoute): boolean => ['auth.logout', 'auth.logout-everywhere'].includes(route.id)

describe('Without a token', () => {
  it.each(allRoutes.filter((route) => !isPublic(route)).map(label))('%s %s is 401', async (_method, _path, route) => {
    expectApiError(await ask(route), 'unauthorized', { detail: 'Missing authorization header' })
  })

  it('the only public operations are the token exchange, signing in, and links that were sent by mail', () => {
    expect(allRoutes.filter(isPublic).map((route) => `${route.method} ${pathTemplateOf(route)}`)).toEqual([
      'POST /api/v1/oauth/token',
      'POST /api/v1/auth/login',
      'POST /api/v1/auth/signup',
      'POST /api/v1/auth/refresh',
      'POST /api/v1/auth/password-reset',
      'POST /api/v1/auth/password-reset/confirm',
      'POST /api/v1/auth/email-confirmation/confirm',
      'POST /api/v1/auth/invitations/lookup',
      'POST /api/v1/auth/invitations/accept',
      'POST /natural/api/v1/oauth/token',
    ])
  })

  it.each(allRoutes.filter(isPublic).map(label))(
    '%s %s is validated by its body alone',
    async (_method, _path, route) => {
      for (const token of [undefined, 'bad']) expectApiError(await ask(route, token), 'bad_request')
    },
  )
})

describe('With a credential of one scope', () => {
  const rows = allRoutes.filter((route) => route.access === 'any' || route.access === 'credential')

  it.each(rows.map(label))(
    '%s %s accepts its own scope and names it in the error for every other scope',
    async (_method, _path, route) => {
      for (const scope of credentialScopes) {
        const [path, options] = harmless(route)
        const reply = await clients[scope]!.send(route.method, path, options)
        const granted = [scope, ...(implied[scope] ?? [])]
        const missing = missingScope(route, granted)
        if (missing === undefined) expectAllowed(route, reply)
        else expectApiError(reply, 'forbidden', { detail: `Missing required scope: ${missing}` })
      }
    },
  )

  it('every operation but orgs/me requires exactly one scope of the contract', () => {
    const primary = rows.filter((route) => !naturalRoutes.includes(route))
    const scopes = Object.fromEntries(primary.map((route) => [`${route.method} ${route.path}`, route.scopes.join(' ')]))
    expect(scopes).toMatchObject({
      'GET /orgs/me': '',
      'GET /assets': 'assets:read',
      'POST /assets': 'assets:write',
      'GET /assets/{asset_id}': 'assets:read',
      'PATCH /assets/{asset_id}': 'assets:write',
      'DELETE /assets/{asset_id}': 'assets:write',
      'POST /assets/{asset_id}/rename': 'assets:write',
      'POST /assets/{asset_id}/tags': 'assets:write',
      'DELETE /assets/{asset_id}/tags/{tag_id}': 'assets:write',
      'GET /locations': 'locations:read',
      'POST /locations': 'locations:write',
      'GET /locations/{location_id}': 'locations:read',
      'PATCH /locations/{location_id}': 'locations:write',
      'DELETE /locations/{location_id}': 'locations:write',
      'POST /locations/{location_id}/rename': 'locations:write',
      'POST /locations/{location_id}/tags': 'locations:write',
      'DELETE /locations/{location_id}/tags/{tag_id}': 'locations:write',
      'GET /locations/{location_id}/ancestors': 'locations:read',
      'GET /locations/{location_id}/children': 'locations:read',
      'GET /locations/{location_id}/descendants': 'locations:read',
      ...bulkScopes,
    })
    const tracking = rows.filter((route) => /\/(history|reports)\b/.test(route.path))
    for (const route of tracking) expect(route.scopes).toEqual(['tracking:read'])
    const empty = rows.filter((route) => route.scopes.length === 0).map(pathTemplateOf)
    expect(empty).toEqual(['/api/v1/orgs/me', '/natural/api/v1/orgs/me'])
  })

  it('the natural-key operations require the scopes of their kind, tree reads included (D35)', () => {
    const scopes = naturalRoutes.map((route) => [`${route.method} ${route.path}`, route.scopes.join(' ')])
    expect(Object.fromEntries(scopes)).toEqual({
      'POST /oauth/token': '',
      'GET /orgs/me': '',
      'POST /inventory/save': 'tracking:write',
      ...bulkScopes,
      'GET /live': 'tracking:read',
      'GET /assets': 'assets:read',
      'POST /assets': 'assets:write',
      'GET /assets/{identifier}': 'assets:read',
      'PUT /assets/{identifier}': 'assets:write',
      'DELETE /assets/{identifier}': 'assets:write',
      'GET /assets/{identifier}/history': 'tracking:read',
      'POST /assets/{identifier}/identifiers': 'assets:write',
      'DELETE /assets/{identifier}/identifiers/{identifierId}': 'assets:write',
      'GET /locations': 'locations:read',
      'POST /locations': 'locations:write',
      'GET /locations/{identifier}': 'locations:read',
      'PUT /locations/{identifier}': 'locations:write',
      'DELETE /locations/{identifier}': 'locations:write',
      'GET /locations/{identifier}/ancestors': 'locations:read',
      'GET /locations/{identifier}/children': 'locations:read',
      'GET /locations/{identifier}/descendants': 'locations:read',
      'POST /locations/{identifier}/identifiers': 'locations:write',
      'DELETE /locations/{identifier}/identifiers/{identifierId}': 'locations:write',
      'GET /locations/current': 'tracking:read',
    })
  })

  it.each(allRoutes.filter((route) => route.access === 'session').map(label))(
    '%s %s is 403 whatever its scope: a scope is missing, or a signed-in user is required (D40)',
    async (_method, _path, route) => {
      for (const scope of credentialScopes) {
        const reply = await ask(route, await clients[scope]!.token())
        const missing = missingScope(route, [scope, ...(implied[scope] ?? [])])
        const detail = missing === undefined ? 'A signed-in user is required' : `Missing required scope: ${missing}`
        expectApiError(reply, 'forbidden', { detail })
        expect(Number(reply.headers['x-ratelimit-remaining'])).toBeLessThan(120)
      }
    },
  )
})

describe('With a session of one role', () => {
  const rows = allRoutes.filter((route) => !isPublic(route) && !isDestructive(route))

  it.each(rows.map(label))('%s %s accepts the roles that have its scope (D39)', async (_method, _path, route) => {
    for (const role of roles) {
      const reply = await ask(route, tokens[role])
      const missing = missingScope(route, roleScopes[role])
      if (route.access === 'credential') expectApiError(reply, 'unauthorized', { detail: 'Invalid or expired token' })
      else if (missing === undefined) expectAllowed(route, reply)
      else expectApiError(reply, 'forbidden', { detail: `Missing required scope: ${missing}` })
      expect(reply.headers['x-ratelimit-remaining']).toBe('120')
    }
  })
})
