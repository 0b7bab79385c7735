import { once } from 'node:events'
import { type Socket, connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { createSignedInUser } from '../../support/accounts.ts'
import { type TestOrg, useSecondApp } from '../../support/app.ts'
import { endings, remainingMs } from '../../support/endings.ts'
import { database, eventually, useTracking } from '../../support/tracking.ts'

const singleServerReason = 'the test starts a second server itself'
const context = useTracking('2026-05-04T12:00:00Z', { singleServerReason })
const second = useSecondApp(context, { isOneOfSeveral: true, clock: context.clock })
const open: Socket[] = []
afterEach(() => {
  for (const socket of open.splice(0)) socket.destroy()
})

/** Fills an organization so that its export is larger than the buffers of both ends of a connection. */
async function newOrg(): Promise<TestOrg> {
  const org = await context.app.newOrg()
  await database(context.app)`
    insert into assets (org_id, id, external_key, name, metadata, type, is_active, valid_from, created_at, updated_at,
      search_text)
    select ${org.orgId}, n, 'K' || n, 'N', json_build_object('text', repeat('x', 60000)), 'asset', true,
      '2026-01-01', now(), now(), 'k' from generate_series(1, 300) n`
  return org
}

interface Connection {
  socket: Socket
  isClosed: boolean
}

/** Sends a request in each process and waits for the beginning of the response, of which the client reads nothing more. */
const sendInBoth = (lines: readonly string[], token: string, body = ''): Promise<Connection[]> =>
  Promise.all(
    [context.app, second.app].map(async (app) => {
      const { hostname, port } = new URL(app.url)
      const socket = connect(Number(port), hostname)
      const connection = { socket, isClosed: false }
      socket.on('error', () => undefined).on('close', () => (connection.isClosed = true))
      open.push(socket)
      const head = [...lines, `Authorization: Bearer ${token}`, 'Host: a', 'User-Agent: a'].join('\r\n')
      socket.write(`${head}\r\n\r\n`)
      await once(socket, 'readable', { signal: AbortSignal.timeout(30_000) })
      expect(String(socket.read(12))).toMatch(/^HTTP\/1\.1 [12]00$/)
      socket.write(body)
      return connection
    }),
  )

const watch = (token: string): Promise<Connection[]> =>
  sendInBoth(['GET /api/v1/live HTTP/1.1', 'Connection: close'], token)

const download = (token: string): Promise<Connection[]> => sendInBoth(['GET /api/v1/bulk/assets HTTP/1.1'], token)

const uploadLines = ['Content-Type: application/x-ndjson', 'Content-Length: 100000', 'Expect: 100-continue']

const upload = (token: string): Promise<Connection[]> =>
  sendInBoth(['POST /api/v1/bulk/assets HTTP/1.1', ...uploadLines], token, '{"external_key":"NEW","name":"New"}\n')

const isClosed = (connections: Connection[]): boolean[] => connections.map((one) => one.isClosed)

async function expectClosedWithin(limitMs: number, connections: Connection[]): Promise<void> {
  for (const { socket } of connections) socket.resume()
  await eventually(async () => expect(isClosed(connections)).toEqual([true, true]), limitMs)
}

const expectClosed = (connections: Connection[]): Promise<void> => expectClosedWithin(1000, connections)

/**
 * A download is seen as closed only when the client has read what the buffers hold, which takes a while. If the server had
 * not closed it within the second, the client would read the complete export of 18 MB.
 */
async function expectDownloadClosed(connections: Connection[]): Promise<void> {
  await sleep(1000)
  await expectClosedWithin(10_000, connections)
  for (const { socket } of connections) expect(socket.bytesRead).toBeLessThan(15_000_000)
}

/** Opens all three kinds of long connections with one token. */
const beginAll = async (token: string) => ({
  streams: await watch(token),
  downloads: await download(token),
  uploads: await upload(token),
})

describe('A live stream, a download and an upload are cut off in every process within a second when', () => {
  it.each(endings)('%s; valid ones go on [D40]', async (_why, beginEnding) => {
    const org = await newOrg()
    const { token, end, endsOthers = false } = await beginEnding(org, context.clock)
    const { streams, downloads, uploads } = await beginAll(token)
    const others = await beginAll(await org.full.token())
    await end()
    await Promise.all([expectClosed(streams), expectDownloadClosed(downloads), expectClosed(uploads)])
    if (!endsOthers) expect(isClosed(Object.values(others).flat())).toEqual(Array(6).fill(false))
  })
})

describe('When the access token expires', () => {
  async function expireTokenOf(begin: typeof watch): Promise<Connection[]> {
    // A token expires at a whole second.
    context.clock.advance(1000 - (context.clock.millis() % 1000))
    const { token } = await createSignedInUser(await newOrg(), 'manager')
    context.clock.advance(900_000 - remainingMs)
    const connections = await begin(token)
    await sleep(remainingMs)
    return connections
  }

  it('a live stream is closed in every process within a second', async () => {
    await expectClosed(await expireTokenOf(watch))
  })

  it('a download goes on to its end, because its session is still valid', async () => {
    const connections = await expireTokenOf(download)
    await sleep(1000)
    for (const { socket } of connections) socket.resume()
    const received = (): boolean[] => connections.map(({ socket }) => socket.bytesRead > 18_000_000)
    await eventually(async () => expect(received()).toEqual([true, true]), 20_000)
  })

  it('an upload goes on, because its session is still valid', async () => {
    const connections = await expireTokenOf(upload)
    for (const { socket } of connections) socket.resume()
    await sleep(1000)
    expect(isClosed(connections)).toEqual([false, false])
  })
})

describe('A process that missed a revocation', () => {
  it('closes the live stream once it listens again', async () => {
    const user = await createSignedInUser(await context.app.newOrg(), 'viewer')
    const connections = await watch(user.token)
    const sql = database(context.app)
    await sql`update refresh_token_families set revoked_at = now() where user_id = ${user.userId}`
    await sql`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and query ilike 'listen %'`
    await expectClosedWithin(8000, connections)
  })
})

describe('When a process was killed after a revocation and before it published it', () => {
  it('the live streams are closed a minute later', async () => {
    const user = await createSignedInUser(await context.app.newOrg(), 'viewer')
    const connections = await watch(user.token)
    const sql = database(context.app)
    await sql`update refresh_token_families set revoked_at = now() where user_id = ${user.userId}`
    context.clock.advance(60_000)
    await expectClosedWithin(8000, connections)
  })
})
