import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runCommand } from '../support/command.ts'
import {
  type Pair,
  type ReadyServer,
  databaseOf,
  exchange,
  lastseen,
  newFolder,
  serve,
  tokenFor,
  usePrograms,
  withSql,
} from '../support/process.ts'

usePrograms()

const dataDir = newFolder()
const settings = { LASTSEEN_DATA_DIR: dataDir, LASTSEEN_LOG_LEVEL: 'warn' }
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** Runs a command that succeeds, and gives the one JSON document it printed. */
const printedBy =
  (run: typeof lastseen) =>
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  async (...args: string[]): Promise<any> => {
    const ended = await run([...args, '--json'], settings)
    expect(ended.stderr).toBe('')
    expect(ended.code).toBe(0)
    expect(ended.stdout).toMatch(/^[^\n]+\n$/)
    return JSON.parse(ended.stdout)
  }

const factsOfProgram = printedBy(lastseen)
/** Without the start of the program, for what a command does beside a running server. */
const facts = printedBy(runCommand)

const keyCreate = (org: string, ...more: string[]): string[] => [
  'key',
  'create',
  '--org',
  org,
  '--name',
  'Key',
  ...more,
]

describe('operator commands without a server', { timeout: 60_000 }, () => {
  it('set up an organization from nothing with --init, and stop the database they started', async () => {
    const org = await factsOfProgram('org', 'create', '--name', 'Northwind', '--init')
    expect(org).toEqual({ org_id: expect.any(Number), name: 'Northwind' })
    expect(await databaseOf(dataDir)).toBeUndefined()

    const key = await factsOfProgram(
      ...keyCreate('Northwind', '--scopes', 'assets:read, tracking:read', '--expires-at', '2999-01-01T00:00:00Z'),
    )
    expect(key).toEqual({
      client_id: expect.stringMatching(uuid),
      client_secret: expect.stringMatching(/^ls_[0-9a-f]{64}$/),
      org_id: org.org_id,
      key_id: expect.any(Number),
      name: 'Key',
      scopes: ['assets:read', 'tracking:read'],
      environment: 'production',
      created_at: expect.stringMatching(timestamp),
      expires_at: '2999-01-01T00:00:00.000Z',
    })
    expect(await databaseOf(dataDir)).toBeUndefined()

    const user = await factsOfProgram(
      'user',
      'create',
      '--org',
      'Northwind',
      '--email',
      'Ann@Example.com',
      '--role',
      'manager',
    )
    expect(user).toEqual({
      user_id: expect.any(Number),
      email: 'ann@example.com',
      role: 'manager',
      org_id: org.org_id,
      password: expect.stringMatching(/^\S{16}$/),
    })
    expect(await factsOfProgram('key', 'revoke', '--client-id', key.client_id)).toEqual({
      client_id: key.client_id,
      org_id: org.org_id,
      revoked: true,
    })
    const stands = { org_id: org.org_id, name: 'Northwind' }
    expect(await factsOfProgram('org', 'lapse', '--name', 'Northwind')).toEqual({ ...stands, lapsed: true })
    expect(await factsOfProgram('org', 'reinstate', '--name', 'Northwind')).toEqual({ ...stands, lapsed: false })
    expect(await databaseOf(dataDir)).toBeUndefined()
  })

  it('print progress on standard error and results, one per line, on standard output', async () => {
    const { code, stdout, stderr } = await lastseen(keyCreate('Northwind', '--scopes', 'assets:read'), settings)
    expect(stderr).toMatch(/^PostgreSQL 18\.\d+ is running on port \d+\n$/)
    expect(stdout.split('\n')).toEqual([
      expect.stringMatching(/^client_id {6}[0-9a-f-]{36}$/),
      expect.stringMatching(/^client_secret {2}ls_[0-9a-f]{64}$/),
      expect.stringMatching(/^org_id {9}\d+$/),
      expect.stringMatching(/^key_id {9}\d+$/),
      'name           Key',
      'scopes         assets:read',
      'environment    production',
      expect.stringMatching(/^created_at {5}\S+$/),
      'expires_at     -',
      '',
    ])
    expect(code).toBe(0)
  })

  it('migrate reports when there is nothing to do', async () => {
    const { code, stdout, stderr } = await lastseen(['migrate'], settings)
    expect(stderr).toMatch(/^PostgreSQL .+\nThe database schema is up to date\n$/)
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
  })
})

