import { beforeAll, describe, expect, it } from 'vitest'
import { type TestApp, startApp, useApp } from '../../support/app.ts'
import {
  type TestUser,
  requestAs,
  login,
  newEmail,
  createSignedInUser,
  password,
  tokenFromLink,
} from '../../support/accounts.ts'
import { ManualClock, useSql } from '../../support/auth.ts'
import type { Reply } from '../../support/client.ts'
import { expectApiError } from '../../support/error-response.ts'

const clock = new ManualClock()
const context = useApp({ clock })
const database = useSql(context)

const draft = (email = newEmail()) => ({ email, password, organization_name: 'Fabrikam' })
const signUp = (app: TestApp, headers: Record<string, string> = {}, json: object = draft()): Promise<Reply> =>
  app.anonymous('POST', '/api/v1/auth/signup', { json, headers })
const from = (address: string): Record<string, string> => ({ 'x-forwarded-for': address })

async function organizations(): Promise<number> {
  const [row] = await database.sql<{ count: number }[]>`select count(*) from organizations`
  return row!.count
}

/** A server with other settings on the same database. */
async function beside<T>(settings: Record<string, string>, test: (app: TestApp) => Promise<T>): Promise<T> {
  const app = await startApp({ sharesDatabaseWith: context.app, clock, settings })
  try {
    return await test(app)
  } finally {
    await app.stop()
  }
}

function expectLimited(reply: Reply, seconds: number): void {
  expectApiError(reply, 'rate_limited', { instance: '/api/v1/auth/signup' })
  expect(reply.headers['retry-after']).toBe(String(seconds))
}

describe('The sign-up policy', () => {
  it.each([
    ['open', 'on loopback', { LASTSEEN_HOST: '127.0.0.1' }, 201],
    ['open', 'on loopback by name', { LASTSEEN_HOST: 'localhost' }, 201],
    ['open', 'on loopback of IPv6', { LASTSEEN_HOST: '::1' }, 201],
    ['invite-only', 'on all addresses', { LASTSEEN_HOST: '0.0.0.0' }, 403],
    ['invite-only', 'on all addresses of IPv6', { LASTSEEN_HOST: '::' }, 403],
    ['invite-only', 'on an address of the network', { LASTSEEN_HOST: '192.0.2.7' }, 403],
    ['open', 'on all addresses with LASTSEEN_SIGNUP=open', { LASTSEEN_HOST: '0.0.0.0', LASTSEEN_SIGNUP: 'open' }, 201],
    ['invite-only', 'on loopback behind a trusted proxy', { LASTSEEN_TRUST_PROXY: 'true' }, 403],
    ['closed', 'on loopback with LASTSEEN_SIGNUP=closed', { LASTSEEN_SIGNUP: 'closed' }, 403],
  ])('is %s while the server listens %s', async (_mode, _where, settings, status) => {
    expect((await beside(settings, (app) => signUp(app))).status).toBe(status)
  })

  it.each([
    ['invite-only', 'Sign-up is by invitation only; ask an admin for an invitation'],
    ['closed', 'Sign-up is closed; ask the operator for an account'],
  ])('is checked before the body: when it is %s the response is 403, and nothing is created', async (mode, detail) => {
    const before = await organizations()
    await beside({ LASTSEEN_SIGNUP: mode }, async (app) => {
      for (const json of [draft(), {}]) expectApiError(await signUp(app, {}, json), 'forbidden', { detail })
    })
    expect(await organizations()).toBe(before)
  })
})

