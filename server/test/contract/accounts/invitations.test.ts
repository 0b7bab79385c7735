import { beforeEach, describe, expect, it } from 'vitest'
import type { Role } from '../../../src/kernel/scopes.ts'
import { type TestOrg, useApp } from '../../support/app.ts'
import {
  type TestUser,
  requestAs,
  login,
  newEmail,
  createSignedInUser,
  password,
  sessionStatus,
  tokenFromLink,
} from '../../support/accounts.ts'
import { ManualClock, useSql } from '../../support/auth.ts'
import type { Reply } from '../../support/client.ts'
import { expectApiError } from '../../support/error-response.ts'

const clock = new ManualClock()
const context = useApp({ clock, settings: { LASTSEEN_BASE_URL: 'https://track.example.com/' } })
const database = useSql(context)

let org: TestOrg
let admin: TestUser
beforeEach(async () => {
  org = await context.app.newOrg('Northwind')
  admin = await createSignedInUser(org, 'admin')
})

const post = (path: string, json: object): Promise<Reply> =>
  context.app.anonymous('POST', `/api/v1/auth/invitations/${path}`, { json })
const inviting = (email: string, role: Role = 'operator', who = admin): Promise<Reply> =>
  requestAs(context.app, who, 'POST', '/invitations', { json: { email, role } })
async function invited(email: string, role: Role = 'operator'): Promise<{ id: number; token: string }> {
  const reply = await inviting(email, role)
  expect(reply.status, reply.text).toBe(201)
  return { id: reply.json.data.id, token: tokenFromLink(reply.json.data.link) }
}
const list = async (): Promise<{ id: number }[]> =>
  (await requestAs(context.app, admin, 'GET', '/invitations')).json.data
const invalidToken = { fields: [{ field: 'token', code: 'invalid_value' }] }

