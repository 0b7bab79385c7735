import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type TestApp, type TestOrg, startApp, useApp } from '../../support/app.ts'
import {
  type TestUser,
  requestAs,
  login,
  createSignedInUser,
  password,
  refreshSession,
  signIn,
  sessionStatus,
  tokenFromLink,
} from '../../support/accounts.ts'
import { ManualClock, useSql } from '../../support/auth.ts'
import type { Reply } from '../../support/client.ts'
import { expectApiError } from '../../support/error-response.ts'

const lines: string[] = []
const clock = new ManualClock()
const context = useApp({ clock, notifyOperator: (line) => lines.push(line) })
const database = useSql(context)
let second: TestApp
let preview: TestApp
beforeAll(async () => {
  second = await startApp({ sharesDatabaseWith: context.app, clock })
  preview = await startApp({ sharesDatabaseWith: context.app, clock, settings: { LASTSEEN_ENVIRONMENT: 'preview' } })
})
afterAll(async () => {
  await second.stop()
  await preview.stop()
})

let org: TestOrg
let user: TestUser
beforeEach(async () => {
  org = await context.app.newOrg('Northwind')
  user = await createSignedInUser(org, 'viewer')
  clock.advance(61)
  user = await signIn(context.app, user.email, password)
  lines.length = 0
})

const next = 'another horse battery'
const post = (path: string, json: object, app = context.app): Promise<Reply> =>
  app.anonymous('POST', `/api/v1/auth/${path}`, { json })
const change = (who: TestUser, current: string, wanted = next): Promise<Reply> =>
  requestAs(context.app, who, 'POST', '/auth/password', { json: { current_password: current, new_password: wanted } })

/** Requests a link and waits until it is printed for the operator. */
async function linkFor(email: string): Promise<string> {
  const before = lines.length
  expect((await post('password-reset', { email })).status).toBe(202)
  await expect.poll(() => lines.length).toBe(before + 1)
  return lines.at(-1)!.split(': ')[1]!
}

describe('GET /auth/me', () => {
  it('returns the same user data as signing in', async () => {
    const reply = await requestAs(context.app, user, 'GET', '/auth/me')
    const signedIn = await login(context.app, user.email, password)
    expect([reply.status, reply.json]).toEqual([200, { data: signedIn.json.data.user }])
    expect(reply.json.data).toEqual({
      id: user.userId,
      email: user.email,
      email_confirmed: true,
      role: 'viewer',
      org: { id: org.orgId, name: 'Northwind', role: 'viewer' },
      orgs: [{ id: org.orgId, name: 'Northwind', role: 'viewer' }],
    })
  })
})

describe('POST /auth/logout-everywhere', () => {
  it('ends every session of the user at once, in every organization and process', async () => {
    const other = await context.app.newOrg('Other')
    await database.sql`insert into memberships values (${user.userId}, ${other.orgId}, 'admin', now())`
    const there = await requestAs(context.app, user, 'POST', '/auth/switch-org', { json: { org_id: other.orgId } })
    const inOther = { token: there.json.data.access_token, refreshToken: there.json.data.refresh_token }
    const inFirst = await signIn(context.app, user.email, password)
    const outsider = await createSignedInUser(org, 'viewer')
    for (const one of [inOther, inFirst]) expect(await sessionStatus(second, one)).toBe(200)
    expect((await requestAs(context.app, inFirst, 'POST', '/auth/logout-everywhere')).status).toBe(204)
    for (const one of [inOther, inFirst]) {
      expect(await sessionStatus(context.app, one)).toBe(401)
      await expect.poll(() => sessionStatus(second, one)).toBe(401)
      expectApiError(await refreshSession(context.app, one), 'unauthorized')
    }
    expect(await sessionStatus(context.app, outsider)).toBe(200)
    expect((await login(context.app, user.email, password)).status).toBe(200)
  })
})

describe('POST /auth/password', () => {
  it('changes the password, keeps this session and ends the others', async () => {
    const elsewhere = await signIn(context.app, user.email, password)
    const reply = await change(user, password)
    expect([reply.status, reply.text]).toEqual([204, ''])
    expect(await sessionStatus(context.app, user)).toBe(200)
    expect((await refreshSession(context.app, user)).status).toBe(200)
    expect(await sessionStatus(context.app, elsewhere)).toBe(401)
    expectApiError(await refreshSession(context.app, elsewhere), 'unauthorized')
    expectApiError(await login(context.app, user.email, password), 'unauthorized')
    expect((await login(context.app, user.email, next)).status).toBe(200)
  })

  it('invalidates links to reset it', async () => {
    const token = tokenFromLink(await linkFor(user.email))
    expect((await change(user, password)).status).toBe(204)
    expectApiError(await post('password-reset/confirm', { token, new_password: next }), 'validation_error')
  })

  it('rejects a wrong current password and changes nothing', async () => {
    const elsewhere = await signIn(context.app, user.email, password)
    expectApiError(await change(user, 'wrong horse battery'), 'validation_error', {
      fields: [{ field: 'current_password', code: 'invalid_value' }],
    })
    expect(await sessionStatus(context.app, elsewhere)).toBe(200)
    expect((await login(context.app, user.email, password)).status).toBe(200)
  })

  it('rejects a new password of nine characters', async () => {
    expectApiError(await change(user, password, '123456789'), 'validation_error', {
      fields: [{ field: 'new_password', code: 'too_short', params: { min_length: 10 } }],
    })
  })

  it('is throttled together with signing in: after 20 failures in a minute both are 429 (D41)', async () => {
    for (let tries = 0; tries < 20; tries++) expect((await change(user, 'wrong')).status).toBe(400)
    expectApiError(await change(user, password), 'rate_limited')
    expectApiError(await login(context.app, user.email, password), 'rate_limited')
    clock.advance(61)
    expect((await change(user, password)).status).toBe(204)
  })
})

