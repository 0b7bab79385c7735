import { readFileSync, readdirSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { describe, expect, it } from 'vitest'
import { freePort } from '../support/free-port.ts'
import {
  type ReadyServer,
  databaseOf,
  exchange,
  firstCredentials,
  launch,
  newFolder,
  serve,
  tokenFor,
  usePrograms,
} from '../support/process.ts'

usePrograms()

const contractScopes = ['assets:read', 'assets:write', 'locations:read', 'locations:write', 'tracking:read']

describe('the first start on an empty folder', { timeout: 60_000 }, () => {
  const dataDir = newFolder()
  let server: ReadyServer
  let first: ReturnType<typeof firstCredentials>

  it('reports every step, prints the first credentials and then its URL', async () => {
    server = await serve({ LASTSEEN_DATA_DIR: dataDir })
    first = firstCredentials(server.program.stderr)
    expect(server.program.stderr.split('\n')).toEqual([
      `Creating the database in ${dataDir}/postgres (first start only)`,
      expect.stringMatching(/^PostgreSQL 18\.\d+ is running on port \d+$/),
      expect.stringMatching(/^Database schema brought up to date \(\d+ migrations\)$/),
      '',
      '  First start. These secrets are shown only once:',
      '',
      '    Organization    My organization',
      '    Sign in with    admin@example.com',
      expect.stringMatching(/^ {4}Password {8}\S{16}$/),
      '',
      expect.stringMatching(/^ {4}client_id {7}[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
      expect.stringMatching(/^ {4}client_secret {3}ls_[0-9a-f]{64}$/),
      '',
      `Lastseen is ready: ${server.url}  (API reference at /api/docs, stop with Ctrl+C)`,
      '',
    ])
    expect(server.readyMs).toBeLessThan(20_000)
  })

  it('creates a credential with the five scopes of the contract', async () => {
    const token = await tokenFor(server.url, first)
    const me = await server.send('GET', '/api/v1/orgs/me', { token })
    expect(me.status).toBe(200)
    expect(me.json.data).toMatchObject({ name: 'My organization', scopes: contractScopes, api_key_id: first.client_id })
    const made = await server.send('POST', '/api/v1/assets', { token, json: { external_key: 'KEPT-1', name: 'Kept' } })
    expect(made.status).toBe(201)
  })

  it('creates an admin who can sign in', async () => {
    const { email, password } = first
    const reply = await server.send('POST', '/api/v1/auth/login', { json: { email, password } })
    expect(reply.status).toBe(200)
    expect(reply.json.data.user).toMatchObject({ email: 'admin@example.com' })
    expect(JSON.stringify(reply.json.data.user)).toContain('"admin"')
  })

  it('writes one JSON object per line to standard output, and no secret', async () => {
    await expect.poll(() => server.program.stdout).toContain('/api/v1/auth/login')
    const events = server.program.stdout.trimEnd().split('\n')
    for (const line of events)
      expect(JSON.parse(line)).toMatchObject({ event: 'http.answered', pid: server.program.pid })
    expect(server.program.stdout).not.toContain(first.client_secret)
    expect(server.program.stdout).not.toContain(first.password)
  })

  it('keeps the database on a loopback port', async () => {
    const database = await databaseOf(dataDir)
    expect(new URL(database!.url).hostname).toBe('127.0.0.1')
    expect(readFileSync(`/proc/${database!.pid}/cmdline`, 'utf8')).toContain('listen_addresses=127.0.0.1')
  })

  it('needs less than 150 MiB of memory when idle', () => {
    const status = readFileSync(`/proc/${server.program.pid}/status`, 'utf8')
    const kibibytes = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1])
    expect(kibibytes).toBeGreaterThan(0)
    expect(kibibytes / 1024).toBeLessThan(150)
  })

  it('leaves no process running after SIGTERM', async () => {
    const database = await databaseOf(dataDir)
    const { code, stderr } = await server.program.stop()
    expect(code).toBe(0)
    expect(stderr).toMatch(/\nStopping: finishing the requests in flight …\nStopped\.\n$/)
    expect(database).toBeDefined()
    expect(await databaseOf(dataDir)).toBeUndefined()
  })

  it('happens once: the second start prints no credentials and keeps the data', async () => {
    const second = await serve({ LASTSEEN_DATA_DIR: dataDir })
    expect(second.program.stderr.split('\n')).toEqual([
      expect.stringMatching(/^PostgreSQL 18\.\d+ is running on port \d+$/),
      `Lastseen is ready: ${second.url}  (API reference at /api/docs, stop with Ctrl+C)`,
      '',
    ])
    expect(second.readyMs).toBeLessThan(10_000)
    const token = await tokenFor(second.url, first)
    const found = await second.send('GET', '/api/v1/assets', { token, query: { external_key: 'KEPT-1' } })
    expect(found.json.data).toHaveLength(1)
    const { email, password } = first
    expect((await second.send('POST', '/api/v1/auth/login', { json: { email, password } })).status).toBe(200)
    await second.program.stop()
  })
})

describe('a port that is in use', { timeout: 60_000 }, () => {
  it('is reported in one line before a database is started', async () => {
    const other = createServer()
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    const { port } = other.address() as AddressInfo
    const dataDir = newFolder()
    const { code, stdout, stderr } = await launch({ LASTSEEN_DATA_DIR: dataDir, PORT: String(port) }).ended
    await new Promise((resolve) => other.close(resolve))
    expect(stderr).toBe(
      `Port ${port} on 127.0.0.1 is in use. Stop the program that uses it, or choose another port: PORT=${port + 1} npm start\n`,
    )
    expect(stdout).toBe('')
    expect(code).toBe(1)
    expect(readdirSync(dataDir)).toEqual([])
  })

  it('by another Lastseen server leaves that server and its database untouched', async () => {
    const settings = { LASTSEEN_DATA_DIR: newFolder(), PORT: String(await freePort()) }
    const server = await serve(settings)
    const second = await launch(settings).ended
    expect(second.code).toBe(1)
    expect(second.stderr).toContain(`Port ${settings.PORT} on 127.0.0.1 is in use.`)
    const reply = await exchange(server.url, firstCredentials(server.program.stderr))
    expect(reply.status).toBe(200)
    expect((await server.program.stop()).code).toBe(0)
  })
})

describe('a listen address that does not belong to this machine', { timeout: 60_000 }, () => {
  it.each([
    ['192.0.2.1', 'it is not an address of this machine'],
    ['nowhere.invalid', 'this name is not known'],
  ])('%s is reported in one line before a database is started', async (host, reason) => {
    const dataDir = newFolder()
    const port = await freePort()
    const ended = await launch({ LASTSEEN_DATA_DIR: dataDir, LASTSEEN_HOST: host, PORT: String(port) }).ended
    expect(ended.stderr).toBe(`Lastseen cannot listen on ${host} (LASTSEEN_HOST): ${reason}\n`)
    expect(ended.code).toBe(1)
    expect(readdirSync(dataDir)).toEqual([])
  })
})

describe('two servers on one folder', { timeout: 60_000 }, () => {
  it('started at once on an empty folder share the database and print one set of credentials', async () => {
    const settings = { LASTSEEN_DATA_DIR: newFolder() }
    const [one, two] = await Promise.all([serve(settings), serve(settings)])
    const printed = [one, two].map((server) => firstCredentials(server.program.stderr))
    const first = printed.filter((credentials) => credentials.client_id !== '')
    expect(first).toHaveLength(1)
    for (const server of [one, two]) expect((await exchange(server.url, first[0]!)).status).toBe(200)
    expect((await one.program.stop()).code).toBe(0)
    expect((await exchange(two.url, first[0]!)).status).toBe(200)
    expect((await two.program.stop()).code).toBe(0)
    expect(await databaseOf(settings.LASTSEEN_DATA_DIR)).toBeUndefined()
  })
})
