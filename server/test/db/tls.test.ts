import { type AddressInfo, type Server, connect, createServer } from 'node:net'
import { TLSSocket } from 'node:tls'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { SocketClient, clientConfig } from '../../src/db/client.ts'
import { createDatabase } from '../../src/db/create-database.ts'
import { sql } from '../../src/db/sql.ts'
import { Authority, type KeyPair } from '../support/certificates.ts'
import { type TestDatabase, cloneDatabase } from '../support/database.ts'

let database: TestDatabase
let proxy: Server
let url: string
const authority = new Authority()

/** Accepts TLS as PostgreSQL does and passes the decrypted bytes to the database. */
function acceptTls(databaseUrl: string, pair: KeyPair): Server {
  const { port, hostname } = new URL(databaseUrl)
  return createServer((socket) => {
    socket.on('error', () => undefined)
    // The client asks for TLS with a message of 8 bytes, and the server accepts with the letter S.
    socket.once('data', () => {
      socket.pause()
      socket.write('S')
      const secure = new TLSSocket(socket, { isServer: true, ...pair })
      const backend = connect(Number(port), hostname)
      secure.on('error', () => backend.destroy()).on('close', () => backend.destroy())
      backend.on('error', () => secure.destroy())
      secure.pipe(backend).pipe(secure)
    })
  })
}

beforeAll(async () => {
  database = await cloneDatabase()
  proxy = acceptTls(database.url, authority.issue('IP:127.0.0.1'))
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const target = new URL(database.url)
  target.hostname = '127.0.0.1'
  target.port = String((proxy.address() as AddressInfo).port)
  target.searchParams.set('sslmode', 'verify-ca')
  target.searchParams.set('sslrootcert', authority.caFile)
  url = target.href
})

afterAll(async () => {
  proxy.close()
  authority.remove()
  await database.drop()
})

it('A database that is reached over TLS serves statements and transactions', async () => {
  const db = createDatabase({ url, poolSize: 1 })
  expect(await db.read.query(sql`select 1 as one`)).toEqual([{ one: 1 }])
  expect(await db.withTenant(1, (tx) => tx.query(sql`select 2 as two`))).toEqual([{ two: 2 }])
  expect(await db.withTenantPipelined(1, (tx) => tx.query(sql`select 3 as three`))).toEqual([{ three: 3 }])
  await db.close()
})

it('A TLS connection that is destroyed fails its statement at once', async () => {
  const client = new SocketClient(clientConfig(url))
  client.on('error', () => undefined)
  await client.connect()
  const pending = client.query('select pg_sleep(30)')
  setTimeout(() => client.destroy(), 50)
  await expect(pending).rejects.toThrow('Connection terminated')
})
