import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type Pair,
  type ReadyServer,
  databaseOf,
  emptyDatabase,
  firstCredentials,
  lastseen,
  newFolder,
  serve,
  tokenFor,
  waitForExit,
  usePrograms,
  withSql,
} from '../support/process.ts'

usePrograms()

/** Creates assets one after the other until the server is down, and returns the acknowledged keys. */
async function writeUntilGone(server: ReadyServer, token: string, prefix: string): Promise<string[]> {
  const acknowledged: string[] = []
  for (let number = 1; number <= 100; number++) {
    const json = { external_key: `${prefix}-${number}`, name: 'Written' }
    try {
      if ((await server.send('POST', '/api/v1/assets', { token, json })).status !== 201) break
      acknowledged.push(json.external_key)
    } catch {
      break
    }
  }
  return acknowledged
}

async function keysOf(server: ReadyServer, token: string): Promise<string[]> {
  const list = await server.send('GET', '/api/v1/assets', { token, query: { limit: 200 } })
  expect(list.status).toBe(200)
  return (list.json.data as { external_key: string }[]).map((asset) => asset.external_key)
}

describe('after a crash', { timeout: 60_000 }, () => {
  const dataDir = newFolder()
  const settings = { LASTSEEN_DATA_DIR: dataDir }
  let pair: Pair
  const acknowledged: string[] = []

  it('of the server alone, the database keeps running and the next start adopts it', async () => {
    const server = await serve(settings)
    pair = firstCredentials(server.program.stderr)
    const token = await tokenFor(server.url, pair)
    const writing = writeUntilGone(server, token, 'ONE')
    await sleep(300)
    const before = (await databaseOf(dataDir))!
    expect((await server.program.stop('SIGKILL')).signal).toBe('SIGKILL')
    acknowledged.push(...(await writing))
    expect(await databaseOf(dataDir)).toEqual(before)

    const next = await serve(settings)
    expect(next.program.stderr).toMatch(/^Lastseen is ready: /)
    expect(await keysOf(next, await tokenFor(next.url, pair))).toEqual(expect.arrayContaining(acknowledged))
    expect(acknowledged.length).toBeGreaterThan(0)
    expect((await next.program.stop()).code).toBe(0)
    await waitForExit(before.pid)
    expect(await databaseOf(dataDir)).toBeUndefined()
  })

  it('of the server and the database, the next start recovers every acknowledged write', async () => {
    const server = await serve(settings)
    const token = await tokenFor(server.url, pair)
    const writing = writeUntilGone(server, token, 'TWO')
    await sleep(300)
    const { pid } = (await databaseOf(dataDir))!
    process.kill(pid, 'SIGKILL')
    await server.program.stop('SIGKILL')
    acknowledged.push(...(await writing))
    await waitForExit(pid)

    const next = await serve(settings)
    expect(next.program.stderr).toMatch(/^PostgreSQL 18\.\d+ is running on port \d+\nLastseen is ready: /)
    expect(await keysOf(next, await tokenFor(next.url, pair))).toEqual(expect.arrayContaining(acknowledged))
    expect(acknowledged.some((key) => key.startsWith('TWO-'))).toBe(true)
    expect((await next.program.stop()).code).toBe(0)
    expect(await databaseOf(dataDir)).toBeUndefined()
  })

  it('of one database process, the server continues without a restart and receives revocations again', async () => {
    const server = await serve(settings)
    const token = await tokenFor(server.url, pair)
    const { pid, url } = (await databaseOf(dataDir))!
    const [backend] = await withSql(
      url,
      (sql) => sql`select pid from pg_stat_activity where application_name = 'lastseen'`,
    )
    process.kill(backend!['pid'] as number, 'SIGKILL')
    await expect.poll(() => server.send('GET', '/readyz').then((reply) => reply.status), { timeout: 20_000 }).toBe(200)
    await expect
      .poll(() => server.send('GET', '/api/v1/assets', { token }).then((reply) => reply.status), { timeout: 20_000 })
      .toBe(200)
    expect((await databaseOf(dataDir))!.pid).toBe(pid)
    expect(server.program.isRunning).toBe(true)
    await expect.poll(() => listeners(url), { timeout: 20_000 }).toBe(1)
    const revoked = await lastseen(['key', 'revoke', '--client-id', pair.client_id, '--json'], settings)
    expect(revoked.code).toBe(0)
    expect((await server.send('GET', '/api/v1/assets', { token })).status).toBe(401)
    expect((await server.program.stop()).code).toBe(0)
    expect(await databaseOf(dataDir)).toBeUndefined()
  })
})

