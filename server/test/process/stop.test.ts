import { Agent, type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import { beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '../support/free-port.ts'
import {
  type Pair,
  type ReadyServer,
  databaseOf,
  exchange,
  firstCredentials,
  launch,
  newFolder,
  serve,
  tokenFor,
  waitForExit,
  usePrograms,
  withSql,
} from '../support/process.ts'
import { RawConnection } from '../support/raw-http.ts'

usePrograms()

const dataDir = newFolder()
const settings = { LASTSEEN_DATA_DIR: dataDir }
let pair: Pair
let assetId: number

beforeAll(async () => {
  const server = await serve(settings)
  pair = firstCredentials(server.program.stderr)
  const token = await tokenFor(server.url, pair)
  const made = await server.send('POST', '/api/v1/assets', { token, json: { external_key: 'A-1', name: 'Before' } })
  assetId = made.json.data.id as number
  await server.program.stop()
}, 120_000)

/** Locks the asset's row until released, so that a PATCH of it has to wait. */
async function holdAsset(url: string): Promise<() => Promise<void>> {
  const sql = postgres(url, { max: 1, onnotice: () => undefined })
  await sql.unsafe('begin')
  await sql`select from assets where id = ${assetId} for update`
  return async () => {
    await sql.unsafe('commit').catch(() => undefined)
    await sql.end({ timeout: 1 })
  }
}

async function waitForLockWait(url: string): Promise<void> {
  await withSql(url, async (sql) => {
    while (
      (await sql`select from pg_stat_activity where wait_event_type = 'Lock' and query like '%assets%'`).length === 0
    )
      await sleep(20)
  })
}

/** A PATCH over a keep-alive connection. */
function rename(server: ReadyServer, token: string, name: string): Promise<{ status: number; name: string }> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/merge-patch+json' }
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  return new Promise((resolve, reject) => {
    const sent = request(`${server.url}/api/v1/assets/${assetId}`, { method: 'PATCH', headers, agent })
    sent.on('error', reject)
    sent.on('response', (answer: IncomingMessage) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, name: JSON.parse(text).data?.name as string }))
      answer.on('error', reject)
    })
    sent.end(JSON.stringify({ name }))
  })
}

/** Why a new connection fails, or 'connected'. */
function connectionResult(url: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    socket.once('connect', () => {
      socket.destroy()
      resolve('connected')
    })
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? ''))
  })
}

