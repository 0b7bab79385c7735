import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { ManualClock } from '../../support/auth.ts'
import { type TestApp, startApp } from '../../support/app.ts'
import { createSignedInUser, newEmail, password, requestAs, signIn, tokenFromLink } from '../../support/accounts.ts'
import type { Reply } from '../../support/client.ts'
import { MailServer, textOf } from '../../support/smtp.ts'

const daySeconds = 86_400
const clock = new ManualClock()
let server: MailServer
let app: TestApp
beforeAll(async () => {
  server = await MailServer.open()
  const settings = {
    LASTSEEN_MAIL_URL: `smtp://127.0.0.1:${server.port}`,
    LASTSEEN_MAIL_FROM: 'tracking@example.com',
    LASTSEEN_BASE_URL: 'https://track.example.com',
  }
  app = await startApp({ clock, settings })
})
afterAll(async () => {
  await app.stop()
  await server.close()
})
beforeEach(() => {
  server.mails.length = 0
})

interface NewUser {
  email: string
  token: string
  orgId: number
}

async function signUp(on: TestApp = app): Promise<{ user: NewUser; reply: Reply }> {
  const email = newEmail()
  const json = { email, password, organization_name: 'Northwind' }
  const reply = await on.anonymous('POST', '/api/v1/auth/signup', { json })
  expect(reply.status, reply.text).toBe(201)
  const { access_token: token, user } = reply.json.data
  return { user: { email, token, orgId: user.org.id }, reply }
}

/** The token of the latest mail, once `count` mails have arrived. */
async function mailedToken(count = 1, page: 'confirm-email' | 'join' = 'confirm-email'): Promise<string> {
  await expect.poll(() => server.mails.length, { timeout: 10_000 }).toBe(count)
  const [link] = /https:\/\/track\.example\.com\/\S+/.exec(textOf(server.mails.at(-1)!))!
  expect(link).toContain(`/${page}#token=`)
  return tokenFromLink(link)
}

/** An invitation of a new admin, with the token of the link that the admin is shown. */
async function invited(on: TestApp = app): Promise<{ email: string; token: string }> {
  const admin = await createSignedInUser(await on.newOrg('Harbour'), 'admin')
  const email = newEmail()
  const reply = await requestAs(on, admin, 'POST', '/invitations', { json: { email, role: 'admin' } })
  expect(reply.status).toBe(201)
  return { email, token: tokenFromLink(reply.json.data.link) }
}

const accept = (token: string, on: TestApp = app): Promise<Reply> =>
  on.anonymous('POST', '/api/v1/auth/invitations/accept', { json: { token, password } })

const confirm = (token: string): Promise<Reply> =>
  app.anonymous('POST', '/api/v1/auth/email-confirmation/confirm', { json: { token } })

const isConfirmed = async (user: NewUser): Promise<boolean> =>
  (await requestAs(app, user, 'GET', '/auth/me')).json.data.email_confirmed

/** The requests that need a confirmed address, with the status of their success. */
const guarded = (user: NewUser): [string, object][] => [
  ['/invitations', { email: newEmail(), role: 'viewer' }],
  [`/orgs/${user.orgId}/api-keys`, { name: 'ERP', scopes: ['assets:read'] }],
  ['/webhooks', { url: 'https://hooks.example.com/' }],
]

describe('A sign-up, with mail set up,', () => {
  it('signs in at once and mails a link that confirms the address', async () => {
    const { user, reply } = await signUp()
    expect(reply.json.data.user.email_confirmed).toBe(false)
    const token = await mailedToken()
    expect(server.mails[0]!.to).toEqual([user.email])
    expect((await confirm(token)).status).toBe(204)
    expect(await isConfirmed(user)).toBe(true)
    expect((await confirm(token)).status, 'the link may be opened again').toBe(204)
  })

  it('cannot invite, create API keys or webhooks until the address is confirmed', async () => {
    const { user } = await signUp()
    for (const [path, json] of guarded(user)) {
      const reply = await requestAs(app, user, 'POST', path, { json })
      expect([path, reply.status, reply.json.error?.type]).toEqual([path, 403, 'forbidden'])
      expect(reply.json.error.detail).toMatch(/^Confirm your e-mail address first/)
    }
    await confirm(await mailedToken())
    for (const [path, json] of guarded(user))
      expect([path, (await requestAs(app, user, 'POST', path, { json })).status]).toEqual([path, 201])
  })

  it('gets the link again on request, five times a day', async () => {
    const { user } = await signUp()
    await mailedToken()
    const request = () => requestAs(app, user, 'POST', '/auth/email-confirmation')
    for (let count = 1; count <= 5; count++) expect((await request()).status).toBe(202)
    expect((await request()).status).toBe(429)
    expect((await confirm(await mailedToken(6))).status).toBe(204)
    server.mails.length = 0
    clock.advance(daySeconds)
    const again = await signIn(app, user.email, password)
    expect((await requestAs(app, again, 'POST', '/auth/email-confirmation')).status).toBe(202)
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(server.mails, 'a confirmed address gets no mail').toEqual([])
  })

  it('is confirmed by a password reset too, whose link goes to the same address', async () => {
    const { user } = await signUp()
    await mailedToken()
    await app.anonymous('POST', '/api/v1/auth/password-reset', { json: { email: user.email } })
    await expect.poll(() => server.mails.length, { timeout: 10_000 }).toBe(2)
    const link = /https:\S+reset-password#token=\S+/.exec(textOf(server.mails[1]!))![0]
    const json = { token: tokenFromLink(link), new_password: 'another horse battery' }
    expect((await app.anonymous('POST', '/api/v1/auth/password-reset/confirm', { json })).status).toBe(204)
    const again = await signIn(app, user.email, 'another horse battery')
    expect(await isConfirmed({ ...user, token: again.token })).toBe(true)
  })
})

