import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runCommand } from '../support/command.ts'
import { type ReadyServer, databaseOf, lastseen, newFolder, serve, usePrograms, withSql } from '../support/process.ts'

usePrograms()

const dataDir = newFolder()
const settings = { LASTSEEN_DATA_DIR: dataDir, LASTSEEN_LOG_LEVEL: 'warn' }

/** Runs a command, expects success, and returns the JSON document it printed. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
async function facts(...args: string[]): Promise<any> {
  const ended = await runCommand([...args, '--json'], settings)
  expect(ended.stderr).toBe('')
  expect(ended.code).toBe(0)
  expect(ended.stdout).toMatch(/^[^\n]+\n$/)
  return JSON.parse(ended.stdout)
}

const keyCreate = (org: string, ...more: string[]): string[] => [
  'key',
  'create',
  '--org',
  org,
  '--name',
  'Key',
  ...more,
]

describe('a command that fails', { timeout: 60_000 }, () => {
  let server: ReadyServer
  let revoked: string
  const user = (...more: string[]): string[] => ['user', 'create', '--org', 'Northwind', ...more]
  const scopes = 'assets:read, assets:write, locations:read, locations:write, tracking:read, tracking:write, scans:read'
  const usage = (option: string, given: string, what: string): string =>
    `error: option '${option}' argument '${given}' is invalid. ${what} (see --help)`

  beforeAll(async () => {
    server = await serve(settings)
    for (const name of ['Northwind', 'Südwind']) await facts('org', 'create', '--name', name)
    await facts(...user('--email', 'ann@example.com', '--role', 'viewer'))
    revoked = (await facts(...keyCreate('Northwind', '--scopes', 'assets:read'))).client_id as string
    await facts('key', 'revoke', '--client-id', revoked)
  }, 60_000)
  afterAll(() => server.program.stop())

  it.each<[string, () => string[], string, (1 | 2)?]>([
    [
      'an unknown organization',
      () => keyCreate('Nowhere', '--scopes', 'assets:read'),
      'There is no organization called "Nowhere"',
    ],
    [
      'an unknown organization to lapse',
      () => ['org', 'lapse', '--name', '12'],
      'There is no organization called "12"',
    ],
    [
      'an organization that exists',
      () => ['org', 'create', '--name', 'Northwind'],
      'An organization called "Northwind" already exists',
    ],
    ['an empty name', () => ['org', 'create', '--name', ' '], 'The name must have 1 to 255 characters', 2],
    [
      'a name of 256 characters',
      () => ['org', 'create', '--name', 'ü'.repeat(256)],
      'The name must have 1 to 255 characters',
      2,
    ],
    [
      'a name of two lines',
      () => ['org', 'create', '--name', 'a\nb'],
      'The name must not contain line breaks or control characters',
      2,
    ],
    [
      'an unknown role',
      () => user('--email', 'c@example.com', '--role', 'boss'),
      usage('--role <role>', 'boss', 'Allowed choices are viewer, operator, manager, admin.'),
      2,
    ],
    [
      'a bad e-mail address',
      () => user('--email', 'c.example.com', '--role', 'viewer'),
      '"c.example.com" is not an e-mail address',
      2,
    ],
    [
      'an e-mail address in use',
      () => user('--email', 'ANN@example.com', '--role', 'viewer'),
      'A user with this e-mail address already exists',
    ],
    [
      'a short password',
      () => user('--email', 'c@example.com', '--role', 'viewer', '--password', '123456789'),
      'A password must have 10 to 1024 characters and no control characters',
      2,
    ],
    [
      'an unknown scope',
      () => keyCreate('Northwind', '--scopes', 'assets:read,assets:delete'),
      usage('--scopes <list>', 'assets:read,assets:delete', `No such scope: assets:delete. Scopes are ${scopes}.`),
      2,
    ],
    [
      'the scope of sessions',
      () => keyCreate('Northwind', '--scopes', 'keys:admin'),
      usage('--scopes <list>', 'keys:admin', `No such scope: keys:admin. Scopes are ${scopes}.`),
      2,
    ],
    [
      'no scope',
      () => keyCreate('Northwind', '--scopes', ''),
      usage('--scopes <list>', '', `No such scope: (empty). Scopes are ${scopes}.`),
      2,
    ],
    [
      'an expiry in the past',
      () => keyCreate('Northwind', '--scopes', 'assets:read', '--expires-at', '2020-01-01T00:00:00Z'),
      '--expires-at is in the past',
      2,
    ],
    [
      'an expiry that is no time',
      () => keyCreate('Northwind', '--scopes', 'assets:read', '--expires-at', 'tomorrow'),
      usage('--expires-at <time>', 'tomorrow', 'It must be an RFC 3339 timestamp.'),
      2,
    ],
    [
      'an unknown client id',
      () => ['key', 'revoke', '--client-id', '00000000-0000-4000-8000-000000000000'],
      'There is no key with client id 00000000-0000-4000-8000-000000000000',
    ],
    [
      'a client id that is none',
      () => ['key', 'revoke', '--client-id', 'first'],
      'There is no key with client id first',
    ],
    ['a credential revoked before', () => ['key', 'revoke', '--client-id', revoked], 'That key is already revoked'],
  ])('ends with one clear line: %s', async (_what, args, message, code = 1) => {
    expect(await runCommand([...args(), '--json'], settings)).toEqual({
      code,
      signal: null,
      stdout: '',
      stderr: `${message}\n`,
    })
  })

  it.each([
    [
      ['key', 'create', '--count', '0'],
      "option '--count <count>' argument '0' is invalid. It must be a whole number from 1 to 10000.",
    ],
    [
      ['key', 'create', '--count', '10001'],
      "option '--count <count>' argument '10001' is invalid. It must be a whole number from 1 to 10000.",
    ],
    [
      ['key', 'create', '--count', 'two'],
      "option '--count <count>' argument 'two' is invalid. It must be a whole number from 1 to 10000.",
    ],
    [
      ['serve', '--workers', '65'],
      "option '--workers <count>' argument '65' is invalid. It must be a whole number from 1 to 64.",
    ],
    [['org', 'create'], "required option '--name <name>' not specified"],
    [['org', 'destroy'], "unknown command 'destroy'"],
    [['explode'], "unknown command 'explode'"],
    [['--port', '80'], "unknown option '--port'"],
  ])('prints one error line on wrong usage: %j', async (args, message) => {
    const stderr = `error: ${message} (see --help)\n`
    expect(await runCommand(args, settings)).toEqual({ code: 2, signal: null, stdout: '', stderr })
  })

  it('prints nothing about the PostgreSQL server that it shares with the running server', async () => {
    const { stderr } = await lastseen(['org', 'lapse', '--name', 'Nowhere'], settings)
    expect(stderr).toBe('There is no organization called "Nowhere"\n')
  })

  it('changes nothing', async () => {
    const { url } = (await databaseOf(dataDir))!
    const [left] = await withSql(
      url,
      (sql) => sql`
      select (select count(*)::int from organization_names) as organizations,
        (select count(*)::int from users where email like 'c%') as people,
        (select count(*)::int from credentials where revoked_at is null and scopes && '{assets:delete,keys:admin}') as keys`,
    )
    expect(left).toEqual({ organizations: 3, people: 0, keys: 0 })
  })

  it('requires an id where two organizations have the same name', async () => {
    const { url } = (await databaseOf(dataDir))!
    const twins = await withSql(url, async (sql) => {
      await sql`update organization_names set name = 'Twin' where name like '%wind'`
      return sql<{ org_id: string }[]>`select org_id from organization_names where name = 'Twin' order by 1`
    })
    const ids = twins.map((row) => row.org_id)
    const { stderr } = await lastseen(['org', 'lapse', '--name', 'Twin', '--json'], settings)
    expect(stderr).toBe(`Several organizations are called "Twin": name one by its id, ${ids.join(' or ')}\n`)
    expect(await facts('org', 'lapse', '--name', ids[0]!)).toMatchObject({ org_id: Number(ids[0]), lapsed: true })
  })
})
