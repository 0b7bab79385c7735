import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type TestApp, type TestOrg, startApp, useApp } from '../support/app.ts'
import { type Key, exchange, expectTokens, mintKey, refresh, useSql, whoAmI } from '../support/auth.ts'
import { raceRounds } from '../support/rounds.ts'

const rounds = raceRounds(200)

/** Every round fails two refreshes on purpose; each comes from another address, so that none is throttled. */
const settings = { LASTSEEN_TRUST_PROXY: 'true' }
const context = useApp({ settings })
const database = useSql(context)

let second: TestApp
let org: TestOrg
let key: Key
beforeAll(async () => {
  second = await startApp({ sharesDatabaseWith: context.app, settings })
  org = await context.app.newOrg()
  key = await mintKey(org)
})
afterAll(() => second.stop())

const from = (round: number) => ({ 'x-forwarded-for': `10.0.${round >> 8}.${round & 255}` })

async function race(first: TestApp, other: TestApp, round: number): Promise<void> {
  const { refresh: token } = await expectTokens(exchange(first, key))
  const replies = await Promise.all([refresh(first, token, from(round)), refresh(other, token, from(round))])
  expect(replies.map((reply) => reply.status).sort()).toEqual([200, 401])
  const winner = await expectTokens(replies.find((reply) => reply.status === 200)!)
  expect((await refresh(other, winner.refresh, from(round))).status).toBe(401)
}

async function activeFamilyCount(): Promise<number> {
  const [row] = await database.sql<{ live: number }[]>`
    select count(*) as live from refresh_token_families where client_id = ${key.clientId} and revoked_at is null`
  return row!.live
}

describe('Two simultaneous uses of one refresh token (D41)', () => {
  it('succeed exactly once, and the other use revokes the family', { timeout: 120_000 }, async () => {
    for (let round = 0; round < rounds; round++) await race(context.app, context.app, round)
    expect(await activeFamilyCount()).toBe(0)
  })

  it('succeed exactly once when they reach two processes', { timeout: 120_000 }, async () => {
    for (let round = 0; round < rounds; round++) await race(context.app, second, rounds + round)
    expect(await activeFamilyCount()).toBe(0)
  })

  it('leave the credential valid for a new exchange', async () => {
    const { access } = await expectTokens(exchange(context.app, key))
    expect((await whoAmI(second, access)).status).toBe(200)
  })

  it('let exactly one of eight win', { timeout: 120_000 }, async () => {
    for (let round = 0; round < rounds / 8; round++) {
      const { refresh: token } = await expectTokens(exchange(context.app, key))
      const apps = [context.app, second, context.app, second, context.app, second, context.app, second]
      const replies = await Promise.all(apps.map((app) => refresh(app, token, from(2 * rounds + round))))
      expect(replies.map((reply) => reply.status).sort()).toEqual([200, ...Array<number>(7).fill(401)])
    }
  })
})

describe('A refresh token of a session that is used again', () => {
  it('ends the session in every process from the next request on, its access tokens included', async () => {
    const session = await org.signIn('viewer')
    const ask = (app: TestApp, token: string) => app.anonymous('GET', '/api/v1/overview', { token })
    const renew = (app: TestApp) =>
      app.anonymous('POST', '/api/v1/auth/refresh', { json: { refresh_token: session.refreshToken } })
    const renewed = await renew(context.app)
    expect(renewed.status).toBe(200)
    const tokens = [session.accessToken, renewed.json.data.access_token as string]
    for (const app of [context.app, second])
      for (const token of tokens) expect((await ask(app, token)).status).toBe(200)
    expect((await renew(second)).status).toBe(401)
    for (const app of [context.app, second])
      for (const token of tokens) expect((await ask(app, token)).status).toBe(401)
  })
})
