import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { mailName } from '../../../src/accounts/mail-name.ts'
import { type TestApp, type TestOrg, startApp } from '../../support/app.ts'
import {
  type TestUser,
  requestAs,
  login,
  newEmail,
  createSignedInUser,
  password,
  refreshSession,
  signIn,
  sessionStatus,
} from '../../support/accounts.ts'
import { ManualClock, exchange, mintKey, refresh } from '../../support/auth.ts'
import type { Reply } from '../../support/client.ts'
import { expectApiError } from '../../support/error-response.ts'
import { MailServer } from '../../support/smtp.ts'

const clock = new ManualClock()
let server: MailServer
let app: TestApp
let org: TestOrg
let admin: TestUser
beforeAll(async () => {
  server = await MailServer.open()
  const singleServerReason = 'token exchanges are limited by each process'
  const settings = { LASTSEEN_MAIL_URL: `smtp://127.0.0.1:${server.port}`, LASTSEEN_EXCHANGE_LIMIT: '30' }
  app = await startApp({ clock, singleServerReason, settings })
})
afterAll(async () => {
  await app.stop()
  await server.close()
})
beforeEach(async () => {
  clock.advance(61)
  org = await app.newOrg('Northwind')
  admin = await createSignedInUser(org, 'admin')
})

const invite = (email: string, who = admin): Promise<Reply> =>
  requestAs(app, who, 'POST', '/invitations', { json: { email, role: 'viewer' } })
const withdraw = (reply: Reply): Promise<Reply> => requestAs(app, admin, 'DELETE', `/invitations/${reply.json.data.id}`)
const day = 86_400
const mailsTo = (email: string): number => server.mails.filter((mail) => mail.to[0] === email).length

describe('Invitations', () => {
  it('to one address are limited to five a day of an organization, and the sixth sends no mail', async () => {
    const email = newEmail()
    for (let turn = 0; turn < 5; turn++) expect((await withdraw(await invite(email))).status).toBe(204)
    const reply = await invite(email)
    expectApiError(reply, 'rate_limited')
    expect(reply.headers['retry-after']).toBe(String(day))
    expect((await invite(newEmail())).status).toBe(201)
    const other = await createSignedInUser(await app.newOrg(), 'admin')
    expect((await invite(email, other)).status).toBe(201)
    await expect.poll(() => mailsTo(email), { timeout: 10_000 }).toBe(6)
    clock.advance(day)
    admin = await signIn(app, admin.email, password)
    expect((await invite(email)).status).toBe(201)
  })

  it('to one address are limited to ten a day of all organizations, and the eleventh sends no mail', async () => {
    const email = newEmail()
    const admins = await Promise.all(
      Array.from({ length: 11 }, async () => createSignedInUser(await app.newOrg(), 'admin')),
    )
    for (const who of admins.slice(0, 10)) expect((await invite(email, who)).status).toBe(201)
    const reply = await invite(email.toUpperCase(), admins[10])
    expectApiError(reply, 'rate_limited')
    expect(reply.headers['retry-after']).toBe(String(day))
    expect((await invite(newEmail(), admins[10])).status).toBe(201)
    await expect.poll(() => mailsTo(email), { timeout: 10_000 }).toBe(10)
    clock.advance(day)
    const again = await signIn(app, admins[10]!.email, password)
    expect((await invite(email, again)).status).toBe(201)
  })

  it('of one organization are limited to a hundred a day', async () => {
    for (let turn = 0; turn < 100; turn++) expect((await invite(newEmail())).status).toBe(201)
    expectApiError(await invite(newEmail()), 'rate_limited')
    const other = await createSignedInUser(await app.newOrg(), 'admin')
    expect((await invite(newEmail(), other)).status).toBe(201)
  })

  it('name the organization in their mail without text that a tenant could abuse', async () => {
    const hostile = await app.newOrg('Your account is locked: https://evil.example/unlock <b>now</b>')
    const email = newEmail()
    await invite(email, await createSignedInUser(hostile, 'admin'))
    await expect.poll(() => server.mails.find(({ to }) => to[0] === email), { timeout: 10_000 }).toBeDefined()
    const { data } = server.mails.find(({ to }) => to[0] === email)!
    expect(data).toContain('Subject: Join Your account is locked https evil example unlock b now b on')
    expect(data).not.toMatch(/evil\.example|<b>/)
  })

  it.each([
    ['Café “Nord” & Søn (Ltd.)', 'Café Nord & Søn (Ltd.)'],
    ['株式会社 東京', '株式会社 東京'],
    ['www.evil.example', 'www evil example'],
    ['a\u202Eb\u200B c', 'a b c'],
    ['<>', ''],
    ['x'.repeat(60), 'x'.repeat(60)],
    ['x'.repeat(61), `${'x'.repeat(60)}…`],
  ])('write the name %j as %j', (name, shown) => {
    expect(mailName(name)).toBe(shown)
  })
})

