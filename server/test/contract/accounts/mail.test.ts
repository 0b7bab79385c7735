import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type TestApp, type TestOrg, startApp } from '../../support/app.ts'
import { type TestUser, requestAs, newEmail, createSignedInUser, tokenFromLink } from '../../support/accounts.ts'
import { MailServer, textOf } from '../../support/smtp.ts'

const lines: string[] = []
let server: MailServer
let app: TestApp
let org: TestOrg
let admin: TestUser
beforeAll(async () => {
  server = await MailServer.open()
  app = await startApp({
    notifyOperator: (line) => lines.push(line),
    settings: {
      LASTSEEN_MAIL_URL: `smtp://post:se%2Fcret@127.0.0.1:${server.port}`,
      LASTSEEN_MAIL_FROM: 'Tracking <tracking@example.com>',
      LASTSEEN_BASE_URL: 'https://track.example.com',
    },
  })
  org = await app.newOrg('Café "Nord"')
  admin = await createSignedInUser(org, 'admin')
})
afterAll(async () => {
  await app.stop()
  await server.close()
})
beforeEach(() => {
  server.mails.length = 0
})

const reset = (email: string) => app.anonymous('POST', '/api/v1/auth/password-reset', { json: { email } })

describe('With a mail server', () => {
  it('a link to reset a password goes by mail and not to the operator', async () => {
    const user = await createSignedInUser(org, 'viewer')
    expect((await reset(user.email)).status).toBe(202)
    await expect.poll(() => server.mails.length, { timeout: 10_000 }).toBe(1)
    const mail = server.mails[0]!
    expect([mail.from.split(' ')[0], mail.to]).toEqual(['FROM:<tracking@example.com>', [user.email]])
    expect(mail.data).toContain('From: Tracking <tracking@example.com>')
    const link = /https:\/\/track\.example\.com\/reset-password#token=\S+/.exec(textOf(mail))![0]
    const json = { token: tokenFromLink(link), new_password: 'another horse battery' }
    expect((await app.anonymous('POST', '/api/v1/auth/password-reset/confirm', { json })).status).toBe(204)
    expect(lines).toEqual([])
    expect(server.logins[0]).toBe('\0post\0se/cret')
  })

  it('an invitation goes by mail too, and names the organization', async () => {
    const email = newEmail()
    const reply = await requestAs(app, admin, 'POST', '/invitations', { json: { email, role: 'viewer' } })
    await expect.poll(() => server.mails.length, { timeout: 10_000 }).toBe(1)
    expect(server.mails[0]!.to).toEqual([email])
    expect(textOf(server.mails[0]!)).toContain(reply.json.data.link)
    expect(server.mails[0]!.data).toMatch(/^Subject: =\?UTF-8\?/m)
  })

  it('the owner of an address gets a mail when a sign-up with it is tried, once a day', async () => {
    const user = await createSignedInUser(org, 'viewer')
    const json = { email: user.email.toUpperCase(), password: 'correct horse battery', organization_name: 'Other' }
    for (let turn = 0; turn < 3; turn++)
      expect((await app.anonymous('POST', '/api/v1/auth/signup', { json })).status).toBe(409)
    await expect.poll(() => server.mails.length, { timeout: 10_000 }).toBe(1)
    expect(server.mails[0]!.to).toEqual([user.email])
    expect(server.mails[0]!.data).toContain('Subject: You already have an account')
    expect(textOf(server.mails[0]!)).toContain('https://track.example.com/sign-in')
  })

  it('a mail that is temporarily rejected is sent again', async () => {
    const user = await createSignedInUser(org, 'viewer')
    server.busy = 1
    await reset(user.email)
    await expect.poll(() => server.mails.length, { timeout: 15_000 }).toBe(1)
    expect(server.rejected).toBe(1)
  })
})