describe('POST /auth/password-reset', () => {
  it('prints the link for the operator where no mail server is configured, with the token in the fragment', async () => {
    const link = await linkFor(user.email)
    expect(lines.at(-1)).toBe(`Password reset for ${user.email}: ${link}`)
    // Lines of either server, because two servers are used alternately.
    expect(link).toMatch(/^http:\/\/(127\.0\.0\.1|localhost):\d+\/reset-password#token=[\w-]{43}$/)
  })

  it('stores only the hash of the token', async () => {
    const token = tokenFromLink(await linkFor(user.email))
    const rows = await database.sql`select r::text as whole from password_resets r where user_id = ${user.userId}`
    expect(rows.length).toBe(1)
    expect(rows[0]!['whole']).not.toContain(token)
  })

  it('answers the same for an address that has no account, and sends nothing', async () => {
    const known = await post('password-reset', { email: user.email })
    const unknown = await post('password-reset', { email: 'nobody@example.com' })
    expect([known.status, known.text, unknown.status, unknown.text]).toEqual([202, '', 202, ''])
    await expect.poll(() => lines.length).toBe(1)
    expect(lines[0]).toContain(user.email)
  })

  it('sends one link a minute, however often it is requested', async () => {
    const first = tokenFromLink(await linkFor(user.email.toUpperCase()))
    for (let again = 0; again < 5; again++)
      expect((await post('password-reset', { email: user.email })).status).toBe(202)
    clock.advance(61)
    const last = tokenFromLink(await linkFor(user.email))
    expect(lines.length).toBe(2)
    expect(last).not.toBe(first)
    const [row] = await database.sql`select count(*) from password_resets where user_id = ${user.userId}`
    expect(row!['count']).toBe(2)
  })

  it('is throttled: the 21st request for one address within a minute is 429, account or not', async () => {
    for (const email of [user.email, `nobody-${org.orgId}@example.com`]) {
      for (let times = 0; times < 20; times++) expect((await post('password-reset', { email })).status).toBe(202)
      expectApiError(await post('password-reset', { email }), 'rate_limited')
    }
  })

  it('rejects an invalid e-mail address', async () => {
    expectApiError(await post('password-reset', { email: 'nobody' }), 'validation_error', {
      fields: [{ field: 'email', code: 'invalid_value' }],
    })
  })
})

describe('POST /auth/password-reset/confirm', () => {
  const confirm = (token: string, wanted = next, app = context.app): Promise<Reply> =>
    post('password-reset/confirm', { token, new_password: wanted }, app)
  const invalidToken = { fields: [{ field: 'token', code: 'invalid_value' }] }

  it('sets the password and ends every session, in every process', async () => {
    const token = tokenFromLink(await linkFor(user.email))
    expect(await sessionStatus(second, user)).toBe(200)
    expect((await confirm(token)).status).toBe(204)
    expect(await sessionStatus(context.app, user)).toBe(401)
    await expect.poll(() => sessionStatus(second, user)).toBe(401)
    expectApiError(await refreshSession(context.app, user), 'unauthorized')
    expectApiError(await login(context.app, user.email, password), 'unauthorized')
    expect((await login(context.app, user.email, next)).status).toBe(200)
  })

  it('accepts a link once, also with two concurrent attempts, and invalidates the account’s other links', async () => {
    const other = tokenFromLink(await linkFor(user.email))
    clock.advance(61)
    const token = tokenFromLink(await linkFor(user.email))
    const replies = await Promise.all([confirm(token, 'first horse battery'), confirm(token, 'second horse battery')])
    expect(replies.map((reply) => reply.status).sort()).toEqual([204, 400])
    for (const one of [token, other]) expectApiError(await confirm(one), 'validation_error', invalidToken)
    const winner = replies[0]!.status === 204 ? 'first horse battery' : 'second horse battery'
    expect((await login(context.app, user.email, winner)).status).toBe(200)
  })

  it('accepts a link for an hour', async () => {
    const token = tokenFromLink(await linkFor(user.email))
    clock.advance(3599)
    expectApiError(await confirm(token, 'short'), 'validation_error')
    expect((await confirm(token)).status).toBe(204)
    const late = tokenFromLink(await linkFor(user.email))
    clock.advance(3600)
    expectApiError(await confirm(late), 'validation_error', invalidToken)
  })

  it('does not accept a link of the other environment, even on the same database (D4)', async () => {
    const token = tokenFromLink(await linkFor(user.email))
    expectApiError(await confirm(token, next, preview), 'validation_error', invalidToken)
    expect((await confirm(token)).status).toBe(204)
  })

  it.each([
    ['an unknown token', 'A'.repeat(43)],
    ['something that is no token', 'x'],
  ])('rejects %s and changes nothing', async (_what, token) => {
    expectApiError(await confirm(token), 'validation_error', invalidToken)
    expect((await login(context.app, user.email, password)).status).toBe(200)
  })
})