/** The number of processes of the installation that listen for notifications. */
const listeners = (url: string): Promise<number> =>
  withSql(url, async (sql) => {
    const rows = await sql`select from pg_stat_activity
      where application_name like 'lastseen pubsub %' and datname = current_database() and query ilike 'listen%'`
    return rows.length
  }).catch(() => 0)

describe('when an outside database drops every connection', { timeout: 60_000 }, () => {
  let database: Awaited<ReturnType<typeof emptyDatabase>>
  let server: ReadyServer
  let pair: Pair
  let token: string

  beforeAll(async () => {
    database = await emptyDatabase()
    server = await serve({ DATABASE_URL: database.url })
    pair = firstCredentials(server.program.stderr)
    token = await tokenFor(server.url, pair)
  }, 60_000)
  afterAll(async () => {
    await server.program.stop()
    await database.drop()
  })

  const create = (external_key: string): Promise<number> =>
    server.send('POST', '/api/v1/assets', { token, json: { external_key, name: 'n' } }).then((reply) => reply.status)

  const list = (): Promise<number> => server.send('GET', '/api/v1/assets', { token }).then((reply) => reply.status)

  const dropConnections = (): Promise<number> =>
    withSql(database.url, async (sql) => {
      const rows = await sql`select pg_terminate_backend(pid) from pg_stat_activity
        where (application_name = 'lastseen' or application_name like 'lastseen pubsub %') and datname = current_database()`
      return rows.length
    })

  it('the next requests succeed without a restart', async () => {
    expect(await create('A')).toBe(201)
    expect(await dropConnections()).toBeGreaterThan(1)
    await expect.poll(list).toBe(200)
    await expect.poll(() => create('B')).not.toBe(500)
    const writes = await Promise.all(Array.from({ length: 12 }, (_, number) => create(`C-${number}`)))
    expect(writes).toEqual(writes.map(() => 201))
    const reads = await Promise.all(Array.from({ length: 12 }, list))
    expect(reads).toEqual(reads.map(() => 200))
    await expect.poll(() => listeners(database.url), { timeout: 10_000 }).toBe(1)
  })

  it('requests in the middle of a write are answered 500, and none of their connections leaks', async () => {
    const made = await server.send('GET', '/api/v1/assets', { token, query: { external_key: 'A' } })
    const path = `/api/v1/assets/${made.json.data[0].id as number}`
    const statuses = await withSql(database.url, async (sql) => {
      await sql.unsafe('begin')
      await sql`select from assets where external_key = 'A' for update`
      const waiting = Array.from({ length: 6 }, () =>
        server.send('PATCH', path, { token, json: { name: 'x' } }).then((reply) => reply.status),
      )
      await withSql(database.url, async (other) => {
        while ((await other`select from pg_stat_activity where wait_event_type = 'Lock'`).length < 4) await sleep(20)
      })
      await dropConnections()
      await sql.unsafe('commit')
      return Promise.all(waiting)
    })
    expect(statuses.slice(0, 4)).toEqual([500, 500, 500, 500])
    await expect.poll(() => create('D')).not.toBe(500)
    const writes = await Promise.all(Array.from({ length: 12 }, (_, number) => create(`E-${number}`)))
    expect(writes).toEqual(writes.map(() => 201))
  })

  it('and is down for a while, the server reports it and serves again as soon as the database is back', async () => {
    const name = new URL(database.url).pathname.slice(1)
    const clusterUrl = new URL(database.url)
    clusterUrl.pathname = '/postgres'
    const ready = (): Promise<number> => server.send('GET', '/readyz').then((reply) => reply.status)
    await withSql(clusterUrl.href, async (sql) => {
      await sql.unsafe(`alter database ${name} with allow_connections false`)
      await sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name}`
      await expect.poll(ready, { timeout: 10_000 }).toBe(503)
      expect((await server.send('GET', '/healthz')).status).toBe(200)
      const rejected = await server.send('GET', '/api/v1/assets', { token })
      expect(rejected.status).toBe(500)
      expect(rejected.json.error.type).toBe('internal_error')
      await sleep(2500)
      await sql.unsafe(`alter database ${name} with allow_connections true`)
    })
    await expect.poll(ready, { timeout: 10_000 }).toBe(200)
    await expect.poll(list, { timeout: 10_000 }).toBe(200)
    expect(await create('F')).toBe(201)
    await expect.poll(() => listeners(database.url), { timeout: 20_000 }).toBe(1)
    const settings = { DATABASE_URL: database.url }
    const revoked = await lastseen(['key', 'revoke', '--client-id', pair.client_id, '--json'], settings)
    expect(revoked.code).toBe(0)
    expect(await list()).toBe(401)
  })
})
