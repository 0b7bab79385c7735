import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type TestOrg, useApp } from '../support/app.ts'
import { type Client, send } from '../support/client.ts'
import { lockWaits } from '../support/database.ts'

const used = useApp()
let admin: postgres.Sql

beforeAll(() => {
  admin = postgres(used.app.databaseUrl, { max: 1, onnotice: () => undefined })
})
afterAll(() => admin.end({ timeout: 5 }))

/** Runs the work while an administrator's session locks the assets table, against reads and writes or only writes. */
async function whileAssetsAreHeld(mode: 'share' | 'access exclusive', work: () => Promise<void>): Promise<void> {
  let release = (): void => undefined
  const released = new Promise<void>((resolve) => (release = resolve))
  let isHeld = (): void => undefined
  const held = new Promise<void>((resolve) => (isHeld = resolve))
  const holding = admin.begin(async (tx) => {
    await tx.unsafe(`lock table assets in ${mode} mode`)
    isHeld()
    await released
  })
  await held
  try {
    await work()
  } finally {
    release()
    await holding
  }
}

async function millisOf(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now()
  await work()
  return performance.now() - startedMs
}

async function newAsset(client: Client): Promise<number> {
  const reply = await client.post('/api/v1/assets', { name: 'Drill' })
  expect(reply.status).toBe(201)
  return reply.json.data.id
}

describe('While creates wait for a lock', () => {
  it.each([
    ['30 creates of one organization', 1, 30],
    ['7 creates each of 8 organizations', 8, 7],
  ])('%s delay neither a token exchange, nor a point read, nor the readiness check', async (_what, orgs, creates) => {
    const busy: TestOrg[] = []
    for (let count = 0; count < orgs; count++) busy.push(await used.app.newOrg())
    const quiet = await used.app.newOrg()
    const reader = quiet.full
    const assetId = await newAsset(reader)
    const pair = await quiet.client('assets:read').mint()
    const clients = busy.map((org) => org.full)
    for (const client of clients) await newAsset(client)
    let pendingCreates: Promise<unknown> = Promise.resolve()
    await whileAssetsAreHeld('share', async () => {
      pendingCreates = Promise.all(
        clients.flatMap((client) =>
          Array.from({ length: creates }, () => client.post('/api/v1/assets', { name: 'Saw' })),
        ),
      )
      await expect.poll(() => lockWaits(used.app.databaseUrl)).toBeGreaterThanOrEqual(6)
      const exchangeMs = await millisOf(() => reader.exchange(pair))
      const readMs = await millisOf(async () => {
        expect((await reader.get(`/api/v1/assets/${assetId}`)).status).toBe(200)
      })
      const readyMs = await millisOf(async () => {
        expect((await used.app.anonymous('GET', '/readyz')).status).toBe(200)
      })
      expect({ exchangeMs, readMs, readyMs }).toEqual({
        exchangeMs: expect.toSatisfy((ms: number) => ms < 250) as number,
        readMs: expect.toSatisfy((ms: number) => ms < 250) as number,
        readyMs: expect.toSatisfy((ms: number) => ms < 250) as number,
      })
    })
    await pendingCreates
  })

  it('a create that waits longer than 3 seconds is 429 `rate_limited` with Retry-After', async () => {
    const client = (await used.app.newOrg()).full
    await newAsset(client)
    await whileAssetsAreHeld('share', async () => {
      const reply = await client.post('/api/v1/assets', { name: 'Saw' })
      expect(reply.status).toBe(429)
      expect(reply.json.error.type).toBe('rate_limited')
      expect(reply.headers['retry-after']).toBe('1')
    })
  })
})

describe('While every read of assets waits', () => {
  it('/healthz, /readyz and a token check of the database answer within 250 ms', async () => {
    const org = await used.app.newOrg()
    const waiting = org.full
    const assetId = await newAsset(waiting)
    const fresh = org.client('assets:read')
    await fresh.token()
    await used.app.anonymous('GET', '/readyz')
    const { accessToken: token } = await org.signIn('viewer')
    let pendingCreates: Promise<unknown> = Promise.resolve()
    await whileAssetsAreHeld('access exclusive', async () => {
      pendingCreates = Promise.allSettled([
        ...Array.from({ length: 8 }, () => waiting.get(`/api/v1/assets/${assetId}`)),
        ...Array.from({ length: 8 }, () =>
          send(used.app.url, 'GET', '/api/v1/search', { token, query: { q: 'drill' } }),
        ),
      ])
      await expect.poll(() => lockWaits(used.app.databaseUrl)).toBeGreaterThanOrEqual(3)
      for (const path of ['/healthz', '/readyz'])
        expect(
          await millisOf(async () => expect((await send(used.app.url, 'GET', path)).status).toBe(200)),
          path,
        ).toBeLessThan(250)
      // The token was never used, so its credential is looked up; without the asset scope nothing else is read.
      const checkMs = await millisOf(async () => {
        expect((await fresh.get('/api/v1/locations')).status).toBe(403)
      })
      expect(checkMs).toBeLessThan(250)
    })
    await pendingCreates
  })

  it('a search is 429 after 5 seconds with a detail that advises to narrow it', async () => {
    const client = (await used.app.newOrg()).full
    await newAsset(client)
    await whileAssetsAreHeld('access exclusive', async () => {
      const reply = await client.get('/api/v1/assets', { q: 'drill' })
      expect(reply.status).toBe(429)
      expect(reply.json.error.type).toBe('rate_limited')
      expect(reply.json.error.detail).toContain('narrow')
      expect(Number(reply.headers['retry-after'])).toBeGreaterThanOrEqual(1)
    })
  })
})