describe('POST /invitations', () => {
  it('answers with a link that is shown only once and is valid for seven days', async () => {
    const email = newEmail()
    const reply = await inviting(email.toUpperCase(), 'manager')
    expect(reply.status).toBe(201)
    expect(reply.headers['cache-control']).toBe('private, no-store')
    const { link, ...rest } = reply.json.data
    expect(link).toMatch(/^https:\/\/track\.example\.com\/join#token=lsi_\w+\.\w+\.[\w-]{43}$/)
    const at = (days: number) => new Date(clock.millis() + days * 86_400_000).toISOString()
    expect(rest).toEqual({ id: expect.any(Number), email, role: 'manager', created_at: at(0), expires_at: at(7) })
    expect(await list()).toEqual([rest])
    const [row] = await database.sql`select i::text as whole from invitations i where id = ${rest.id}`
    expect(row!['whole']).not.toContain(tokenFromLink(link).split('.')[2])
  })

  it('allows one open invitation per address, and a new one once it has expired', async () => {
    const email = newEmail()
    const { token } = await invited(email)
    expectApiError(await inviting(email.toUpperCase()), 'conflict')
    expect((await list()).length).toBe(1)
    clock.advance(7 * 86_400)
    admin = await signInAgain()
    expect(await list()).toEqual([])
    expect((await inviting(email)).status).toBe(201)
    expectApiError(await post('lookup', { token }), 'validation_error', invalidToken)
  })

  it('rejects the address of a member', async () => {
    expectApiError(await inviting(admin.email), 'conflict')
    expect(await list()).toEqual([])
  })

  it('rejects an unknown role', async () => {
    expectApiError(await inviting(newEmail(), 'owner' as Role), 'validation_error', {
      fields: [{ field: 'role', code: 'invalid_value' }],
    })
  })
})

const signInAgain = async (): Promise<TestUser> => {
  const reply = await login(context.app, admin.email, password)
  return { ...admin, token: reply.json.data.access_token, refreshToken: reply.json.data.refresh_token }
}

describe('GET /invitations', () => {
  it('lists open invitations by address, in pages, without their links', async () => {
    for (const name of ['b', 'a']) await invited(`${name}-${org.orgId}@example.com`)
    const reply = await requestAs(context.app, admin, 'GET', '/invitations', { query: { limit: 1 } })
    expect(reply.json).toMatchObject({ data: [{ email: `a-${org.orgId}@example.com` }], limit: 1, total_count: 2 })
    expect(reply.text).not.toContain('token')
    expect((await requestAs(context.app, admin, 'GET', '/invitations', { query: { offset: 5 } })).json.data).toEqual([])
  })
})

describe('DELETE /invitations/{invitation_id}', () => {
  it('invalidates the link', async () => {
    const { id, token } = await invited(newEmail())
    expect((await requestAs(context.app, admin, 'DELETE', `/invitations/${id}`)).status).toBe(204)
    expectApiError(await post('lookup', { token }), 'validation_error', invalidToken)
    expectApiError(await post('accept', { token, password }), 'validation_error', invalidToken)
    expectApiError(await requestAs(context.app, admin, 'DELETE', `/invitations/${id}`), 'not_found')
  })
})

describe('POST /auth/invitations/lookup', () => {
  it('returns the organization and the role of the invitation', async () => {
    const email = newEmail()
    const { token } = await invited(email)
    const reply = await post('lookup', { token })
    const offer = { email, role: 'operator', organization_name: 'Northwind', has_account: false }
    expect([reply.status, reply.json]).toEqual([200, { data: offer }])
    await createSignedInUser(await context.app.newOrg(), 'viewer', email)
    expect((await post('lookup', { token })).json.data.has_account).toBe(true)
  })

  it.each([
    ['what is no token', () => 'x'],
    ['a token with another secret', (token: string) => `${token.slice(0, -43)}${'A'.repeat(43)}`],
    ['a token of another invitation', (token: string) => token.replace(/\.\w+\./, '.1.')],
    ['a token that names no organization', (token: string) => token.replace(/^lsi_\w+\./, 'lsi_zzzzzzzzzzz.')],
  ])('rejects %s', async (_what, spoil) => {
    const { token } = await invited(newEmail())
    expectApiError(await post('lookup', { token: spoil(token) }), 'validation_error', invalidToken)
  })
})

describe('POST /auth/invitations/accept', () => {
  it('creates an account, joins with the offered role and signs in', async () => {
    const email = newEmail()
    const { token } = await invited(email, 'manager')
    const reply = await post('accept', { token, password })
    expect(reply.status).toBe(201)
    expect(reply.headers['cache-control']).toBe('no-store')
    expect(reply.json.data.user).toMatchObject({ email, role: 'manager', org: { id: org.orgId, name: 'Northwind' } })
    const made = await requestAs(context.app, { token: reply.json.data.access_token }, 'POST', '/assets', {
      json: { name: 'a' },
    })
    expect(made.status).toBe(201)
    expect((await login(context.app, email, password)).status).toBe(200)
    expect(await list()).toEqual([])
    expectApiError(await post('accept', { token, password }), 'validation_error', invalidToken)
  })

  it('requires ten characters for the password of a new account, and leaves the invitation open', async () => {
    const { token } = await invited(newEmail())
    expectApiError(await post('accept', { token, password: '123456789' }), 'validation_error', {
      fields: [{ field: 'password', code: 'too_short', params: { min_length: 10 } }],
    })
    expect((await post('accept', { token, password: '123456789x' })).status).toBe(201)
  })

  it('accepts the password of an existing account, and signs in to the new organization', async () => {
    const home = await context.app.newOrg('Home')
    const user = await createSignedInUser(home, 'admin')
    const { token } = await invited(user.email, 'viewer')
    expectApiError(await post('accept', { token, password: 'wrong horse battery' }), 'validation_error', {
      fields: [{ field: 'password', code: 'invalid_value' }],
    })
    const reply = await post('accept', { token, password })
    expect(reply.status).toBe(201)
    expect(reply.json.data.user).toMatchObject({ id: user.userId, role: 'viewer', org: { id: org.orgId } })
    expect(reply.json.data.user.orgs.map((one: { id: number }) => one.id).sort()).toEqual(
      [home.orgId, org.orgId].sort(),
    )
    expect(await sessionStatus(context.app, user)).toBe(200)
  })

  it('shares the login throttle for that password (D41)', async () => {
    const user = await createSignedInUser(await context.app.newOrg(), 'admin')
    const { token } = await invited(user.email)
    for (let tries = 0; tries < 20; tries++)
      expect((await post('accept', { token, password: 'wrong' })).status).toBe(400)
    expectApiError(await post('accept', { token, password }), 'rate_limited')
    expectApiError(await login(context.app, user.email, password), 'rate_limited')
    clock.advance(61)
    expect((await post('accept', { token, password })).status).toBe(201)
  })

  it('accepts one of two concurrent requests', async () => {
    const email = newEmail()
    const { token } = await invited(email)
    const replies = await Promise.all([post('accept', { token, password }), post('accept', { token, password })])
    expect(replies.map((reply) => reply.status).sort()).toEqual([201, 400])
    const [row] = await database.sql`select count(*) from users where email = ${email}`
    expect(row!['count']).toBe(1)
  })

  it('keeps the role of a user who became a member meanwhile', async () => {
    const user = await createSignedInUser(await context.app.newOrg(), 'viewer')
    const { token } = await invited(user.email, 'viewer')
    await database.sql`insert into memberships values (${user.userId}, ${org.orgId}, 'admin', now())`
    expect((await post('accept', { token, password })).json.data.user.role).toBe('admin')
  })

  it('accepts a link for seven days', async () => {
    const { token } = await invited(newEmail())
    clock.advance(7 * 86_400 - 1)
    expect((await post('lookup', { token })).status).toBe(200)
    clock.advance(1)
    expectApiError(await post('accept', { token, password }), 'validation_error', invalidToken)
  })
})
