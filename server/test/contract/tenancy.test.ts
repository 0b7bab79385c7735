import { beforeAll, describe, expect, it } from 'vitest'
import type { AnyRoute } from '../../src/http/route.ts'
import { type TestOrg, useApp } from '../support/app.ts'
import { type Client, type Reply, send } from '../support/client.ts'
import { expectApiError } from '../support/error-response.ts'
import { validBody } from '../support/example-bodies.ts'
import { pathTemplateOf, allRoutes, routePath, routePathWith } from '../support/all-routes.ts'
import { useSnapshotDatabase } from '../support/tenant-snapshot.ts'

const context = useApp()
const database = useSnapshotDatabase(context)

let mine: TestOrg
let theirs: TestOrg
let me: Client
let outsider: Client
let session: string
let keyId: number
const ids: Record<string, number> = {}
const own: Record<string, number> = {}

beforeAll(async () => {
  mine = await context.app.newOrg('Mine')
  theirs = await context.app.newOrg('Theirs')
  me = mine.full
  outsider = theirs.full
  const parent = await me.post('/api/v1/locations', { external_key: 'HALL', name: 'Secret hall' })
  const location = await me.post('/api/v1/locations', {
    external_key: 'DOCK',
    name: 'Dock',
    parent_external_key: 'HALL',
  })
  const tags = [{ tag_type: 'rfid', value: 'E280SECRET' }]
  const asset = await me.post('/api/v1/assets', { external_key: 'LIFT', name: 'Secret lift', tags })
  ids['asset_id'] = asset.json.data.id
  ids['location_id'] = parent.json.data.id
  ids['tag_id'] = asset.json.data.tags[0].id
  ids['child_id'] = location.json.data.id
  ids['org_id'] = mine.orgId
  const admin = (await mine.signIn('admin')).accessToken
  const body = { name: 'k', scopes: ['assets:read'] }
  const key = await context.app.anonymous('POST', `/api/v1/orgs/${mine.orgId}/api-keys`, { token: admin, json: body })
  keyId = key.json.data.id
  ids['key_id'] = keyId
  const invited = { email: 'grace@example.com', role: 'viewer' }
  const invitation = await context.app.anonymous('POST', '/api/v1/invitations', { token: admin, json: invited })
  ids['invitation_id'] = invitation.json.data.id
  ids['user_id'] = (await context.app.anonymous('GET', '/api/v1/auth/me', { token: admin })).json.data.id
  ids['reader_id'] = (
    await context.app.anonymous('POST', '/api/v1/readers', { token: admin, json: { name: 'Secret gate' } })
  ).json.data.id
  ids['import_id'] = (
    await context.app.anonymous('POST', '/api/v1/imports', { token: admin, json: { kind: 'assets' } })
  ).json.data.id
  ids['job_id'] = ids['import_id']!
  const view = { name: 'Secret view', search: '' }
  ids['view_id'] = (await context.app.anonymous('POST', '/api/v1/views', { token: admin, json: view })).json.data.id
  own['asset_id'] = (await outsider.post('/api/v1/assets', { name: 'Their own' })).json.data.id
  own['location_id'] = (await outsider.post('/api/v1/locations', { name: 'Their own' })).json.data.id
  session = (await theirs.signIn('admin')).accessToken
})

/**
 * Text that identifies the organization: a response to another organization must not contain any of it.
 * Each contains a letter that no ULID has (I, L, O, U) or is long, so that no request id matches by chance.
 */
const secrets = ['HALL', 'DOCK', 'LIFT', 'Secret', 'E280SECRET']

function expectNoForeignData(reply: Reply): void {
  for (const secret of secrets) expect(reply.text).not.toContain(secret)
}

const label = (route: AnyRoute) => [route.method, pathTemplateOf(route), route] as const

/** Both kinds of caller, each with all permissions in another organization. */
async function outsiders(route: AnyRoute): Promise<string[]> {
  if (route.access === 'session') return [session]
  return route.access === 'any' ? [await outsider.token(), session] : [await outsider.token()]
}

async function askAs(token: string, route: AnyRoute, fill: (name: string) => number | string): Promise<Reply> {
  const json = validBody(route)
  const path = routePathWith(route, fill)
  return send(context.app.url, route.method, path, json === undefined ? { token } : { token, json })
}

