import { createHash } from 'node:crypto'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import postgres from 'postgres'
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest'
import { applyMigrations, migrate } from '../../src/db/schema/migrate.ts'
import { withSession } from '../../src/db/session.ts'

let admin: postgres.Sql
let files: string[]
const functions = 'recording_functions@4'
const folder = fileURLToPath(new URL('../../migrations', import.meta.url))
const made: string[] = []
/** The migrations of the next version: those of this one and one more file. */
let nextVersion: string
const later = '0900_later.sql'

beforeAll(async () => {
  admin = postgres(inject('clusterUrl'), { max: 1, onnotice: () => undefined })
  nextVersion = mkdtempSync(join(tmpdir(), 'lastseen-migrations-'))
  cpSync(folder, nextVersion, { recursive: true })
  writeFileSync(join(nextVersion, later), "alter table organization_names add column note text default 'added';\n")
  files = [...(await readdir(folder)).filter((name) => name.endsWith('.sql')).sort(), functions]
})

afterEach(async () => {
  for (const name of made.splice(0)) await admin.unsafe(`drop database if exists ${name} with (force)`)
})

afterAll(async () => {
  rmSync(nextVersion, { recursive: true })
  await admin.end({ timeout: 5 })
})

/** An empty database, as a new installation finds it. */
async function emptyDatabase(): Promise<string> {
  const name = `lastseen_empty_${process.pid}_${Math.random().toString(36).slice(2)}`
  await admin.unsafe(`create database ${name} template template0`)
  made.push(name)
  const url = new URL(inject('clusterUrl'))
  url.pathname = `/${name}`
  return url.href
}

async function within<T>(url: string, look: (sql: postgres.Sql) => Promise<T>): Promise<T> {
  const sql = postgres(url, { max: 1, onnotice: () => undefined })
  try {
    return await look(sql)
  } finally {
    await sql.end({ timeout: 5 })
  }
}

const migrations = (url: string) =>
  within(url, (sql) => sql`select name, checksum from schema_migrations order by name`)

describe('Migrating', () => {
  it('an empty database applies every file in order and reports it', async () => {
    const url = await emptyDatabase()
    expect(await migrate(url)).toEqual(files)
    expect((await migrations(url)).map((row) => row['name'])).toEqual(files)
  })

  it('a second time finds nothing to do', async () => {
    const url = await emptyDatabase()
    await migrate(url)
    const before = await migrations(url)
    expect(await migrate(url)).toEqual([])
    expect(await migrations(url)).toEqual(before)
  })

  it('by five processes at once is done by one, and the others find nothing to do', async () => {
    const url = await emptyDatabase()
    const results = await Promise.all(Array.from({ length: 5 }, () => migrate(url)))
    expect(results.filter((applied) => applied.length > 0)).toEqual([files])
    expect((await migrations(url)).map((row) => row['name'])).toEqual(files)
  })

  it('two databases of one server at once creates their roles once', async () => {
    const urls = [await emptyDatabase(), await emptyDatabase()]
    expect(await Promise.all(urls.map((url) => migrate(url)))).toEqual([files, files])
  })

  it('a database of the previous version applies only what is new, and keeps its rows', async () => {
    const url = await emptyDatabase()
    await migrate(url)
    await within(url, (sql) => sql`insert into organization_names (org_id, name) values (1, 'kept')`)
    expect(await migrate(url, nextVersion)).toEqual([later])
    expect(await within(url, (sql) => sql`select name, note from organization_names`)).toEqual([
      { name: 'kept', note: 'added' },
    ])
    expect(await migrate(url, nextVersion)).toEqual([])
  })

  it('for a backup of the previous version makes the tables of that version, and then applies what is new', async () => {
    const url = await emptyDatabase()
    const numbered = files.filter((name) => name !== functions)
    const past = new Map(
      numbered.map((name) => [
        name,
        createHash('sha256')
          .update(readFileSync(join(folder, name)))
          .digest('hex'),
      ]),
    )
    const applied = await withSession(url, (session) =>
      session.transaction(() => applyMigrations(session, past, nextVersion)),
    )
    expect(applied).toEqual(numbered)
    expect(await migrate(url, nextVersion)).toEqual([later, functions])
  })
})

/** The definition of one function that the migrations make. */
const definition = (url: string) =>
  within(
    url,
    async (sql) => (await sql`select prosrc from pg_proc where proname = 'record_reads'`)[0]!['prosrc'] as string,
  )

