import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { freePort } from '../support/free-port.ts'
import {
  type Environment,
  type ReadyServer,
  emptyDatabase,
  launch,
  newFolder,
  serve,
  usePrograms,
  withSql,
} from '../support/process.ts'

usePrograms()

let database: Awaited<ReturnType<typeof emptyDatabase>> | undefined
let server: ReadyServer | undefined
afterEach(async () => {
  await server?.program.stop()
  await database?.drop()
  server = database = undefined
})

async function firstStart(settings: Environment): Promise<ReadyServer> {
  database = await emptyDatabase()
  server = await serve({ ...settings, DATABASE_URL: database.url })
  return server
}

const login = async ({ send }: ReadyServer, email: string, password: string): Promise<number> =>
  (await send('POST', '/api/v1/auth/login', { json: { email, password } })).status

const choose = async ({ send }: ReadyServer, token: string, password: string): Promise<number> =>
  (await send('POST', '/api/v1/auth/password-reset/confirm', { json: { token, new_password: password } })).status

describe('The first start', { timeout: 60_000 }, () => {
  it('of a server on all addresses prints a link instead of secrets, and the link sets a password once', async () => {
    const { program, url } = await firstStart({
      LASTSEEN_HOST: '0.0.0.0',
      LASTSEEN_BASE_URL: 'https://lastseen.example.com',
    })
    const text = program.stderr.slice(
      program.stderr.indexOf('\n  First start.') + 1,
      program.stderr.indexOf('Lastseen is'),
    )
    const token = /#token=(\S+)$/m.exec(text)?.[1] ?? ''
    expect(text.replace(token, '…')).toBe(
      [
        '  First start. Choose a password with this link, once and within 24 hours:',
        '',
        '    Organization    My organization',
        '    Sign in with    admin@example.com',
        '    https://lastseen.example.com/reset-password#token=…',
        '',
        '',
      ].join('\n'),
    )
    // The database has only a hash of the link, and no key was created.
    const [stored] = await withSql(
      database!.url,
      (sql) => sql`
      select extract(epoch from expires_at - created_at)::int as seconds, position(${token} in encode(token_hash, 'escape')) as found,
        (select count(*)::int from credentials) as keys from password_resets`,
    )
    expect(stored).toEqual({ seconds: 86_400, found: 0, keys: 0 })
    expect(url).toContain('localhost')
    expect(await choose(server!, 'another token', 'correct horse battery')).toBe(400)
    expect(await choose(server!, token, 'correct horse battery')).toBe(204)
    expect(await choose(server!, token, 'another horse battery')).toBe(400)
    expect(await login(server!, 'admin@example.com', 'correct horse battery')).toBe(200)
  })

  it.each([
    ['behind a proxy', { LASTSEEN_TRUST_PROXY: 'true' }],
    ['of a service whose output is stored', { LASTSEEN_ADMIN_LINK: 'true' }],
  ])('%s prints a link although the server listens on loopback', async (_what, settings) => {
    const { program } = await firstStart(settings)
    expect(program.stderr).toMatch(/^ {4}http:\/\/127\.0\.0\.1:\d+\/reset-password#token=\S+$/m)
    expect(program.stderr).not.toMatch(/Password {2}|client_secret/)
  })

  it('with an admin in the settings prints no secret, and later starts ignore these settings', async () => {
    const file = join(newFolder(), 'password')
    writeFileSync(file, 'correct horse battery\n')
    const { program } = await firstStart({
      LASTSEEN_ADMIN_EMAIL: 'Ada@example.com',
      LASTSEEN_ADMIN_PASSWORD_FILE: file,
    })
    expect(program.stderr).toContain(
      '\n  First start.\n\n    Organization    My organization\n    Sign in with    Ada@example.com\n\n',
    )
    expect(program.stderr + program.stdout).not.toMatch(/correct horse|client_secret|token=/)
    expect(await login(server!, 'ada@example.com', 'correct horse battery')).toBe(200)
    await program.stop()
    const again = { DATABASE_URL: database!.url, LASTSEEN_ADMIN_EMAIL: 'eve@example.com' }
    server = await serve({ ...again, LASTSEEN_ADMIN_PASSWORD: 'another horse battery' })
    expect(await login(server, 'eve@example.com', 'another horse battery')).toBe(401)
    expect(await login(server, 'ada@example.com', 'correct horse battery')).toBe(200)
  })

  it.each([
    ['too short', 'short', '  - LASTSEEN_ADMIN_PASSWORD: expected 10 to 1024 characters'],
    ['easy to guess', '1234567890', 'LASTSEEN_ADMIN_PASSWORD is a sequence of characters; choose another one'],
  ])('with a password that is %s ends with an error and creates nothing', async (_what, password, message) => {
    database = await emptyDatabase()
    const port = String(await freePort())
    const ended = await launch({ DATABASE_URL: database.url, PORT: port, LASTSEEN_ADMIN_PASSWORD: password }).ended
    expect([ended.code, ended.stderr]).toEqual([1, expect.stringContaining(message)])
    const made = await withSql(
      database.url,
      (sql) => sql`
      select to_regclass('organization_names') is not null as is`,
    )
    if (made[0]!['is'])
      expect(await withSql(database.url, (sql) => sql`select from organization_names`)).toHaveLength(0)
  })
})
