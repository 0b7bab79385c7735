import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Role, roleScopes } from '../../../src/kernel/scopes.ts'
import { createUser } from '../../../src/users/commands.ts'
import { type TestOrg, useApp } from '../../support/app.ts'
import { ManualClock, claimsOf, newTokens, useSql } from '../../support/auth.ts'
import type { Reply, SendOptions } from '../../support/client.ts'
import { expectApiError } from '../../support/error-response.ts'

const clock = new ManualClock()
const context = useApp({ clock })
const database = useSql(context)
const password = 'correct horse battery'

let org: TestOrg
beforeAll(async () => {
  org = await context.app.newOrg('Northwind')
})

const send = (token: string, method: string, path: string, options: SendOptions = {}): Promise<Reply> =>
  context.app.anonymous(method, path, { ...options, token })

const keysPath = (where: TestOrg): string => `/api/v1/orgs/${where.orgId}/api-keys`

/** The permissions of a session, by the status of one request for each scope. */
async function abilities(token: string): Promise<Record<string, number>> {
  const body = { json: { name: 'a' } }
  const replies = {
    'assets:read': await send(token, 'GET', '/api/v1/assets'),
    'locations:read': await send(token, 'GET', '/api/v1/locations'),
    'assets:write': await send(token, 'POST', '/api/v1/assets', body),
    'locations:write': await send(token, 'POST', '/api/v1/locations', body),
    'keys:admin': await send(token, 'GET', keysPath(org)),
  }
  for (const [scope, reply] of Object.entries(replies))
    if (reply.status === 403) expectApiError(reply, 'forbidden', { detail: `Missing required scope: ${scope}` })
  return Object.fromEntries(Object.entries(replies).map(([scope, reply]) => [scope, reply.status]))
}

const reads = { 'assets:read': 200, 'locations:read': 200 }
const noWrites = { 'assets:write': 403, 'locations:write': 403 }
const writes = { 'assets:write': 201, 'locations:write': 201 }
const allowed: Record<Role, Record<string, number>> = {
  viewer: { ...reads, ...noWrites, 'keys:admin': 403 },
  operator: { ...reads, ...noWrites, 'keys:admin': 403 },
  manager: { ...reads, ...writes, 'keys:admin': 403 },
  admin: { ...reads, ...writes, 'keys:admin': 200 },
}

describe('A role (D39)', () => {
  it.each<[Role, string[]]>([
    ['viewer', ['assets:read', 'locations:read', 'tracking:read']],
    ['operator', ['assets:read', 'locations:read', 'tracking:read', 'tracking:write']],
    [
      'manager',
      ['assets:read', 'assets:write', 'locations:read', 'locations:write', 'tracking:read', 'tracking:write'],
    ],
    [
      'admin',
      [
        'assets:read',
        'assets:write',
        'keys:admin',
        'locations:read',
        'locations:write',
        'tracking:read',
        'tracking:write',
      ],
    ],
  ])('%s holds the scopes %j', (role, scopes) => {
    expect(roleScopes[role].filter((scope) => /^(assets|locations|tracking|keys):/.test(scope)).sort()).toEqual(scopes)
  })

  it.each(Object.entries(allowed) as [Role, Record<string, number>][])('%s can do %j', async (role, expected) => {
    const { accessToken } = await org.signIn(role)
    expect(await abilities(accessToken)).toEqual(expected)
  })

  it('applies to its own organization only', async () => {
    const other = await context.app.newOrg('Other')
    const made = await other.full.post('/api/v1/assets', { name: 'Theirs' })
    const { accessToken } = await org.signIn('admin')
    expectApiError(await send(accessToken, 'GET', `/api/v1/assets/${made.json.data.id}`), 'forbidden')
    expectApiError(await send(accessToken, 'GET', keysPath(other)), 'forbidden')
  })
})

describe('A membership that changes in the database', () => {
  let user: Awaited<ReturnType<TestOrg['signIn']>>
  let userId: number
  beforeEach(async () => {
    user = await org.signIn('admin')
    userId = Number(claimsOf(user.accessToken)['sub'])
    expect(await abilities(user.accessToken)).toEqual(allowed.admin)
  })

  const setRole = (role: Role) =>
    database.sql`update memberships set role = ${role} where user_id = ${userId} and org_id = ${org.orgId}`
  const leave = () => database.sql`delete from memberships where user_id = ${userId} and org_id = ${org.orgId}`
  const renew = (): Promise<Reply> =>
    context.app.anonymous('POST', '/api/v1/auth/refresh', { json: { refresh_token: user.refreshToken } })

  it.each<Role>(['viewer', 'operator', 'manager'])(
    'to the role %s applies to tokens issued before within a minute',
    async (role) => {
      await setRole(role)
      clock.advance(60)
      expect(await abilities(user.accessToken)).toEqual(allowed[role])
    },
  )

  it('to a higher role applies to tokens issued before', async () => {
    await setRole('viewer')
    clock.advance(60)
    expect(await abilities(user.accessToken)).toEqual(allowed.viewer)
    await setRole('admin')
    clock.advance(60)
    expect(await abilities(user.accessToken)).toEqual(allowed.admin)
  })

  it('is shown in the response to the next refresh', async () => {
    await setRole('operator')
    clock.advance(60)
    const reply = await renew()
    expect(reply.json.data.user.role).toBe('operator')
    expect(await abilities(reply.json.data.access_token)).toEqual(allowed.operator)
  })

  it('by removal gives 401 on every token, on the refresh and on the next sign-in', async () => {
    await leave()
    clock.advance(60)
    expectApiError(await send(user.accessToken, 'GET', '/api/v1/assets'), 'unauthorized')
    expectApiError(await renew(), 'unauthorized')
    const json = { email: user.email, password: user.password }
    expectApiError(await context.app.anonymous('POST', '/api/v1/auth/login', { json }), 'unauthorized')
  })
})