describe('An invitation', () => {
  let admin: TestUser
  beforeAll(async () => {
    admin = await createSignedInUser(await context.app.newOrg(), 'admin')
  })
  const invited = async (email: string): Promise<string> => {
    const reply = await requestAs(context.app, admin, 'POST', '/invitations', { json: { email, role: 'viewer' } })
    return tokenFromLink(reply.json.data.link)
  }
  const accept = (app: TestApp, token: string): Promise<Reply> =>
    app.anonymous('POST', '/api/v1/auth/invitations/accept', { json: { token, password } })

  it('creates an account while sign-up is invite-only', async () => {
    const token = await invited(newEmail())
    expect((await beside({ LASTSEEN_SIGNUP: 'invite-only' }, (app) => accept(app, token))).status).toBe(201)
  })

  it('creates no account while sign-up is closed, and stays valid', async () => {
    const email = newEmail()
    const token = await invited(email)
    await beside({ LASTSEEN_SIGNUP: 'closed' }, async (app) => expectApiError(await accept(app, token), 'forbidden'))
    expectApiError(await login(context.app, email, password), 'unauthorized')
    expect((await accept(context.app, token)).status).toBe(201)
  })

  it('lets an existing user join while sign-up is closed', async () => {
    const user = await createSignedInUser(await context.app.newOrg(), 'admin')
    const token = await invited(user.email)
    expect((await beside({ LASTSEEN_SIGNUP: 'closed' }, (app) => accept(app, token))).status).toBe(201)
  })
})

describe('The rate limit of sign-ups', () => {
  const settings = { LASTSEEN_TRUST_PROXY: 'true', LASTSEEN_SIGNUP: 'open' }

  it('is ten an hour from one address; then the response is 429 with Retry-After and nothing is created', async () => {
    await beside(settings, async (app) => {
      for (let turn = 0; turn < 10; turn++) expect((await signUp(app, from('198.51.100.1'))).status).toBe(201)
      const before = await organizations()
      clock.advance(600)
      expectLimited(await signUp(app, from('198.51.100.1')), 3000)
      expect(await organizations()).toBe(before)
      expect((await signUp(app, from('198.51.100.2'))).status).toBe(201)
      clock.advance(3000)
      expect((await signUp(app, from('198.51.100.1'))).status).toBe(201)
    })
  })

  it('is exact over several processes and over sign-ups at the same time', async () => {
    await beside(settings, (one) =>
      beside(settings, async (two) => {
        const turns = Array.from({ length: 16 }, (_, turn) => signUp(turn % 2 ? one : two, from('198.51.100.3')))
        const statuses = (await Promise.all(turns)).map((reply) => reply.status)
        expect(statuses.filter((status) => status === 201)).toHaveLength(10)
        expect(statuses.filter((status) => status === 429)).toHaveLength(6)
      }),
    )
  })

  it('counts an IPv6 client by its /64 network', async () => {
    await beside({ ...settings, LASTSEEN_SIGNUP_LIMIT: '2' }, async (app) => {
      for (const end of [':1', 'ffff:ffff:ffff:ffff'])
        expect((await signUp(app, from(`2001:db8:0:7:${end}`))).status).toBe(201)
      expectLimited(await signUp(app, from('2001:db8:0:7::2')), 3600)
      expect((await signUp(app, from('2001:db8:0:8::2'))).status).toBe(201)
    })
  })

  it('applies to clients on this machine when the server listens beyond loopback', async () => {
    const open = { LASTSEEN_HOST: '0.0.0.0', LASTSEEN_SIGNUP: 'open', LASTSEEN_SIGNUP_LIMIT: '1' }
    await beside(open, async (app) => {
      expect((await signUp(app)).status).toBe(201)
      expectLimited(await signUp(app), 3600)
    })
  })

  it('does not apply to clients on this machine while only this machine can reach the server', async () => {
    const replies = await Promise.all(Array.from({ length: 20 }, () => signUp(context.app)))
    expect(new Set(replies.map((reply) => reply.status))).toEqual(new Set([201]))
  })

  it('applies to requests that a proxy on this machine forwards, trusted or not', async () => {
    clock.advance(3600)
    for (let turn = 0; turn < 10; turn++) expect((await signUp(context.app, from(`192.0.2.${turn}`))).status).toBe(201)
    expectLimited(await signUp(context.app, from('192.0.2.99')), 3600)
  })
})