describe('A lock of another session', () => {
  it('does not make the migration wait in front of other statements: it is run again until the lock is free', async () => {
    const url = await emptyDatabase()
    await migrate(url)
    await within(url, (sql) => sql`delete from schema_migrations where name = ${functions}`)
    await within(url, async (holder) => {
      await holder.unsafe('begin; lock table schema_migrations in access share mode')
      // The migration inserts a row, so it waits for this lock, which waits for the first one.
      const blocked = postgres(url, { max: 1, onnotice: () => undefined })
      const alter = blocked
        .unsafe(`set lock_timeout = '4s'; alter table schema_migrations add unseen int`)
        .catch(() => 0)
      await within(url, (sql) =>
        expect.poll(() => sql`select from pg_locks where not granted`, { timeout: 3000 }).not.toHaveLength(0),
      )
      const startedAt = performance.now()
      expect(await migrate(url)).toEqual([functions])
      expect(performance.now() - startedAt).toBeGreaterThan(2000)
      await alter
      await blocked.end({ timeout: 5 })
      await holder.unsafe('commit')
    })
  })
})

describe('The functions', () => {
  it('of a database are replaced when the file of this version has changed, and their privileges stay', async () => {
    const url = await emptyDatabase()
    await migrate(url)
    const current = await definition(url)
    await within(url, async (sql) => {
      const [{ text }] = await sql<[{ text: string }]>`
        select pg_get_functiondef(oid) as text from pg_proc where proname = 'record_reads'`
      await sql.unsafe(text.replace(/\bbegin\b/, 'begin -- former'))
      await sql`update schema_migrations set checksum = 'former' where name = ${functions}`
    })
    expect(await definition(url)).toContain('former')
    expect(await migrate(url)).toEqual([functions])
    expect(await definition(url)).toBe(current)
    expect(await migrate(url)).toEqual([])
    const callers = await within(
      url,
      (sql) => sql`select grantee::regrole::text as role from pg_proc, aclexplode(proacl)
        where proname = 'record_reads' and grantee <> proowner`,
    )
    expect([...callers]).toEqual([{ role: 'lastseen_writer' }])
  })

  it('of a newer version are never replaced: the older version does not start', async () => {
    const url = await emptyDatabase()
    await migrate(url)
    await within(
      url,
      (sql) => sql`insert into schema_migrations (name, checksum) values ('recording_functions@5', 'x')`,
    )
    await expect(migrate(url)).rejects.toThrow(/newer version \(recording_functions@5\)/)
  })

  it('of an older version are replaced', async () => {
    const url = await emptyDatabase()
    await migrate(url)
    await within(
      url,
      (sql) => sql`update schema_migrations set name = 'recording_functions@0' where name = ${functions}`,
    )
    expect(await migrate(url)).toEqual([functions])
  })

  it('have a new version whenever their file changes', () => {
    const text = readFileSync(new URL('../../migrations/repeatable/recording_functions.sql', import.meta.url), 'utf8')
    const version = /^-- Version (\d+)\./.exec(text)?.[1]
    const checksum = createHash('sha256').update(text).digest('hex').slice(0, 16)
    const lesson = 'raise the version in the first line of the file, and write the version and the checksum here'
    expect(`version ${version} ${checksum}`, lesson).toBe('version 4 b18d6b09a8bc87b0')
  })
})

describe('A migration fails and changes nothing', () => {
  it('when a newer version has migrated it', async () => {
    const url = await emptyDatabase()
    await migrate(url, nextVersion)
    const before = await migrations(url)
    await expect(migrate(url)).rejects.toThrow(`newer version (${later})`)
    expect(await migrations(url)).toEqual(before)
  })

  it('when a migration differs from the one it was made with', async () => {
    const url = await emptyDatabase()
    await migrate(url)
    const [first] = files
    await within(url, (sql) => sql`update schema_migrations set checksum = 'altered' where name = ${first!}`)
    await expect(migrate(url)).rejects.toThrow(`The migration ${first!} differs`)
  })

  it('when one of its files fails: nothing of the run remains', async () => {
    const url = await emptyDatabase()
    await within(url, (sql) => sql`create table tags (mine text)`)
    await expect(migrate(url)).rejects.toThrow(/"tags" already exists/)
    const tables = await within(url, (sql) => sql`select tablename from pg_tables where schemaname = 'public'`)
    expect(tables.map((row) => row['tablename'])).toEqual(['tags'])
  })

  it('when the connection is refused', async () => {
    await expect(migrate('postgres://nobody@127.0.0.1:1/nothing')).rejects.toThrow()
  })
})