describe('Links to reset a password', () => {
  it('are mailed ten times a day to one account, and then once an hour', async () => {
    const { email } = await createSignedInUser(org, 'viewer')
    const requestAll = async (count: number): Promise<void> => {
      for (let turn = 0; turn < count; turn++) {
        const reply = await app.anonymous('POST', '/api/v1/auth/password-reset', { json: { email } })
        expect(reply.status).toBe(202)
        await new Promise((resolve) => setTimeout(resolve, 100))
        clock.advance(60)
      }
    }
    await requestAll(15)
    await expect.poll(() => mailsTo(email)).toBe(11)
    clock.advance(3600)
    await requestAll(5)
    await expect.poll(() => mailsTo(email)).toBe(12)
    clock.advance(day)
    await requestAll(5)
    await expect.poll(() => mailsTo(email)).toBeGreaterThan(13)
  })
})

describe('Sessions of one user', () => {
  it('are at most fifty in an organization: the oldest one ends with the fifty-first sign-in', async () => {
    const user = await createSignedInUser(org, 'viewer')
    const sessions = [user]
    for (let turn = 1; turn < 50; turn++) {
      clock.advance(1)
      sessions.push(await signIn(app, user.email, password))
    }
    expect(await sessionStatus(app, sessions[0]!)).toBe(200)
    clock.advance(1)
    const last = await signIn(app, user.email, password)
    expect(await sessionStatus(app, sessions[0]!)).toBe(401)
    expectApiError(await refreshSession(app, sessions[0]!), 'unauthorized')
    for (const one of [sessions[1]!, sessions[49]!, last]) expect(await sessionStatus(app, one)).toBe(200)
    expect(await sessionStatus(app, admin)).toBe(200)
  })

  it('end thirty days after signing in, however often they are refreshed', async () => {
    const user = await createSignedInUser(org, 'viewer')
    let session = user
    const next = async (): Promise<TestUser> => {
      const reply = await refreshSession(app, session)
      expect(reply.status).toBe(200)
      return { ...user, token: reply.json.data.access_token, refreshToken: reply.json.data.refresh_token }
    }
    clock.advance(29 * day)
    session = await next()
    clock.advance(day - 60)
    session = await next()
    expect(await sessionStatus(app, session)).toBe(200)
    clock.advance(60)
    expect(await sessionStatus(app, session)).toBe(401)
    expectApiError(await refreshSession(app, session), 'unauthorized')
    expect((await login(app, user.email, password)).status).toBe(200)
  })
})

describe('Token exchanges of one credential', () => {
  it('are limited by a setting, 30 a minute here; a refresh token that is rejected then stays good', async () => {
    const key = await mintKey(org)
    const { refresh_token: token } = (await exchange(app, key)).json
    for (let turn = 1; turn < 30; turn += 10) {
      const replies = await Promise.all(Array.from({ length: Math.min(10, 30 - turn) }, () => exchange(app, key)))
      expect(new Set(replies.map((reply) => reply.status))).toEqual(new Set([200]))
    }
    for (const reply of [await exchange(app, key), await refresh(app, token)]) {
      expectApiError(reply, 'rate_limited')
      expect(reply.headers['retry-after']).toBe('60')
    }
    expect((await exchange(app, await mintKey(org))).status).toBe(200)
    clock.advance(60)
    expect((await refresh(app, token)).status).toBe(200)
  })

  it('with a wrong secret do not count, so that no client can exhaust the limit of another', async () => {
    const key = await mintKey(org)
    for (let turn = 0; turn < 30; turn++) await exchange(app, { ...key, clientSecret: 'wrong' })
    clock.advance(60)
    expect((await exchange(app, key)).status).toBe(200)
  })
})
