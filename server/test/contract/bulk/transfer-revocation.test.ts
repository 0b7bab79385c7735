import { once } from 'node:events'
import { type Socket, connect } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { mintCredentials } from '../../../src/auth/commands.ts'
import { type TestUser, createSignedInUser, requestAs } from '../../support/accounts.ts'
import { type TestApp, type TestOrg, startApp, useApp } from '../../support/app.ts'
import { closeDatabase, database, eventually } from '../../support/tracking.ts'

const context = useApp({ singleServerReason: 'the test starts a second server itself' })
let second: TestApp
let org: TestOrg
let admin: TestUser
const open: Socket[] = []

beforeAll(async () => {
  second = await startApp({ sharesDatabaseWith: context.app, isOneOfSeveral: true })
  org = await context.app.newOrg()
  admin = await createSignedInUser(org, 'admin')
  // More than the buffers of both ends of a connection hold.
  await database(context.app)`
    insert into assets (org_id, id, external_key, name, metadata, type, is_active, valid_from, created_at, updated_at,
      search_text)
    select ${org.orgId}, n, 'K' || n, 'N', json_build_object('text', repeat('x', 60000)), 'asset', true, now(), now(),
      now(), 'k' from generate_series(1, 600) n`
})
afterEach(() => {
  for (const socket of open.splice(0)) socket.destroy()
})
afterAll(async () => {
  await closeDatabase(context.app)
  await second.stop()
})

interface Connection {
  socket: Socket
  isClosed: boolean
}

/** Sends a request in each process; the client reads nothing of the response. */
const sendInBoth = (lines: readonly string[], body = ''): Promise<Connection[]> =>
  Promise.all(
    [context.app, second].map(async (app) => {
      const { hostname, port } = new URL(app.url)
      const socket = connect(Number(port), hostname)
      const connection = { socket, isClosed: false }
      socket.on('error', () => undefined).on('close', () => (connection.isClosed = true))
      open.push(socket)
      await once(socket, 'connect')
      socket.write(`${[...lines, 'Host: a', 'User-Agent: a'].join('\r\n')}\r\n\r\n${body}`)
      await once(socket, 'readable', { signal: AbortSignal.timeout(body === '' ? 5000 : 500) }).catch(() => undefined)
      return connection
    }),
  )

const download = (token: string): Promise<Connection[]> =>
  sendInBoth(['GET /api/v1/bulk/assets HTTP/1.1', `Authorization: Bearer ${token}`])

const upload = (token: string): Promise<Connection[]> =>
  sendInBoth(
    [
      'POST /api/v1/bulk/assets HTTP/1.1',
      `Authorization: Bearer ${token}`,
      'Content-Type: application/x-ndjson',
      'Content-Length: 100000',
    ],
    '{"external_key":"NEW-1","name":"New"}\n',
  )

/**
 * A download is seen as closed only when the client has read what the buffers hold, which takes a while. If the server had
 * not closed it within the second, the client would read the complete export of 36 MB.
 */
async function expectDownloadClosed(connections: Connection[]): Promise<void> {
  await new Promise((resume) => setTimeout(resume, 1000))
  for (const { socket } of connections) socket.resume()
  await expectClosedWithin(10_000, connections)
  for (const { socket } of connections) expect(socket.bytesRead).toBeLessThan(30_000_000)
}

const expectClosedWithin = (limitMs: number, connections: Connection[]): Promise<void> =>
  eventually(async () => expect(connections.map(({ isClosed }) => isClosed)).toEqual([true, true]), limitMs)

const expectUploadClosed = (connections: Connection[]): Promise<void> => expectClosedWithin(1000, connections)

describe.each([
  ['A download', download, expectDownloadClosed],
  ['An upload', upload, expectUploadClosed],
])('%s is cut off in every process', (_what, begin, expectClosed) => {
  it('within a second when its API key is revoked, and those of other keys go on [D40]', async () => {
    const draft = { name: 'bulk', scopes: ['assets:read', 'assets:write'], expiresAt: null, createdBy: null }
    const [minted] = await mintCredentials(context.app.context, org.orgId, draft, 1)
    const { credential, clientSecret } = minted!
    const revoked = await begin(await org.full.exchange({ clientId: credential.clientId, clientSecret }))
    const others = await begin(await org.full.token())
    const path = `/orgs/${org.orgId}/api-keys/${credential.id}`
    expect((await requestAs(context.app, admin, 'DELETE', path)).status).toBe(204)
    await expectClosed(revoked)
    expect(others.map(({ isClosed }) => isClosed)).toEqual([false, false])
  })

  it('within a second when the member is removed', async () => {
    const user = await createSignedInUser(org, 'manager')
    const connections = await begin(user.token)
    expect((await requestAs(context.app, admin, 'DELETE', `/members/${user.userId}`)).status).toBe(204)
    await expectClosed(connections)
  })
})
