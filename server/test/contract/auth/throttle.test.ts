import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type TestOrg, startApp, useApp } from '../../support/app.ts'
import {
  ManualClock,
  type Key,
  exchange,
  mintKey,
  mintKeys,
  newTokens,
  expectedRateLimit,
  rateLimitHeadersOf,
  refresh,
  tokensOf,
  useSql,
  whoAmI,
} from '../../support/auth.ts'
import type { Reply } from '../../support/client.ts'
import { expectApiError } from '../../support/error-response.ts'

const clock = new ManualClock()
const settings = { LASTSEEN_TRUST_PROXY: 'true' }
const context = useApp({ clock, settings })
const database = useSql(context)

let org: TestOrg
let key: Key
beforeAll(async () => {
  org = await context.app.newOrg()
})
beforeEach(async () => {
  key = await mintKey(org)
})

let lastAddress = 0
/** Returns an unused client address. */
const newAddress = (): string => `198.51.100.${++lastAddress}`

const secret = `ls_${'0'.repeat(64)}`
const uuids = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`)

const guess = (clientId: string, from: string): Promise<Reply> =>
  exchange(context.app, { clientId, clientSecret: secret }, { 'x-forwarded-for': from })
const sign = (pair: Key, from: string): Promise<Reply> => exchange(context.app, pair, { 'x-forwarded-for': from })

const rejected = { detail: 'Invalid client credentials' }

async function failTimes(count: number, clientId: string, from: () => string = newAddress): Promise<void> {
  for (let turn = 0; turn < count; turn++) expectApiError(await guess(clientId, from()), 'unauthorized', rejected)
}

function expectThrottled(reply: Reply, seconds: number): void {
  expectApiError(reply, 'rate_limited', { instance: '/api/v1/oauth/token' })
  expect(reply.headers['retry-after']).toBe(String(seconds))
}

/** Failures of 300 different client ids, so that only the count of the address reaches its limit. */
async function exhaust(address: string): Promise<void> {
  const replies = await Promise.all(uuids(300).map((clientId) => guess(clientId, address)))
  expect(new Set(replies.map((reply) => reply.status))).toEqual(new Set([401]))
  await database.sql`delete from sign_in_failures where subject like 'client:00000000%'`
}

describe('Guessing the secret of one client id (D41)', () => {
  it('is answered 401 twenty times and 429 with Retry-After from then on, from any address', async () => {
    await failTimes(20, key.clientId)
    for (let turn = 0; turn < 3; turn++) expectThrottled(await guess(key.clientId, newAddress()), 60)
  })

  it('is answered 429 at an address that has failed even when the secret is right, so that it is not revealed', async () => {
    const address = newAddress()
    await failTimes(19, key.clientId)
    await failTimes(1, key.clientId, () => address)
    const reply = await sign(key, address)
    expectThrottled(reply, 60)
    expect(reply.json).not.toHaveProperty('access_token')
  })

  it('does not lock out the client: the right secret is accepted from an address without failures', async () => {
    await failTimes(20, key.clientId)
    const address = newAddress()
    const replies = await Promise.all(Array.from({ length: 10 }, () => sign(key, address)))
    expect(replies.map((reply) => reply.status)).toEqual(Array(10).fill(200))
    expectThrottled(await guess(key.clientId, address), 60)
    expectThrottled(await sign(key, address), 60)
  })

  it('still admits the right secret after nineteen failures', async () => {
    await failTimes(19, key.clientId)
    expect((await sign(key, newAddress())).status).toBe(200)
  })

  it('is allowed again when the minute has passed on the clock, and Retry-After says when', async () => {
    const address = newAddress()
    await failTimes(20, key.clientId, () => address)
    clock.advance(30)
    expectThrottled(await sign(key, address), 30)
    clock.advance(29)
    expectThrottled(await sign(key, address), 1)
    clock.advance(0.999)
    expectThrottled(await sign(key, address), 1)
    clock.advance(0.001)
    expect((await sign(key, address)).status).toBe(200)
  })

  it('gets twenty new tries in the next minute, not more', async () => {
    await failTimes(20, key.clientId)
    clock.advance(60)
    await failTimes(20, key.clientId)
    expectThrottled(await guess(key.clientId, newAddress()), 60)
  })

  it('is not made easier by successes in between', async () => {
    await failTimes(19, key.clientId)
    for (let turn = 0; turn < 3; turn++) expect((await sign(key, newAddress())).status).toBe(200)
    await failTimes(1, key.clientId)
    expectThrottled(await guess(key.clientId, newAddress()), 60)
  })

  it('is not made easier by writing the client id in capitals', async () => {
    await failTimes(10, key.clientId)
    await failTimes(10, key.clientId.toUpperCase())
    expectThrottled(await guess(key.clientId, newAddress()), 60)
    expectThrottled(await guess(key.clientId.toUpperCase(), newAddress()), 60)
  })

  it('is not made easier by trying many at once: exactly twenty of sixty are tried', async () => {
    const address = newAddress()
    const replies = await Promise.all(Array.from({ length: 60 }, () => guess(key.clientId, address)))
    const count = (status: number): number => replies.filter((reply) => reply.status === status).length
    expect({ tried: count(401), throttled: count(429) }).toEqual({ tried: 20, throttled: 40 })
  })

  it('is not made easier by a second process: failures add up over all of them', async () => {
    const second = await startApp({ sharesDatabaseWith: context.app, clock, settings })
    const pair = { clientId: key.clientId, clientSecret: secret }
    await failTimes(10, key.clientId)
    for (let turn = 0; turn < 10; turn++)
      expectApiError(await exchange(second, pair, { 'x-forwarded-for': newAddress() }), 'unauthorized', rejected)
    expectThrottled(await exchange(second, pair, { 'x-forwarded-for': newAddress() }), 60)
    expectThrottled(await guess(key.clientId, newAddress()), 60)
    await second.stop()
  })

  it('does not affect other client ids', async () => {
    const other = await mintKey(org)
    await failTimes(20, key.clientId)
    expectThrottled(await guess(key.clientId, newAddress()), 60)
    expect((await sign(other, newAddress())).status).toBe(200)
  })

  it('does not affect the existing access token and refresh token of the credential', async () => {
    const { access, refresh: token } = await tokensOf(context.app, key)
    await failTimes(20, key.clientId)
    expectThrottled(await guess(key.clientId, newAddress()), 60)
    expect((await whoAmI(context.app, access)).status).toBe(200)
    expect((await refresh(context.app, token)).status).toBe(200)
  })

  it('shows a full bucket in its answers: the caller is anonymous (D10)', async () => {
    await failTimes(20, key.clientId)
    expect(rateLimitHeadersOf(await guess(key.clientId, newAddress()))).toEqual(expectedRateLimit(0, clock.seconds))
  })
})

describe('What does not count as a failure', () => {
  it('is a body that fails validation: it is 400 however often', async () => {
    const json = { grant_type: 'client_credentials', client_id: key.clientId }
    for (let turn = 0; turn < 30; turn++)
      expectApiError(await context.app.anonymous('POST', '/api/v1/oauth/token', { json }), 'validation_error')
    expect((await sign(key, newAddress())).status).toBe(200)
  })

  it('is a success: a client may exchange its pair one hundred times in a minute', async () => {
    const address = newAddress()
    for (let turn = 0; turn < 100; turn++) expect((await sign(key, address)).status).toBe(200)
  })

  it('is a success: a client may exchange its pair sixty times at once', async () => {
    const address = newAddress()
    const replies = await Promise.all(Array.from({ length: 60 }, () => sign(key, address)))
    expect(new Set(replies.map((reply) => reply.status))).toEqual(new Set([200]))
  })

  it('is a success: four hundred clients may exchange their pairs in one minute from one address', async () => {
    const address = newAddress()
    const keys = await mintKeys(org, 400)
    const replies = await Promise.all(keys.map((one) => sign(one, address)))
    expect(new Set(replies.map((reply) => reply.status))).toEqual(new Set([200]))
  })

  it('is an attempt that was throttled: it adds nothing to the client id it named', async () => {
    const address = newAddress()
    await exhaust(address)
    for (let turn = 0; turn < 25; turn++) expectThrottled(await sign(key, address), 60)
    expect((await sign(key, newAddress())).status).toBe(200)
  })

  it('is an attempt that was throttled: it adds nothing to the address it came from', async () => {
    const address = newAddress()
    await failTimes(20, key.clientId, () => address)
    for (let turn = 0; turn < 300; turn++) expectThrottled(await guess(key.clientId, address), 60)
    expect((await sign(await mintKey(org), address)).status).toBe(200)
  })
})

describe('Guessing from one address (D41)', () => {
  it('is answered 401 three hundred times and 429 with Retry-After from then on, whatever is tried', async () => {
    const address = newAddress()
    await exhaust(address)
    expectThrottled(await guess(uuids(301)[300]!, address), 60)
    expectThrottled(await sign(key, address), 60)
    const { refresh: token } = await newTokens(org)
    expectThrottled(await refresh(context.app, token, { 'x-forwarded-for': address }), 60)
    expect((await refresh(context.app, token)).status).toBe(200)
  })

  it('counts rejected refresh tokens', async () => {
    const address = newAddress()
    const headers = { 'x-forwarded-for': address }
    const replies = await Promise.all(uuids(300).map((token) => refresh(context.app, token, headers)))
    expect(new Set(replies.map((reply) => reply.status))).toEqual(new Set([401]))
    expectThrottled(await refresh(context.app, 'one more', headers), 60)
    expectThrottled(await sign(key, address), 60)
  })

  it('is not made easier by trying many at once: exactly three hundred of four hundred are tried', async () => {
    const address = newAddress()
    const replies = await Promise.all(
      uuids(400).map((token) => refresh(context.app, token, { 'x-forwarded-for': address })),
    )
    const count = (status: number): number => replies.filter((reply) => reply.status === status).length
    expect({ tried: count(401), throttled: count(429) }).toEqual({ tried: 300, throttled: 100 })
  })

  it('stores nothing for further client ids', async () => {
    const address = newAddress()
    await exhaust(address)
    for (const clientId of uuids(305).slice(300)) expectThrottled(await guess(clientId, address), 60)
    const rows = await database.sql`select subject from sign_in_failures where subject like 'client:00000000%'`
    expect(rows).toHaveLength(0)
  })

  it('does not affect other addresses', async () => {
    await exhaust(newAddress())
    expect((await sign(key, newAddress())).status).toBe(200)
  })

  it('is allowed again when the minute has passed on the clock', async () => {
    const address = newAddress()
    await exhaust(address)
    clock.advance(59)
    expectThrottled(await sign(key, address), 1)
    clock.advance(1)
    expect((await sign(key, address)).status).toBe(200)
  })
})
