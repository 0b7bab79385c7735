import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { acquireEmbedded } from '../../src/embedded-postgres/acquire.ts'
import { superuserOf } from '../support/cluster.ts'
import { freePort } from '../support/free-port.ts'
import {
  type Pair,
  emptyDatabase,
  exchange,
  firstCredentials,
  lastseen,
  launch,
  newFolder,
  serve,
  tokenFor,
  usePrograms,
  withSql,
} from '../support/process.ts'

usePrograms()

const connections = (url: string): Promise<number> =>
  withSql(url, async (sql) => {
    const rows = await sql`select from pg_stat_activity
      where datname = current_database() and application_name like 'lastseen%'`
    return rows.length
  })

describe('a server on an external database', { timeout: 60_000 }, () => {
  it('migrates it, serves from it, starts no embedded database, and closes its connections at the end', async () => {
    const database = await emptyDatabase()
    const dataDir = join(newFolder(), 'data')
    const settings = { DATABASE_URL: database.url, LASTSEEN_DATA_DIR: dataDir }
    const server = await serve(settings)
    expect(server.program.stderr).toMatch(/^Database schema brought up to date \(\d+ migrations\)\n\n {2}First start\./)
    const token = await tokenFor(server.url, firstCredentials(server.program.stderr))
    expect((await server.send('GET', '/api/v1/orgs/me', { token })).json.data.name).toBe('My organization')
    const made = await lastseen(['org', 'create', '--name', 'Second', '--json'], settings)
    expect(JSON.parse(made.stdout)).toEqual({ org_id: expect.any(Number), name: 'Second' })
    const { code, stderr } = await server.program.stop()
    expect(code).toBe(0)
    expect(stderr).not.toContain('PostgreSQL')
    expect(existsSync(dataDir)).toBe(false)
    await expect.poll(() => connections(database.url)).toBe(0)

    const again = await serve(settings)
    expect(again.program.stderr).toMatch(/^Lastseen is ready: /)
    await again.program.stop()
    await database.drop()
  })

  it('migrates once when three start at the same moment, and all of them serve', async () => {
    const database = await emptyDatabase()
    const settings = { DATABASE_URL: database.url }
    const servers = await Promise.all([serve(settings), serve(settings), serve(settings)])
    const said = servers.map((server) => server.program.stderr).join('')
    expect(said.match(/Database schema brought up to date/g)).toHaveLength(1)
    expect(said.match(/First start/g)).toHaveLength(1)
    const pair: Pair = firstCredentials(said)
    for (const server of servers) expect((await exchange(server.url, pair)).status).toBe(200)
    const [counts] = await withSql(
      database.url,
      (sql) => sql`select (select count(*)::int from organization_names) as organizations,
        (select count(*)::int from users) as people, (select count(*)::int from credentials) as keys,
        (select count(*)::int from installation) as installations`,
    )
    expect(counts).toEqual({ organizations: 1, people: 1, keys: 1, installations: 1 })
    for (const server of servers) expect((await server.program.stop()).code).toBe(0)
    await database.drop()
  })

  it('rejects a database that a newer version has migrated', async () => {
    const database = await emptyDatabase()
    const settings = { DATABASE_URL: database.url, PORT: String(await freePort()) }
    expect((await lastseen(['migrate'], settings)).stderr).toMatch(
      /^Database schema brought up to date \(\d+ migrations\)\n$/,
    )
    await withSql(
      database.url,
      (sql) => sql`insert into schema_migrations (name, checksum) values ('9999_later.sql', '')`,
    )
    expect(await launch(settings).ended).toMatchObject({
      code: 1,
      stderr: 'The database was migrated by a newer version (9999_later.sql). Run that version or restore a backup.\n',
    })
    await withSql(database.url, async (sql) => {
      await sql`delete from schema_migrations where name = '9999_later.sql'`
      await sql`update schema_migrations set checksum = 'other' where name = '0001_schema.sql'`
    })
    expect(await launch(settings).ended).toMatchObject({
      code: 1,
      stderr: 'The migration 0001_schema.sql differs from the one this database was made with.\n',
    })
    await database.drop()
  })
})

