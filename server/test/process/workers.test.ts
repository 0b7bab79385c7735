import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isAlive } from '../../src/embedded-postgres/file-lock.ts'
import type { Reply } from '../support/client.ts'
import { freePort } from '../support/free-port.ts'
import {
  type Pair,
  type ReadyServer,
  databaseOf,
  exchange,
  firstCredentials,
  lastseen,
  launch,
  newFolder,
  serve,
  tokenFor,
  waitForExit,
  usePrograms,
  withSql,
} from '../support/process.ts'

usePrograms()

const dataDir = newFolder()
const settings = { LASTSEEN_DATA_DIR: dataDir }
/** The time after which the supervisor knows the consumption of a worker that owns a bucket. */
const replicationMs = 100
const twoWorkers = { args: ['serve', '--workers', '2'] }

const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number)

/** The worker processes, which have the name node. */
const workersOf = (server: ReadyServer): number[] =>
  childrenOf(server.program.pid).filter((pid) => readFileSync(`/proc/${pid}/comm`, 'utf8').startsWith('node'))

/** The series of all counters and histograms. */
const countersOf = ({ text }: Reply): Map<string, number> =>
  new Map(
    [...text.matchAll(/^((?:lastseen|process)_\w+_(?:total|count|bucket|sum)(?:\{.*\})?) (\S+)$/gm)].map(
      ([, series, value]) => [series!, Number(value)],
    ),
  )

/** The processes that have served requests so far, in the order of their log lines. */
const servers = (server: ReadyServer, path: string): number[] => {
  const lines = server.program.stdout.split('\n').filter((line) => line.includes(`"path":"${path}"`))
  return lines.map((line) => (JSON.parse(line) as { pid: number }).pid)
}
const servedBy = (server: ReadyServer, path: string): Set<number> => new Set(servers(server, path))

async function newKey(...scopes: string[]): Promise<Pair> {
  const args = ['key', 'create', '--org', 'My organization', '--name', 'k', '--scopes', scopes.join(','), '--json']
  return JSON.parse((await lastseen(args, settings)).stdout) as Pair
}

/** Sends many requests at once, each over a new connection so that they spread over the workers. */
async function volley(server: ReadyServer, path: string, token: string, count: number): Promise<number[]> {
  const agent = new Agent({ connections: count, pipelining: 0, headersTimeout: 20_000 })
  const headers = { authorization: `Bearer ${token}`, 'user-agent': 'lastseen-tests' }
  const one = async (): Promise<number> => {
    const { statusCode, body } = await request(server.url + path, { headers, dispatcher: agent })
    await body.dump()
    return statusCode
  }
  const statuses = await Promise.all(Array.from({ length: count }, one))
  await agent.close()
  return statuses
}

/** Kills a worker while a connection is being handed to it, the hardest case for the supervisor. */
async function killMidHandOver(server: ReadyServer, worker: number): Promise<void> {
  process.kill(worker, 'SIGSTOP')
  // Workers are used round-robin: of two connections one goes to each worker.
  const { hostname, port } = new URL(server.url)
  const sockets = [1, 2].map(() => connect(Number(port), hostname))
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  await sleep(100)
  process.kill(worker, 'SIGKILL')
  await server.program.says(new RegExp(`^Worker ${worker} ended with SIGKILL; starting another$`, 'm'))
  for (const socket of sockets) socket.destroy()
}

/** Sends one request after the other over one connection, and returns the remaining tokens after each. */
async function row(server: ReadyServer, path: string, token: string, count: number): Promise<number[]> {
  const agent = new Agent({ connections: 1 })
  const headers = { authorization: `Bearer ${token}`, 'user-agent': 'lastseen-tests' }
  const remaining: number[] = []
  for (let sent = 0; sent < count; sent++) {
    const answer = await request(server.url + path, { headers, dispatcher: agent })
    await answer.body.dump()
    expect(answer.statusCode).toBe(200)
    remaining.push(Number(answer.headers['x-ratelimit-remaining']))
  }
  await agent.close()
  return remaining
}

