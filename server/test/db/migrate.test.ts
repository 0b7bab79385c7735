import { readdir } from 'node:fs/promises'
import postgres from 'postgres'
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest'
import { migrate } from '../../src/db/schema/migrate.ts'

let admin: postgres.Sql
let files: string[]
const made: string[] = []

beforeAll(async () => {
  admin = postgres(inject('clusterUrl'), { max: 1, onnotice: () => undefined })
  const folder = new URL('../../migrations', import.meta.url)
  files = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort()
})

afterEach(async () => {
  for (const name of made.splice(0)) await admin.unsafe(`drop database if exists ${name} with (force)`)
})

afterAll(() => admin.end({ timeout: 5 }))

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

const ledger = (url: string) => within(url, (sql) => sql`select name, checksum from schema_migrations order by name`)

describe('Migrating', () => {
  it('an empty database applies every file in order and reports it', async () => {
    const url = await emptyDatabase()
    expect(await migrate(url)).toEqual(files)
    expect((await ledger(url)).map((row) => row['name'])).toEqual(files)
  })

  it('a second time finds nothing to do', async () => {
    const url = await emptyDatabase()
    await migrate(url)
    const before = await ledger(url)
    expect(await migrate(url)).toEqual([])
    expect(await ledger(url)).toEqual(before)
  })

  it('by five processes at once is done by one, and the others find nothing to do', async () => {
    const url = await emptyDatabase()
    const results = await Promise.all(Array.from({ length: 5 }, () => migrate(url)))
    expect(results.filter((applied) => applied.length > 0)).toEqual([files])
    expect((await ledger(url)).map((row) => row['name'])).toEqual(files)
  })

  it('two databases of one server at once creates their roles once', async () => {
    const urls = [await emptyDatabase(), await emptyDatabase()]
    expect(await Promise.all(urls.map((url) => migrate(url)))).toEqual([files, files])
  })

  it('keeps existing rows', async () => {
    const url = await emptyDatabase()
    await migrate(url)
    await within(url, (sql) => sql`insert into organization_names (org_id, name) values (1, 'kept')`)
    await migrate(url)
    expect(await within(url, (sql) => sql`select name from organization_names`)).toEqual([{ name: 'kept' }])
  })

  it('continues from an older version', async () => {
    const url = await emptyDatabase()
    await migrate(url)
    const next = '0002_recording_functions.sql'
    await within(url, (sql) => sql`delete from schema_migrations where name >= ${next}`)
    // The objects of that file exist already, so its error shows that it was applied.
    await expect(migrate(url)).rejects.toThrow(/already exists/)
    expect((await ledger(url)).map((row) => row['name'])).toEqual(files.slice(0, files.indexOf(next)))
  })
})

describe('A migration fails and changes nothing', () => {
  it('when a newer version has migrated it', async () => {
    const url = await emptyDatabase()
    await migrate(url)
    await within(url, (sql) => sql`insert into schema_migrations (name, checksum) values ('9999_future.sql', 'x')`)
    const before = await ledger(url)
    await expect(migrate(url)).rejects.toThrow(/newer version \(9999_future\.sql\)/)
    expect(await ledger(url)).toEqual(before)
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
