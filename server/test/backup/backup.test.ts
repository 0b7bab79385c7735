import { readFileSync, truncateSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { backUp } from '../../src/backup/backup.ts'
import { restore } from '../../src/backup/restore.ts'
import { withSession } from '../../src/db/session.ts'
import { applyMigrations } from '../../src/db/schema/migrate.ts'
import { allRows } from '../support/backup.ts'
import { type TestDatabase, cloneDatabase } from '../support/database.ts'
import { TcpProxy } from '../support/tcp-proxy.ts'
import { emptyDatabase, newFolder, withSql } from '../support/process.ts'

const folder = newFolder()
const file = join(folder, 'all.backup')
const silent = (): void => undefined

const save = (url: string, path: string) =>
  backUp({ url, path, takenAt: '2026-05-04T08:00:00.000Z', program: '0.1.0', progress: silent })
const load = (url: string, path: string, isReplacing = false) => restore({ url, path, isReplacing, progress: silent })

/** An organization with locations that come before their parents, and more assets than fit into one block. */
async function fill(url: string, assets: number): Promise<void> {
  await withSql(url, async (sql) => {
    await sql`insert into organizations values (7, now(), null)`
    await sql`insert into organization_names values (7, 'Northwind')`
    await sql.unsafe(`insert into locations select 7, i, 'L' || i, 'L', null, nullif(i + 1, 4), true, now(), null, now(), now(), null, ''
      from generate_series(1, 3) i`)
    await sql.unsafe(`insert into assets (org_id, id, external_key, name, metadata, is_active, valid_from, created_at, updated_at, search_text)
      select 7, i, 'A' || i, repeat('n', 200), '{"a":  1}', true, now(), now(), now(), '' from generate_series(1, ${assets}) i`)
  })
}

/** Writes a modified copy of the backup. */
function altered(name: string, change: (content: string) => string): string {
  const path = join(folder, name)
  const content = gunzipSync(readFileSync(file)).toString('latin1')
  const changed = change(content)
  expect(changed).not.toBe(content)
  writeFileSync(path, gzipSync(Buffer.from(changed, 'latin1')))
  return path
}

let source: TestDatabase
beforeAll(async () => {
  source = await cloneDatabase()
  await fill(source.url, 2_000)
  expect(await save(source.url, file)).toEqual({ tables: expect.any(Number), rows: 2_005 })
})
afterAll(() => source.drop())

describe('A database that is not empty', () => {
  let target: TestDatabase
  beforeAll(async () => {
    target = await cloneDatabase()
    await fill(target.url, 3)
    await withSql(target.url, (sql) => sql`update organization_names set name = 'Southwind'`)
  })
  afterAll(() => target.drop())

  it('is not overwritten by default', async () => {
    const before = await allRows(target.url)
    await expect(load(target.url, file)).rejects.toThrow(/^The database is not empty: .*\(--replace\)$/)
    expect(await allRows(target.url)).toEqual(before)
  })

  it('is not changed when the end of the backup is corrupt', async () => {
    const before = await allRows(target.url)
    const broken = altered('end.backup', (content) => content.replace(/"rows":2005\}\n$/, '"rows":2006}\n'))
    await expect(load(target.url, broken, true)).rejects.toThrow('This is not a complete backup: tables are missing')
    expect(await allRows(target.url)).toEqual(before)
  })

  it('is not changed while a server uses it', async () => {
    const server = postgres(target.url, { max: 1, connection: { application_name: 'lastseen' } })
    await server`select 1`
    await expect(load(target.url, file, true)).rejects.toThrow('Lastseen is running on this database: stop it first')
    await server.end()
  })

  it('is replaced on request', async () => {
    const kept = await load(target.url, file, true)
    expect(kept).toEqual({ takenAt: '2026-05-04T08:00:00.000Z', tables: expect.any(Number), rows: 2_005 })
    expect(await allRows(target.url)).toEqual(await allRows(source.url))
  })
})

it('Unlogged tables are not in a backup, not even on Citus, where they are logged', async () => {
  const [cluster, target] = [await cloneDatabase(), await emptyDatabase()]
  await fill(cluster.url, 1)
  await withSql(cluster.url, async (sql) => {
    await sql`alter table recent_sightings set logged`
    await sql`insert into recent_sightings values (7, 1, '')`
  })
  const path = join(folder, 'logged.backup')
  await save(cluster.url, path)
  await load(target.url, path)
  expect(await allRows(target.url)).toEqual(await allRows(cluster.url))
  expect(await withSql(target.url, (sql) => sql`select from recent_sightings`)).toHaveLength(0)
  await cluster.drop()
  await target.drop()
})