describe('a server with two workers', { timeout: 60_000 }, () => {
  let server: ReadyServer
  let first: Pair

  beforeAll(async () => {
    server = await serve(settings, twoWorkers)
    first = firstCredentials(server.program.stderr)
  }, 90_000)
  afterAll(() => server.program.stop())

  it('reports once that it is ready and prints the first credentials once', () => {
    expect(server.program.stderr.match(/^Lastseen is ready: /gm)).toHaveLength(1)
    expect(server.program.stderr.match(/First start/g)).toHaveLength(1)
    expect(server.program.stderr.match(/^PostgreSQL /gm)).toHaveLength(1)
  })

  it('answers from both workers and from no other process', async () => {
    expect(await volley(server, '/healthz', '', 40)).toEqual(Array.from({ length: 40 }, () => 200))
    await expect.poll(() => servedBy(server, '/healthz')).toEqual(new Set(workersOf(server)))
    expect(workersOf(server)).toHaveLength(2)
  })

  it('has metrics that add up over both workers and never decrease', async () => {
    const scrape = async (): Promise<Map<string, number>> => countersOf(await server.send('GET', '/metrics'))
    const answered = (counters: Map<string, number>): number =>
      counters.get('lastseen_http_requests_total{operation="/healthz",status="200"}') ?? 0
    const before = await scrape()
    let latest = before
    for (let count = 0; count < 100; count++) {
      expect(await volley(server, '/healthz', '', 1)).toEqual([200])
      const next = await scrape()
      const decreased = [...latest].filter(([series, value]) => (next.get(series) ?? 0) < value)
      expect(decreased).toEqual([])
      latest = next
    }
    expect(answered(latest)).toBe(answered(before) + 100)
  })

  it('has counters that do not fall when a worker is killed and replaced', async () => {
    expect(new Set(await volley(server, '/healthz', '', 20))).toEqual(new Set([200]))
    let latest = countersOf(await server.send('GET', '/metrics'))
    expect(latest.size).toBeGreaterThan(50)
    const [killed] = workersOf(server)
    process.kill(killed!, 'SIGKILL')
    await server.program.says(new RegExp(`^Worker ${killed} ended with SIGKILL; starting another$`, 'm'))
    const expectNoFall = async (): Promise<void> => {
      const next = countersOf(await server.send('GET', '/metrics'))
      const decreased = [...latest].filter(([series, value]) => (next.get(series) ?? 0) < value)
      expect(decreased).toEqual([])
      latest = next
    }
    await expectNoFall()
    await expect.poll(() => workersOf(server).length, { timeout: 20_000 }).toBe(2)
    await expectNoFall()
    await volley(server, '/healthz', '', 20)
    await expectNoFall()
  })

  it('admits 120 requests in a burst over both workers, and one more per second', async () => {
    const token = await tokenFor(server.url, await newKey('locations:read'))
    const began = performance.now()
    const statuses = await volley(server, '/api/v1/locations', token, 260)
    const seconds = (performance.now() - began) / 1000
    const admitted = statuses.filter((status) => status === 200).length
    expect(new Set(statuses)).toEqual(new Set([200, 429]))
    expect(admitted).toBeGreaterThanOrEqual(120)
    expect(admitted).toBeLessThanOrEqual(120 + Math.ceil(seconds))
    await expect.poll(() => servedBy(server, '/api/v1/locations').size).toBe(2)
    // The database is authoritative, because the workers share it.
    const { url } = (await databaseOf(dataDir))!
    expect(await withSql(url, (sql) => sql`select from rate_buckets where not revoked`)).not.toHaveLength(0)
  })

  it('counts the requests of a caller on one worker, and continues the count on the other worker', async () => {
    const token = await tokenFor(server.url, await newKey('locations:read'))
    const began = performance.now()
    const remaining = await row(server, '/api/v1/locations', token, 60)
    const refilled = (): number => Math.ceil((performance.now() - began) / 1000)
    for (const [index, left] of remaining.entries()) {
      expect(left).toBeGreaterThanOrEqual(119 - index)
      expect(left).toBeLessThanOrEqual(119 - index + refilled())
    }
    const statuses = await volley(server, '/api/v1/locations', token, 200)
    const admitted = statuses.filter((status) => status === 200).length
    expect(admitted).toBeGreaterThanOrEqual(60)
    expect(admitted).toBeLessThanOrEqual(60 + refilled())
  })

  it('rejects a revoked credential in both workers from the next request on (D40)', async () => {
    const pair = await newKey('assets:read')
    const token = await tokenFor(server.url, pair)
    expect(new Set(await volley(server, '/api/v1/assets', token, 20))).toEqual(new Set([200]))
    await expect.poll(() => servedBy(server, '/api/v1/assets').size).toBe(2)
    const revoked = await lastseen(['key', 'revoke', '--client-id', pair.client_id, '--json'], settings)
    expect(revoked.code).toBe(0)
    expect(new Set(await volley(server, '/api/v1/assets', token, 40))).toEqual(new Set([401]))
    expect((await exchange(server.url, pair)).status).toBe(401)
  })

  it('replaces a killed worker while the other one serves', async () => {
    const [killed, other] = workersOf(server)
    process.kill(killed!, 'SIGKILL')
    await server.program.says(new RegExp(`^Worker ${killed} ended with SIGKILL; starting another$`, 'm'))
    expect(await volley(server, '/readyz', '', 5)).toEqual([200, 200, 200, 200, 200])
    await expect.poll(() => workersOf(server).length, { timeout: 20_000 }).toBe(2)
    const [added] = workersOf(server).filter((pid) => pid !== other)
    await expect
      .poll(() => volley(server, '/openapi.json', '', 4).then(() => servedBy(server, '/openapi.json')), {
        timeout: 20_000,
        interval: 200,
      })
      .toEqual(new Set([other, added]))
    expect(server.program.stderr.match(/^Lastseen is ready: /gm)).toHaveLength(1)
    expect((await exchange(server.url, first)).status).toBe(200)
  })

  it('keeps the bucket of a caller that used one worker when that worker is killed', async () => {
    const token = await tokenFor(server.url, await newKey('assets:read'))
    const began = performance.now()
    await row(server, '/api/v1/orgs/me', token, 100)
    await sleep(replicationMs)
    await expect.poll(() => servers(server, '/api/v1/orgs/me')).toHaveLength(100)
    const kept = servedBy(server, '/api/v1/orgs/me')
    expect(kept.size).toBe(1)
    const [killed] = [...kept] as [number]
    await killMidHandOver(server, killed)
    const statuses = await volley(server, '/api/v1/orgs/me', token, 60)
    const admitted = statuses.filter((status) => status === 200).length
    expect(admitted).toBeGreaterThanOrEqual(20)
    expect(admitted).toBeLessThanOrEqual(20 + Math.ceil((performance.now() - began) / 1000))
    await expect.poll(() => workersOf(server).length, { timeout: 20_000 }).toBe(2)
  })

  it('keeps a bucket when a worker is killed, and shares it when another process joins', async () => {
    const token = await tokenFor(server.url, await newKey('locations:read'))
    const began = performance.now()
    expect(new Set(await volley(server, '/api/v1/locations', token, 100))).toEqual(new Set([200]))
    await sleep(replicationMs)
    const [killed] = workersOf(server)
    process.kill(killed!, 'SIGKILL')
    await waitForExit(killed!)
    const beside = await serve(settings)
    try {
      const statuses = await Promise.all([server, beside].map((one) => volley(one, '/api/v1/locations', token, 60)))
      const admitted = statuses.flat().filter((status) => status === 200).length
      const seconds = (performance.now() - began) / 1000
      expect(new Set(statuses.flat())).toEqual(new Set([200, 429]))
      expect(admitted).toBeGreaterThanOrEqual(20)
      expect(admitted).toBeLessThanOrEqual(20 + Math.ceil(seconds))
    } finally {
      await beside.program.stop()
    }
    await expect.poll(() => workersOf(server).length, { timeout: 20_000 }).toBe(2)
  })

  it('continues when a worker is killed while it handles requests', async () => {
    const token = await tokenFor(server.url, await newKey('locations:read'))
    const asking = Array.from({ length: 4 }, () => volley(server, '/api/v1/locations', token, 50).catch(() => []))
    await sleep(30)
    const [killed] = workersOf(server)
    process.kill(killed!, 'SIGKILL')
    await Promise.all(asking)
    await expect.poll(() => workersOf(server).filter((pid) => pid !== killed).length, { timeout: 20_000 }).toBe(2)
    expect(await volley(server, '/readyz', '', 5)).toEqual([200, 200, 200, 200, 200])
  })

  it('on SIGTERM completes the requests in flight and stops the workers and the database', async () => {
    const { pid, url } = (await databaseOf(dataDir))!
    const workers = workersOf(server)
    const token = await tokenFor(server.url, await newKey('assets:read', 'assets:write'))
    const made = await server.send('POST', '/api/v1/assets', { token, json: { external_key: 'W-1', name: 'Before' } })
    const path = `/api/v1/assets/${made.json.data.id as number}`
    await withSql(url, async (sql) => {
      await sql.unsafe('begin')
      await sql`select from assets where external_key = 'W-1' for update`
      const patched = server.send('PATCH', path, { token, json: { name: 'After' } })
      await withSql(url, async (other) => {
        while ((await other`select from pg_stat_activity where wait_event_type = 'Lock'`).length === 0) await sleep(20)
      })
      server.program.child.kill('SIGTERM')
      await server.program.says(/^Stopping: finishing the requests in flight …$/m)
      await sleep(200)
      expect(workers.some(isAlive)).toBe(true)
      await sql.unsafe('commit')
      const reply = await patched
      expect(reply.status).toBe(200)
      expect(reply.json.data.name).toBe('After')
    })
    const ended = await server.program.ended
    expect(ended.code).toBe(0)
    expect(ended.stderr).toMatch(/\nStopped\.\n$/)
    for (const worker of workers) await waitForExit(worker)
    await waitForExit(pid)
    expect(await databaseOf(dataDir)).toBeUndefined()
  })
})