describe('operator commands beside a running server', { timeout: 60_000 }, () => {
  let server: ReadyServer
  let orgId: number

  beforeAll(async () => {
    server = await serve(settings)
  }, 60_000)
  afterAll(() => server.program.stop())

  it('use its database and leave it running', async () => {
    const before = await databaseOf(dataDir)
    const org = await factsOfProgram('--json', 'org', 'create', '--name', 'Südwind')
    orgId = org.org_id as number
    expect(org).toEqual({ org_id: expect.any(Number), name: 'Südwind' })
    expect(await databaseOf(dataDir)).toEqual(before)
    expect(server.program.stderr).not.toContain('First start')
  })

  it('create credentials that the server accepts at once', async () => {
    const key = await facts(...keyCreate('Südwind', '--scopes', 'assets:read,assets:write'))
    const token = await tokenFor(server.url, key as Pair)
    const me = await server.send('GET', '/api/v1/orgs/me', { token })
    expect(me.json).toEqual({
      data: { id: orgId, name: 'Südwind', scopes: ['assets:read', 'assets:write'], api_key_id: key.client_id },
    })
    expect((await server.send('GET', '/api/v1/locations', { token })).status).toBe(403)
  })

  it('revoke a credential and its tokens from the next request on (D40)', async () => {
    const keys = (await facts(...keyCreate('Südwind', '--scopes', 'assets:read', '--count', '3'))) as Pair[]
    for (const key of keys) {
      const token = await tokenFor(server.url, key)
      for (let times = 0; times < 3; times++)
        expect((await server.send('GET', '/api/v1/assets', { token })).status).toBe(200)
      await facts('key', 'revoke', '--client-id', key.client_id.toUpperCase())
      const rejected = await server.send('GET', '/api/v1/assets', { token })
      expect(rejected.status).toBe(401)
      expect(rejected.json.error.type).toBe('unauthorized')
      expect((await exchange(server.url, key)).status).toBe(401)
    }
  })

  it('create several credentials with --count, each with its own secret', async () => {
    const keys = (await facts(...keyCreate('Südwind', '--scopes', 'tracking:read', '--count', '50'))) as Pair[]
    expect(keys).toHaveLength(50)
    expect(new Set(keys.flatMap((key) => [key.client_id, key.client_secret])).size).toBe(100)
    const replies = await Promise.all(keys.map((key) => exchange(server.url, key)))
    expect(replies.map((reply) => reply.status)).toEqual(keys.map(() => 200))
  })

  it('print an array with --count 1 too', async () => {
    expect(await facts(...keyCreate('Südwind', '--scopes', 'tracking:read', '--count', '1'))).toHaveLength(1)
  })

  it('create users who can sign in with the printed or the given password', async () => {
    const given = ['--password', 'correct horse battery']
    const [ann, bob] = [
      await facts('user', 'create', '--org', 'Südwind', '--email', 'ann@south.example', '--role', 'viewer'),
      await facts(
        'user',
        'create',
        '--org',
        String(orgId),
        '--email',
        'bob@south.example',
        '--role',
        'admin',
        ...given,
      ),
    ]
    expect(bob.password).toBe('correct horse battery')
    for (const { email, password } of [ann, bob]) {
      const login = await server.send('POST', '/api/v1/auth/login', { json: { email, password } })
      expect(login.status).toBe(200)
    }
  })

  it('give an existing user a role in another organization', async () => {
    const second = await facts('org', 'create', '--name', 'Nordwind')
    const cy = await facts('user', 'create', '--org', 'Südwind', '--email', 'cy@south.example', '--role', 'viewer')
    const add = (email: string) => ['user', 'add', '--org', 'Nordwind', '--email', email, '--role', 'admin']
    expect(await facts(...add('CY@south.example'))).toEqual({
      ...{ user_id: cy.user_id, email: 'cy@south.example', role: 'admin', org_id: second.org_id },
    })
    const login = await server.send('POST', '/api/v1/auth/login', { json: { email: cy.email, password: cy.password } })
    const token = login.json.data.access_token as string
    const switched = await server.send('POST', '/api/v1/auth/switch-org', { token, json: { org_id: second.org_id } })
    expect(switched.status).toBe(200)
    const unknown = await lastseen(add('nobody@south.example'), settings)
    expect([unknown.code, unknown.stdout]).toEqual([1, ''])
    expect(unknown.stderr).toContain(
      'There is no account with the address "nobody@south.example"; create it with user create',
    )
  })

  it('mark an organization as lapsed and reinstated repeatedly, while its API keeps working (D42)', async () => {
    const key = (await facts(...keyCreate('Südwind', '--scopes', 'assets:read'))) as Pair
    const token = await tokenFor(server.url, key)
    const lapsedAt = (): Promise<unknown> =>
      databaseOf(dataDir).then((database) =>
        withSql(database!.url, async (sql) => {
          const [row] = await sql<
            { lapsed_at: Date | null }[]
          >`select lapsed_at from organizations where org_id = ${orgId}`
          return row!.lapsed_at
        }),
      )
    for (const [command, lapsed] of [
      ['lapse', true],
      ['lapse', true],
      ['reinstate', false],
    ] as const) {
      expect(await facts('org', command, '--name', 'Südwind')).toEqual({ org_id: orgId, name: 'Südwind', lapsed })
      expect((await lapsedAt()) !== null).toBe(lapsed)
      expect((await server.send('GET', '/api/v1/assets', { token })).status).toBe(200)
    }
  })
})