describe('POST /api/v1/auth/switch-org (D39)', () => {
  let other: TestOrg
  let session: { access_token: string; refresh_token: string; userId: number }
  beforeEach(async () => {
    other = await context.app.newOrg('Other')
    const email = `switcher-${other.orgId}@example.com`
    const { userId } = await createUser(context.app.context, org.orgId, { email, password, role: 'admin' })
    clock.advance(1)
    await database.sql`insert into memberships (user_id, org_id, role, created_at)
      values (${userId}, ${other.orgId}, 'viewer', ${new Date(clock.millis()).toISOString()})`
    const reply = await context.app.anonymous('POST', '/api/v1/auth/login', { json: { email, password } })
    session = { ...reply.json.data, userId }
  })

  const switchTo = (orgId: unknown, token = session.access_token): Promise<Reply> =>
    send(token, 'POST', '/api/v1/auth/switch-org', { json: { org_id: orgId } })

  it('is preceded by a session in the organization the user joined first', async () => {
    expect(claimsOf(session.access_token)['org']).toBe(org.orgId)
    expect((await send(session.access_token, 'GET', keysPath(org))).status).toBe(200)
  })

  it('answers with a session in the other organization with the role held there', async () => {
    const made = await other.full.post('/api/v1/assets', { name: 'There' })
    const reply = await switchTo(other.orgId)
    expect(reply.status).toBe(200)
    expect(reply.headers['cache-control']).toBe('no-store')
    expect(reply.json.data).toMatchObject({ token_type: 'Bearer', expires_in: 900, user: { role: 'viewer' } })
    const token = reply.json.data.access_token as string
    const list = await send(token, 'GET', '/api/v1/assets')
    expect(list.json.data.map((row: { id: number }) => row.id)).toEqual([made.json.data.id])
    const write = await send(token, 'POST', '/api/v1/assets', { json: { name: 'a' } })
    expectApiError(write, 'forbidden', { detail: 'Missing required scope: assets:write' })
    expectApiError(await send(token, 'GET', keysPath(org)), 'forbidden')
  })

  it('ends the previous session', async () => {
    expect((await switchTo(other.orgId)).status).toBe(200)
    expectApiError(await send(session.access_token, 'GET', '/api/v1/assets'), 'unauthorized')
    const json = { refresh_token: session.refresh_token }
    expectApiError(await context.app.anonymous('POST', '/api/v1/auth/refresh', { json }), 'unauthorized')
  })

  it('gives a refresh token for the new organization', async () => {
    const { refresh_token: token } = (await switchTo(other.orgId)).json.data
    const reply = await context.app.anonymous('POST', '/api/v1/auth/refresh', { json: { refresh_token: token } })
    expect(reply.status).toBe(200)
    expect(claimsOf(reply.json.data.access_token)['org']).toBe(other.orgId)
  })

  it.each([
    ['the other organization', () => other.orgId],
    ['the current organization', () => org.orgId],
  ])('does not extend the 30 days since signing in, to %s', async (_what, orgId) => {
    const renew = async ({ refresh_token }: { refresh_token: string }): Promise<Reply> =>
      context.app.anonymous('POST', '/api/v1/auth/refresh', { json: { refresh_token } })
    clock.advance(29 * 24 * 3600)
    const renewed = await renew(session)
    const switched = await switchTo(orgId(), renewed.json.data.access_token)
    const last = await renew(switched.json.data)
    expect(last.status).toBe(200)
    clock.advance(24 * 3600)
    expectApiError(await renew(last.json.data), 'unauthorized', { detail: 'The session expired' })
  })

  it.each([
    ['an organization the person is not in', async () => (await context.app.newOrg()).orgId],
    ['an organization that does not exist', async () => 1],
  ])('answers 403 to %s and keeps the session', async (_what, orgId) => {
    expectApiError(await switchTo(await orgId()), 'forbidden')
    expect((await send(session.access_token, 'GET', '/api/v1/assets')).status).toBe(200)
  })

  it('answers 400 to an organization that is not an integer', async () => {
    const params = { expected_type: 'integer', received_type: 'string' }
    const fields = [{ field: 'org_id', code: 'invalid_value', params }]
    expectApiError(await switchTo(String(other.orgId)), 'validation_error', { fields })
  })

  it('answers 403 to the token of an API credential', async () => {
    const { access } = await newTokens(other)
    expectApiError(await switchTo(other.orgId, access), 'forbidden')
  })
})
