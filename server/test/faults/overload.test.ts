import { readFileSync } from 'node:fs'
import { Agent, request } from 'undici'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openAppContext } from '../../src/app/context.ts'
import { readConfig } from '../../src/config/config.ts'
import { mintCredentials } from '../../src/auth/commands.ts'
import { burst } from '../../src/http/rate-limit.ts'
import { createOrganization } from '../../src/organizations/commands.ts'
import { type TestDatabase, cloneDatabase } from '../support/database.ts'
import { type ReadyServer, serve, tokenFor, usePrograms, withSql } from '../support/process.ts'
import { eventually } from '../support/tracking.ts'

const mebibyte = 1024 * 1024

describe('Far more requests than can be served', { timeout: 90_000 }, () => {
  usePrograms()
  let database: TestDatabase
  let server: ReadyServer
  const settings = (): Record<string, string> => ({ DATABASE_URL: database.url, LASTSEEN_LOG_LEVEL: 'silent' })
  const agent = new Agent({ connections: 1500, pipelining: 1, headersTimeout: 60_000 })

  const keysOf = async (name: string, count: number): Promise<string[]> => {
    const context = await openAppContext({ config: readConfig(settings()), url: database.url })
    try {
      const { orgId } = await createOrganization(context, name)
      const draft = { name: 'k', scopes: ['assets:read', 'assets:write'], expiresAt: null, createdBy: null }
      const minted = await mintCredentials(context, orgId, draft, count)
      const pairs = minted.map((one) => ({ client_id: one.credential.clientId, client_secret: one.clientSecret }))
      return await Promise.all(pairs.map((pair) => tokenFor(server.url, pair)))
    } finally {
      await context.close()
    }
  }

  beforeAll(async () => {
    database = await cloneDatabase()
    server = await serve(settings())
  }, 60_000)
  afterAll(async () => {
    expect((await server.program.stop()).code).toBe(0)
    await database.drop()
  }, 60_000)

  const residentBytes = (): number =>
    Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${server.program.pid}/status`, 'utf8'))![1]) * 1024
  const waiting = async (): Promise<number> => {
    const { text } = await server.send('GET', '/metrics')
    return Number(/^lastseen_http_requests_waiting{queue="requests"} (\d+)$/m.exec(text)![1])
  }

  it('are rejected past a bound, take little memory, leave capacity for other tenants, and have no lasting effect', async () => {
    const [busyKeys, quietKeys] = [await keysOf('Busy', 8), await keysOf('Quiet', 1)]
    const before = residentBytes()
    const body = JSON.stringify({ name: 'x' }).padEnd(0.9 * mebibyte)
    const headers = { 'content-type': 'application/json', 'user-agent': 'busy-client' }
    const answers: string[] = []
    const post = async (index: number): Promise<void> => {
      const authorization = `Bearer ${busyKeys[index % busyKeys.length]}`
      const options = { method: 'POST', dispatcher: agent, headers: { ...headers, authorization }, body } as const
      const reply = await request(`${server.url}/api/v1/assets`, options)
      const json = (await reply.body.json()) as { error?: { type: string } }
      answers.push(`${reply.statusCode} ${json.error?.type} ${String(reply.headers['retry-after'])}`)
    }
    // No request that uses assets can complete while the lock is held.
    await withSql(database.url, (sql) =>
      sql.begin(async (tx) => {
        await tx`lock table assets in access exclusive mode`
        const busyRequests = Array.from({ length: 1300 }, (_, index) => post(index).catch(() => undefined))
        await eventually(async () => expect(answers.length).toBeGreaterThanOrEqual(100), 20_000)
        expect(new Set(answers)).toEqual(new Set(['429 rate_limited 1']))
        // The queue of one organization is bounded, and so is the memory for its bodies.
        expect(await waiting()).toBeLessThanOrEqual(1000)
        expect(residentBytes() - before).toBeLessThan(250 * mebibyte)
        // Requests of other kinds and health checks are served meanwhile.
        const me = await server.send('GET', '/api/v1/orgs/me', { token: quietKeys[0]! })
        expect(me.status).toBe(200)
        expect((await server.send('GET', '/healthz')).status).toBe(200)
        // The clients disconnect: queued requests cost little work, and no request waits longer than its timeout.
        await agent.destroy()
        await Promise.all(busyRequests)
      }),
    )
    await eventually(async () => expect(await waiting()).toBe(0), 20_000)
    // The service works as before.
    const [fresh] = await keysOf('Afterwards', 1)
    const lists = Array.from({ length: 20 }, () => server.send('GET', '/api/v1/assets?limit=1', { token: fresh! }))
    expect((await Promise.all(lists)).map((list) => list.status)).toEqual(lists.map(() => 200))
  })

  it('do not include the burst of one credential, which is always served', async () => {
    const [token] = await keysOf('Burst', 1)
    const headers = { authorization: `Bearer ${token}`, 'user-agent': 'burst' }
    const dispatcher = new Agent({ connections: burst, pipelining: 1 })
    const ask = async (): Promise<number> => {
      const reply = await request(`${server.url}/api/v1/assets?limit=1`, { dispatcher, headers })
      await reply.body.dump()
      return reply.statusCode
    }
    // Wrapped in an object, because the promises resolve only after the lock is released.
    const locked = await withSql(database.url, (sql) =>
      sql.begin(async (tx) => {
        await tx`lock table assets in access exclusive mode`
        const all = Promise.all(Array.from({ length: burst }, ask))
        await eventually(async () => expect(await waiting()).toBeGreaterThanOrEqual(72), 20_000)
        return { all }
      }),
    )
    expect(new Set(await locked.all)).toEqual(new Set([200]))
    await dispatcher.close()
  })
})