describe('a server asked to stop', { timeout: 60_000 }, () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    'with %s closes its listener, completes the request in flight and stops the database',
    async (signal) => {
      const server = await serve(settings)
      const token = await tokenFor(server.url, pair)
      const database = (await databaseOf(dataDir))!
      const releaseAsset = await holdAsset(database.url)
      const renamed = rename(server, token, `After ${signal}`)
      await waitForLockWait(database.url)

      server.program.child.kill(signal)
      await server.program.says(/^Stopping: finishing the requests in flight …$/m)
      await expect.poll(() => connectionResult(server.url)).toBe('ECONNREFUSED')
      expect(server.program.isRunning).toBe(true)

      await releaseAsset()
      const releasedAt = performance.now()
      expect(await renamed).toEqual({ status: 200, name: `After ${signal}` })
      const { code, stderr } = await server.program.ended
      expect(performance.now() - releasedAt).toBeLessThan(5000)
      expect(code).toBe(0)
      expect(stderr).toMatch(/\nStopped\.\n$/)
      expect(await databaseOf(dataDir)).toBeUndefined()
      await waitForExit(database.pid)
    },
  )

  it('ignores a second signal', async () => {
    const server = await serve(settings)
    const token = await tokenFor(server.url, pair)
    const database = (await databaseOf(dataDir))!
    const releaseAsset = await holdAsset(database.url)
    const renamed = rename(server, token, 'After two signals')
    await waitForLockWait(database.url)
    server.program.child.kill('SIGINT')
    await server.program.says(/^Stopping/m)
    server.program.child.kill('SIGINT')
    server.program.child.kill('SIGTERM')
    await sleep(200)
    expect(server.program.isRunning).toBe(true)
    await releaseAsset()
    expect(await renamed).toEqual({ status: 200, name: 'After two signals' })
    expect((await server.program.ended).code).toBe(0)
    expect(await databaseOf(dataDir)).toBeUndefined()
  })

  it('does not wait for idle connections', async () => {
    const server = await serve(settings)
    const idle = connect(Number(new URL(server.url).port), '127.0.0.1')
    const used = connect(Number(new URL(server.url).port), '127.0.0.1')
    used.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await new Promise((resolve) => used.once('data', resolve))
    const askedAt = performance.now()
    const { code } = await server.program.stop()
    expect(performance.now() - askedAt).toBeLessThan(5000)
    expect(code).toBe(0)
    for (const socket of [idle, used]) socket.destroy()
  })

  it('ends the live streams, so that it does not wait for them and clients resume at another process', async () => {
    const server = await serve(settings)
    const token = await tokenFor(server.url, pair)
    const live = await fetch(`${server.url}/api/v1/live`, {
      headers: { authorization: `Bearer ${token}`, 'user-agent': 'lastseen-tests' },
    })
    expect(live.status).toBe(200)
    const received = live.text()
    const askedAt = performance.now()
    const { code } = await server.program.stop()
    expect(performance.now() - askedAt).toBeLessThan(5000)
    // The response ends as a whole and is not cut off.
    expect(await received).toMatch(/^(:|id|event|retry)/m)
    expect(code).toBe(0)
  })

  it('with a delay first reports that it is not ready and closes the connection after each response', async () => {
    const server = await serve({ ...settings, LASTSEEN_SHUTDOWN_DELAY_SECONDS: '2' })
    const token = await tokenFor(server.url, pair)
    expect((await server.send('GET', '/readyz')).status).toBe(200)
    const askedAt = performance.now()
    const stopped = server.program.stop()
    await server.program.says(/^Stopping/m)
    const ready = await server.send('GET', '/readyz')
    expect([ready.status, ready.text]).toEqual([503, 'the server is stopping\n'])
    expect((await server.send('GET', '/healthz')).status).toBe(200)
    const answer = await server.send('GET', `/api/v1/assets/${assetId}`, { token })
    expect([answer.status, answer.headers['connection']]).toEqual([200, 'close'])
    expect((await stopped).code).toBe(0)
    expect(performance.now() - askedAt).toBeGreaterThan(2000)
    expect(await connectionResult(server.url)).toBe('ECONNREFUSED')
  })

  it('waits ten seconds for a request that does not end, and then stops', async () => {
    const server = await serve(settings)
    const token = await tokenFor(server.url, pair)
    const wire = await RawConnection.open(server.url)
    const headers = ['Host: a', `Authorization: Bearer ${token}`, 'Content-Type: application/json']
    wire.request(['POST /api/v1/assets HTTP/1.1', ...headers, 'Content-Length: 100'], '{ "name":')
    // A later request is answered only after the server has received the PATCH.
    for (let after = 0; after < 3; after++) await server.send('GET', '/readyz')
    const askedAt = performance.now()
    const { code } = await server.program.stop()
    expect(performance.now() - askedAt).toBeGreaterThan(9500)
    expect(performance.now() - askedAt).toBeLessThan(25_000)
    expect(await wire.readResponse()).toBeNull()
    expect(code).toBe(0)
    expect(await databaseOf(dataDir)).toBeUndefined()
  })

  it('while it is still starting exits cleanly, and the next start succeeds', async () => {
    const early = newFolder()
    const program = launch({ LASTSEEN_DATA_DIR: early, PORT: String(await freePort()) })
    await program.says(/^Creating the database/m)
    expect((await program.stop()).code).toBe(0)
    expect(await databaseOf(early)).toBeUndefined()
    const server = await serve({ LASTSEEN_DATA_DIR: early })
    expect((await server.send('GET', '/readyz')).status).toBe(200)
    await server.program.stop()
  })
})

describe('npm start', { timeout: 60_000 }, () => {
  const npm = { command: ['npm', 'start'] as [string, string], isGroup: true }

  it('exits on Ctrl+C, which reaches npm and the server, and leaves no database running', async () => {
    const server = await serve(settings, npm)
    expect((await exchange(server.url, pair)).status).toBe(200)
    const database = (await databaseOf(dataDir))!
    const { stderr } = await server.program.stop('SIGINT')
    expect(stderr).toContain('\nStopped.\n')
    expect(await databaseOf(dataDir)).toBeUndefined()
    await waitForExit(database.pid)
  })

  it('exits when only npm receives the signal, as from a supervisor', async () => {
    const server = await serve(settings, npm)
    expect((await exchange(server.url, pair)).status).toBe(200)
    const database = (await databaseOf(dataDir))!
    server.program.child.kill('SIGTERM')
    await server.program.says(/^Stopped\.$/m)
    await waitForExit(database.pid)
    expect(await connectionResult(server.url)).toBe('ECONNREFUSED')
  })
})