describe('A caller of another organization with every scope', () => {
  // D24 covers assets and locations; records of the session API are 404 in another organization.
  const elsewhere = ['reader_id', 'user_id', 'invitation_id', 'import_id', 'job_id', 'webhook_id', 'view_id']
  const isElsewhere = (route: AnyRoute): boolean => route.ids?.some((name) => elsewhere.includes(name)) ?? false
  const byId = allRoutes.filter((route) => route.ids !== undefined && route.keys === undefined && !isElsewhere(route))

  it.each(allRoutes.filter(isElsewhere).map(label))(
    '%s %s is 404 on the ids of the first organization, and nothing changes',
    async (_m, _p, route) => {
      const before = await database.snapshot(mine.orgId)
      const reply = await askAs(session, route, (name) => ids[name]!)
      expectApiError(reply, 'not_found')
      expectNoForeignData(reply)
      expect(await database.snapshot(mine.orgId)).toBe(before)
    },
  )

  it.each(byId.map((route) => [...label(route), route.ids!.includes('tag_id') ? 404 : 403] as const))(
    '%s %s on the ids of the first organization is 403, or 404 for a tag, and nothing changes [D24]',
    async (_m, _p, route, status) => {
      const before = await database.snapshot(mine.orgId)
      for (const token of await outsiders(route)) {
        const reply = await askAs(token, route, (name) => ids[name]!)
        expectApiError(reply, status === 404 ? 'not_found' : 'forbidden')
        expectNoForeignData(reply)
      }
      expect(await database.snapshot(mine.orgId)).toBe(before)
    },
  )

  const byKey = allRoutes.filter((route) => route.keys !== undefined)

  it.each(byKey.map(label))(
    '%s %s is 404 on the keys of the first organization, and nothing changes',
    async (_m, _p, route) => {
      const before = await database.snapshot(mine.orgId)
      const key = route.path.startsWith('/assets') ? 'LIFT' : 'HALL'
      for (const token of await outsiders(route)) {
        const reply = await askAs(token, route, (name) => (name === 'identifier' ? key : ids['tag_id']!))
        expectApiError(reply, 'not_found', { instance: expect.stringContaining(key) as never })
        for (const secret of ['Secret', 'E280SECRET']) expect(reply.text).not.toContain(secret)
      }
      expect(await database.snapshot(mine.orgId)).toBe(before)
    },
  )

  const withTag = byId.filter((route) => route.ids!.includes('tag_id'))

  it.each(withTag.map(label))(
    '%s %s is 404 on a tag of the first organization under an own record, and on an unknown tag under the first organization’s record [D24]',
    async (_m, _p, route) => {
      const before = await database.snapshot(mine.orgId)
      for (const token of await outsiders(route)) {
        const reply = await askAs(token, route, (name) => (name === 'tag_id' ? ids[name]! : own[name]!))
        expectApiError(reply, 'not_found')
        // An unknown tag under a record of the first organization.
        expectApiError(await askAs(token, route, (name) => (name === 'tag_id' ? 7 : ids[name]!)), 'not_found')
      }
      expect(await database.snapshot(mine.orgId)).toBe(before)
    },
  )

  it('cannot revoke a key of the first organization by its id, which is 404', async () => {
    const path = `/api/v1/orgs/${theirs.orgId}/api-keys/${keyId}`
    expectApiError(await context.app.anonymous('DELETE', path, { token: session }), 'not_found')
    const [row] = await database.sql`select revoked_at from credentials where id = ${keyId}`
    expect(row!['revoked_at']).toBeNull()
  })

  const lists = allRoutes.filter(
    (route) => route.method === 'GET' && !route.path.includes('{') && route.query !== undefined,
  )

  it.each(lists.map(label))(
    '%s %s shows nothing of the first organization, whatever the query',
    async (_m, _p, route) => {
      const questions = ['', 'include_deleted=true', 'limit=200', 'q=secret', 'external_key=LIFT&external_key=DOCK']
      const pairs = [`parent_id=${ids['location_id']}`, 'parent_external_key=HALL', `asset_id=${ids['asset_id']}`]
      const natural = ['location=DOCK', 'parent=HALL', 'type=asset', 'sort=-path']
      for (const query of [...questions, ...pairs, ...natural])
        for (const token of await outsiders(route)) {
          const reply = await context.app.anonymous('GET', routePath(route), { token, query })
          expect([200, 400], reply.text).toContain(reply.status)
          expectNoForeignData(reply)
          // Only lists have a total.
          if (reply.json?.total_count !== undefined) expect(reply.json.total_count).toBe(reply.json.data.length)
        }
    },
  )

  it('may use the same keys and tags, which are unique per organization', async () => {
    const tags = [{ tag_type: 'rfid', value: 'E280SECRET' }]
    const made = [
      await outsider.post('/api/v1/assets', { external_key: 'LIFT', name: 'x', tags }),
      await outsider.post('/api/v1/locations', { external_key: 'HALL', name: 'x' }),
    ]
    expect(made.map((reply) => reply.status)).toEqual([201, 201])
    for (const reply of made) await outsider.delete(reply.headers['location']!)
  })

  it('cannot place a location under a location of the first organization, by id or by key', async () => {
    const before = await database.snapshot(mine.orgId)
    const path = `/api/v1/locations/${own['location_id']}`
    for (const [field, value] of [
      ['parent_id', ids['location_id']],
      ['parent_external_key', 'HALL'],
    ] as const) {
      const expected = { fields: [{ field, code: 'fk_not_found' }] }
      expectApiError(
        await outsider.post('/api/v1/locations', { name: 'x', [field]: value }),
        'validation_error',
        expected,
      )
      expectApiError(await outsider.patch(path, { [field]: value }), 'validation_error', expected)
    }
    expect(await database.snapshot(mine.orgId)).toBe(before)
  })

  it('gets 404 instead of 403 once the first organization has deleted the record (D24)', async () => {
    const made = await me.post('/api/v1/assets', { name: 'going' })
    const path = `/api/v1/assets/${made.json.data.id}`
    expectApiError(await outsider.get(path), 'forbidden')
    await me.delete(path)
    expectApiError(await outsider.get(path), 'not_found')
    expectApiError(await outsider.patch(path, { name: 'x' }), 'not_found')
    expectApiError(await outsider.delete(path), 'not_found')
  })

  it('gets 404 for a location id in an asset path and the other way round', async () => {
    expectApiError(await outsider.get(`/api/v1/assets/${ids['location_id']}`), 'not_found')
    expectApiError(await outsider.get(`/api/v1/locations/${ids['asset_id']}`), 'not_found')
    expectApiError(await me.get(`/api/v1/locations/${ids['asset_id']}`), 'not_found')
  })
})