describe('An incomplete or corrupt backup file', () => {
  let target: Awaited<ReturnType<typeof emptyDatabase>>
  beforeAll(async () => {
    target = await emptyDatabase()
  })
  afterAll(() => target.drop())
  const cut = (name: string, bytes: number): string => {
    const path = join(folder, name)
    writeFileSync(path, readFileSync(file))
    truncateSync(path, bytes)
    return path
  }
  const other = (name: string, bytes: Buffer): string => {
    const path = join(folder, name)
    writeFileSync(path, bytes)
    return path
  }

  it.each<[string, () => string, RegExp]>([
    ['truncated', () => cut('cut', Math.floor(statSync(file).size / 2)), /ends too early/],
    ['empty', () => cut('empty', 0), /ends too early/],
    ['another file', () => other('text', Buffer.from('not a backup')), /another kind of file/],
    ['another compressed file', () => other('gz', gzipSync('{"a":1}\n')), /another kind of file/],
    ['without its last line', () => altered('tail', (all) => all.replace(/\{"end".*\n$/, '')), /ends too early/],
    ['with a row changed', () => altered('row', (all) => all.replace('\tA777\t', '\tA77X\t')), /the rows of assets/],
    [
      'without a table',
      () => altered('table', (all) => all.replace(/\{"table":"tags".*\n.*\n/, '').replace(/"tables":(\d+)/, countDown)),
      /tables are missing/,
    ],
    [
      'with a column that is not there',
      () => altered('column', (all) => all.replace('"columns":["user_id"', '"columns":["who"')),
      /a table \w+ that does not fit/,
    ],
    [
      'of a newer version',
      () => altered('newer', (all) => all.replace('0001_schema.sql', '9999_schema.sql')),
      /^The backup was migrated by a newer version \(9999_schema.sql\)\. Run that version\.$/,
    ],
  ])('is rejected, and nothing of it is restored: %s', async (_what, path, message) => {
    await expect(load(target.url, path())).rejects.toThrow(message)
    const left = await withSql(target.url, (sql) => sql`select from pg_tables where schemaname = 'public'`)
    expect(left).toHaveLength(0)
  })
})

const countDown = (_text: string, count: string): string => `"tables":${Number(count) - 1}`

describe('A backup of an older version', () => {
  it('is taken without migrating, and migrated after the restore', async () => {
    const [old, target] = [await emptyDatabase(), await emptyDatabase()]
    const migrations = (url: string) =>
      withSql(url, async (sql) =>
        (await sql`select name from schema_migrations order by 1`).map((row) => row['name'] as string),
      )
    try {
      const past = await withSql(
        source.url,
        (sql) => sql<{ name: string; checksum: string }[]>`
        select name, checksum from schema_migrations where name < '0010' order by name`,
      )
      await withSession(old.url, (session) =>
        session.transaction(() => applyMigrations(session, new Map(past.map((row) => [row.name, row.checksum])))),
      )
      await fill(old.url, 10)
      const path = join(folder, 'old.backup')
      await save(old.url, path)
      expect(await migrations(old.url)).toEqual(past.map((row) => row.name))
      await load(target.url, path)
      expect(await migrations(target.url)).toEqual(await migrations(source.url))
      const assets = await withSql(target.url, (sql) => sql`select external_key, type from assets where id = 3`)
      expect([...assets]).toEqual([{ external_key: 'A3', type: 'asset' }])
    } finally {
      await old.drop()
      await target.drop()
    }
  })
})

describe('A database without Lastseen', () => {
  it('is an error, and no file is created', async () => {
    const empty = await emptyDatabase()
    const path = join(folder, 'none.backup')
    await expect(save(empty.url, path)).rejects.toThrow('There is no installation of Lastseen in this database')
    for (const name of [path, `${path}.unfinished`]) expect(() => readFileSync(name)).toThrow('ENOENT')
    await empty.drop()
  })
})

describe('A dropped connection', () => {
  it('aborts a restore, and nothing of it remains', async () => {
    const target = await emptyDatabase()
    const proxy = new TcpProxy(target.url)
    await proxy.open()
    const cut = (line: string): void => {
      if (line.startsWith('locations')) proxy.dropConnections()
    }
    const restoring = restore({ url: proxy.url, path: file, isReplacing: false, progress: cut })
    await expect(restoring).rejects.toThrow()
    await proxy.close()
    await withSql(target.url, (sql) =>
      expect.poll(() => sql`select from pg_tables where schemaname = 'public'`, { timeout: 10_000 }).toHaveLength(0),
    )
    await target.drop()
  })
})