describe('an external database that cannot be used', { timeout: 60_000 }, () => {
  const changed = (change: (url: URL) => void): string => {
    const url = new URL(inject('clusterUrl'))
    change(url)
    return url.href
  }

  it.each<[string, () => string, RegExp]>([
    [
      'connection refused',
      () => 'postgres://keeper:hush@127.0.0.1:1/lastseen',
      /^The database 127\.0\.0\.1:1\/lastseen \(DATABASE_URL\) cannot be used: connection refused\n$/,
    ],
    [
      'localhost does not answer',
      () => 'postgres://keeper:hush@localhost:1/lastseen',
      /^The database localhost:1\/lastseen \(DATABASE_URL\) cannot be used: connection refused\n$/,
    ],
    [
      'its host is unknown',
      () => 'postgres://keeper:hush@nowhere.invalid/lastseen',
      /^The database nowhere\.invalid\/lastseen \(DATABASE_URL\) cannot be used: the host name (is unknown|cannot be resolved at the moment)\n$/,
    ],
    [
      'it does not exist',
      () => changed((url) => (url.pathname = '/absent')),
      /^The database [\w.-]+(:\d+)?\/absent \(DATABASE_URL\) cannot be used: database "absent" does not exist\n$/,
    ],
    [
      'the password is wrong',
      () => changed((url) => (url.password = 'hush')),
      /^The database [\w.-]+(:\d+)?\/\w+ \(DATABASE_URL\) cannot be used: password authentication failed for user "postgres"\n$/,
    ],
  ])('is reported in one line without its password: %s', async (what, url, message) => {
    // A server given by TEST_DATABASE_URL may accept any password.
    if (what === 'the password is wrong' && new URL(inject('clusterUrl')).password === '') return
    const settings = { DATABASE_URL: url(), PORT: String(await freePort()) }
    const server = await launch(settings).ended
    expect(server.stderr).toMatch(message)
    expect(server).toMatchObject({ code: 1, stdout: '' })
  })

  it('stops an operator command in the same way', async () => {
    const settings = { DATABASE_URL: 'postgres://keeper:hush@127.0.0.1:1/lastseen' }
    expect(await lastseen(['org', 'create', '--name', 'x', '--json'], settings)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: 'The database 127.0.0.1:1/lastseen (DATABASE_URL) cannot be used: connection refused\n',
    })
  })
})

describe('a database user who is not a superuser', { timeout: 60_000 }, () => {
  let cluster: Awaited<ReturnType<typeof acquireEmbedded>>
  const dataDir = newFolder()
  const urlOf = (user: string): string => {
    const url = new URL(cluster.url)
    url.username = user
    url.password = 'word'
    url.pathname = `/${user}`
    return url.href
  }

  beforeAll(async () => {
    cluster = await acquireEmbedded({ dataDir, progress: () => undefined })
    await withSql(superuserOf(cluster.url, dataDir), async (sql) => {
      // The embedded server has these roles from the start, an outside one has not.
      await sql`drop owned by lastseen_writer, lastseen_reader`
      await sql`drop role lastseen_writer, lastseen_reader`
      await sql`create role maker login createrole password 'word'`
      await sql`create database maker owner maker`
      await sql`create role plain login password 'word'`
      await sql`create database plain owner plain`
    })
  }, 60_000)
  afterAll(() => cluster.release())

  it('who owns the database but may not create roles gets an error that names the missing privilege', async () => {
    const ended = await launch({ DATABASE_URL: urlOf('plain'), PORT: String(await freePort()) }).ended
    expect(ended.stderr).toBe(
      'The user of DATABASE_URL may not set up the database: permission denied to create role. ' +
        'It must own the database and be allowed to create roles, or the roles lastseen_writer and lastseen_reader ' +
        'must exist and be granted to it.\n',
    )
    expect(ended.code).toBe(1)
  })

  it('who owns the database and may create roles is sufficient', async () => {
    const server = await serve({ DATABASE_URL: urlOf('maker') })
    const token = await tokenFor(server.url, firstCredentials(server.program.stderr))
    const made = await server.send('POST', '/api/v1/assets', { token, json: { external_key: 'A', name: 'a' } })
    expect(made.status).toBe(201)
    expect((await server.program.stop()).code).toBe(0)
  })

  it('who owns the database and was granted the two roles is sufficient', async () => {
    await withSql(superuserOf(cluster.url, dataDir), (sql) => sql`grant lastseen_writer, lastseen_reader to plain`)
    const server = await serve({ DATABASE_URL: urlOf('plain') })
    expect((await exchange(server.url, firstCredentials(server.program.stderr))).status).toBe(200)
    expect((await server.program.stop()).code).toBe(0)
  })
})