describe('a server with two workers that is killed', { timeout: 60_000 }, () => {
  it('ends its workers too and leaves a database that the next start adopts', async () => {
    const server = await serve({ ...settings, LASTSEEN_WORKERS: '2' })
    const workers = workersOf(server)
    expect(workers).toHaveLength(2)
    const before = await databaseOf(dataDir)
    await server.program.stop('SIGKILL')
    for (const worker of workers) await waitForExit(worker)
    expect(await databaseOf(dataDir)).toEqual(before)
    const next = await serve(settings, twoWorkers)
    expect((await databaseOf(dataDir))!.pid).toBe(before!.pid)
    expect((await next.send('GET', '/readyz')).status).toBe(200)
    expect((await next.program.stop()).code).toBe(0)
    expect(await databaseOf(dataDir)).toBeUndefined()
  })
})

describe('workers that cannot start', () => {
  it('are started five times in a row, and then the program exits with an error', async () => {
    // Makes every worker exit at its start, but not the supervisor.
    const code = `import cluster from 'node:cluster'; if (cluster.isWorker) process.exit(3)`
    const NODE_OPTIONS = `--import data:text/javascript;base64,${Buffer.from(code).toString('base64')}`
    const broken = { LASTSEEN_DATA_DIR: newFolder(), PORT: String(await freePort()), NODE_OPTIONS }
    const ended = await launch(broken, twoWorkers).ended
    expect(ended.code).toBe(1)
    expect(ended.stderr.match(/ended with code 3; starting another/g)).toHaveLength(4)
    expect(ended.stderr.trimEnd()).toMatch(/No worker could start, 5 times in a row. Their error messages are above.$/)
  }, 60_000)
})
