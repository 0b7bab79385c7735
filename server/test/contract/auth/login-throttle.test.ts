import { beforeEach, describe, expect, it } from 'vitest'
import { pino } from 'pino'
import { openAppContext } from '../../../src/app/context.ts'
import { startServer } from '../../../src/app/server.ts'
import { readConfig } from '../../../src/config/config.ts'
import { useApp } from '../../support/app.ts'
import { type TestUser, createSignedInUser, password } from '../../support/accounts.ts'
import { ManualClock, type Key, exchange, mintKey, useSql } from '../../support/auth.ts'
import { type Reply, send } from '../../support/client.ts'
import { expectApiError } from '../../support/error-response.ts'

const clock = new ManualClock()
const context = useApp({ clock, settings: { LASTSEEN_TRUST_PROXY: 'true' } })
const database = useSql(context)

let user: TestUser
let key: Key
beforeEach(async () => {
  const org = await context.app.newOrg()
  user = await createSignedInUser(org, 'admin')
  key = await mintKey(org)
  clock.advance(61)
})

let addresses = 0
const newAddress = (): string => `203.0.113.${++addresses}`
const from = (address: string) => ({ 'x-forwarded-for': address })
const login = (given: string, address: string, email = user.email): Promise<Reply> =>
  context.app.anonymous('POST', '/api/v1/auth/login', { json: { email, password: given }, headers: from(address) })

/** The stored counts for an e-mail address. */
const countsOf = (email: string) =>
  database.sql`select subject from sign_in_failures where position(${email} in subject) > 0`

/** Twenty failures lock the account. */
async function lock(address: () => string): Promise<void> {
  for (let turn = 0; turn < 20; turn++) expectApiError(await login('wrong', address()), 'unauthorized')
}

describe('Guessing the password of one account', () => {
  it('is answered 429 after twenty failures from one address, also to the right password', async () => {
    const address = newAddress()
    await lock(() => address)
    for (const given of ['wrong', password]) {
      const reply = await login(given, address)
      expectApiError(reply, 'rate_limited')
      expect(reply.headers['retry-after']).toBe('60')
    }
    clock.advance(60)
    expect((await login(password, address)).status).toBe(200)
  })

  it('does not lock out the owner, who signs in with the right password from another address', async () => {
    const attacker = newAddress()
    await lock(() => attacker)
    const own = newAddress()
    for (let turn = 0; turn < 3; turn++) expect((await login(password, own)).status).toBe(200)
    expectApiError(await login(password, attacker), 'rate_limited')
  })

  it('is allowed one more attempt from each further address while the account is locked', async () => {
    await lock(newAddress)
    const address = newAddress()
    const replies = await Promise.all(Array.from({ length: 5 }, () => login('wrong', address)))
    expect(replies.map((reply) => reply.status).sort()).toEqual([401, 429, 429, 429, 429])
    expectApiError(await login(password, address), 'rate_limited')
  })

  it('counts an IPv6 client by its /64 network', async () => {
    let host = 0
    await lock(() => `2001:db8:1:1::${++host}`)
    expectApiError(await login(password, '2001:db8:1:1::ffff'), 'rate_limited')
    expect((await login(password, '2001:db8:1:2::1')).status).toBe(200)
  })

  it('does not affect the token exchange from the same address, even after 300 failures', async () => {
    const address = newAddress()
    const tries = Array.from({ length: 300 }, (_, turn) => `nobody-${turn}@example.com`)
    const refresh = (token: string): Promise<Reply> =>
      context.app.anonymous('POST', '/api/v1/auth/refresh', { json: { refresh_token: token }, headers: from(address) })
    for (const email of tries) expectApiError(await refresh(email), 'unauthorized')
    expectApiError(await login(password, address), 'rate_limited')
    expect((await exchange(context.app, key, from(address))).status).toBe(200)
    expectApiError(await login(password, address, 'further@example.com'), 'rate_limited')
    expect(await countsOf('further@example.com')).toHaveLength(0)
  })
})

describe('Requesting a link to reset a password', () => {
  it('stays possible for the owner when other clients request too many', async () => {
    const ask = (address: string): Promise<Reply> =>
      context.app.anonymous('POST', '/api/v1/auth/password-reset', {
        json: { email: user.email },
        headers: from(address),
      })
    const attacker = newAddress()
    for (let turn = 0; turn < 20; turn++) expect((await ask(attacker)).status).toBe(202)
    expectApiError(await ask(attacker), 'rate_limited')
    expect((await ask(newAddress())).status).toBe(202)
  })

  it('is answered 429 after 300 requests from one address, whatever accounts they name', async () => {
    const address = newAddress()
    const ask = (from_: string, turn: number): Promise<Reply> =>
      context.app.anonymous('POST', '/api/v1/auth/password-reset', {
        json: { email: `nobody-${turn}@example.com` },
        headers: from(from_),
      })
    for (let turn = 0; turn < 300; turn += 10) {
      const replies = await Promise.all(Array.from({ length: 10 }, (_, index) => ask(address, turn + index)))
      expect(new Set(replies.map((reply) => reply.status))).toEqual(new Set([202]))
    }
    expectApiError(await ask(address, 300), 'rate_limited')
    expect(await countsOf('nobody-300@example.com')).toHaveLength(0)
    expect((await ask(newAddress(), 300)).status).toBe(202)
  })
})

describe('A proxy that is not trusted', () => {
  it.each([
    ['false', 1],
    ['true', 0],
  ])('is logged once, at its first request, with LASTSEEN_TRUST_PROXY=%s: %d times', async (trust, count) => {
    const lines: { event?: string; level: number }[] = []
    const log = pino({ level: 'warn' }, { write: (line: string) => lines.push(JSON.parse(line)) })
    const url = context.app.databaseUrl
    const settings = { DATABASE_URL: url, LASTSEEN_MQTT_PORT: '0', LASTSEEN_TRUST_PROXY: trust }
    const appContext = await openAppContext({ config: readConfig(settings), url })
    const server = await startServer(appContext, { host: '127.0.0.1', port: 0, isOneOfSeveral: true, log })
    const base = `http://127.0.0.1:${server.port}`
    await send(base, 'GET', '/healthz')
    expect(lines).toEqual([])
    for (let turn = 0; turn < 3; turn++) {
      await send(base, 'GET', '/healthz', { headers: from('192.0.2.1') })
      expect(lines.map(({ event }) => event)).toEqual(Array(count).fill('http.untrusted-proxy'))
    }
    await server.close(100)
    await appContext.close()
  })
})