describe('A link that confirms an address', () => {
  it('works for seven days', async () => {
    await signUp()
    const first = await mailedToken()
    const { user } = await signUp()
    const second = await mailedToken(2)
    clock.advance(7 * daySeconds - 1)
    expect((await confirm(first)).status).toBe(204)
    clock.advance(1)
    const reply = await confirm(second)
    expect([reply.status, reply.json.error.fields[0].code]).toEqual([400, 'invalid_value'])
    const again = await signIn(app, user.email, password)
    expect(await isConfirmed({ ...user, token: again.token })).toBe(false)
  })

  it('that was changed is 400 and confirms nothing', async () => {
    const { user } = await signUp()
    const { user: other } = await signUp()
    const token = await mailedToken(2)
    const [userPart, expiryPart, tag] = token.split('.') as [string, string, string]
    const later = (parseInt(expiryPart, 36) + 1).toString(36)
    const wrong = [
      `${userPart}.${later}.${tag}`,
      `${userPart}.${expiryPart}.${'A'.repeat(22)}`,
      `lsc_1.${expiryPart}.${tag}`,
      'x',
    ]
    for (const one of wrong) expect([one, (await confirm(one)).status]).toEqual([one, 400])
    expect([await isConfirmed(user), await isConfirmed(other)]).toEqual([false, false])
  })
})

describe('No confirmation is needed', () => {
  it('without mail set up', async () => {
    const plain = await startApp()
    try {
      const { user, reply } = await signUp(plain)
      expect(reply.json.data.user.email_confirmed).toBe(true)
      const path = `/orgs/${user.orgId}/api-keys`
      const json = { name: 'ERP', scopes: ['assets:read'] }
      expect((await requestAs(plain, user, 'POST', path, { json })).status).toBe(201)
    } finally {
      await plain.stop()
    }
  })

  it('of an account that the operator created', async () => {
    const admin = await createSignedInUser(await app.newOrg('Harbour'), 'admin')
    expect((await requestAs(app, admin, 'GET', '/auth/me')).json.data.email_confirmed).toBe(true)
  })

  it('of an account that joined with the mailed link of an invitation', async () => {
    const { email } = await invited()
    const joined = await accept(await mailedToken(1, 'join'))
    expect([joined.status, joined.json.data.user.email_confirmed]).toEqual([201, true])
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(server.mails.map(({ to }) => to)).toEqual([[email]])
  })

  it('of an account that joined by an invitation without mail set up', async () => {
    const plain = await startApp()
    try {
      const joined = await accept((await invited(plain)).token, plain)
      expect(joined.json.data.user.email_confirmed).toBe(true)
    } finally {
      await plain.stop()
    }
  })
})

describe('An invitation that is accepted with the link that the inviter was shown', () => {
  it('does not confirm the address: the account gets the mail that confirms it', async () => {
    const { email, token } = await invited()
    await mailedToken(1, 'join')
    const joined = await accept(token)
    expect([joined.status, joined.json.data.user.email_confirmed]).toEqual([201, false])
    const confirmation = await mailedToken(2)
    expect(server.mails[1]!.to).toEqual([email])
    const user = { email, token: joined.json.data.access_token, orgId: joined.json.data.user.org.id }
    const [path, json] = guarded(user)[0]!
    expect((await requestAs(app, user, 'POST', path, { json })).status).toBe(403)
    expect((await confirm(confirmation)).status).toBe(204)
    expect(await isConfirmed(user)).toBe(true)
  })

  it('has a link from which the mailed one cannot be made', async () => {
    const { token } = await invited()
    const mailed = await mailedToken(1, 'join')
    expect(mailed.startsWith(token)).toBe(true)
    const { token: other } = await invited()
    for (const wrong of [`${token}.${'A'.repeat(22)}`, `${other}${mailed.slice(token.length)}`, `${token}.`])
      expect([wrong, (await accept(wrong)).status]).toEqual([wrong, 400])
    expect((await accept(mailed)).status).toBe(201)
  })
})
