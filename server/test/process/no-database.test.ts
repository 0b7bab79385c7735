import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { acquireEmbedded } from '../../src/embedded-postgres/acquire.ts'
import { runCommand } from '../support/command.ts'
import { databaseOf, emptyDatabase, lastseen, newFolder, usePrograms, withSql } from '../support/process.ts'

usePrograms()

const commands: [string, string[]][] = [
  ['org create', ['org', 'create', '--name', 'Northwind']],
  ['user list', ['user', 'list']],
  ['key revoke', ['key', 'revoke', '--client-id', '00000000-0000-4000-8000-000000000000']],
  ['reader list', ['reader', 'list', '--json']],
  ['webhook list', ['webhook', 'list']],
  ['simulate', ['simulate', '--org', 'Northwind']],
  ['backup', ['backup', join(newFolder(), 'none.backup')]],
  ['distribute', ['distribute']],
]

describe('a data folder without a database', { timeout: 120_000 }, () => {
  it.each([...commands, ['migrate', ['migrate']]])('is rejected by %s and left unchanged', async (_what, args) => {
    const dataDir = join(newFolder(), 'mistyped')
    const stderr = `no database in ${dataDir}; is LASTSEEN_DATA_DIR right?\n`
    const ended = await runCommand(args, { LASTSEEN_DATA_DIR: dataDir })
    expect(ended).toEqual({ code: 1, signal: null, stdout: '', stderr })
    expect(existsSync(dataDir)).toBe(false)
  })

  it('that contains other files is rejected too', async () => {
    const dataDir = newFolder()
    const ended = await lastseen(['org', 'list'], { LASTSEEN_DATA_DIR: dataDir })
    expect(ended).toMatchObject({ code: 1, stderr: `no database in ${dataDir}; is LASTSEEN_DATA_DIR right?\n` })
    expect(readdirSync(dataDir)).toEqual([])
  })

  it('is initialized by migrate --init', async () => {
    const dataDir = join(newFolder(), 'data')
    const made = await lastseen(['migrate', '--init'], { LASTSEEN_DATA_DIR: dataDir })
    expect(made.stderr).toMatch(
      /^Creating the database in [^\n]+\nPostgreSQL [^\n]+\nDatabase schema brought up to date/,
    )
    expect(made.code).toBe(0)
    const listed = await lastseen(['org', 'list', '--json'], { LASTSEEN_DATA_DIR: dataDir })
    expect(listed).toMatchObject({ code: 0, stdout: '[]\n', stderr: '' })
    expect(await databaseOf(dataDir)).toBeUndefined()
  })
})

describe('a database without the schema', { timeout: 120_000 }, () => {
  const errorText =
    'no Lastseen schema in the database of DATABASE_URL; is it the right one? "lastseen migrate" creates the schema\n'

  it.each(commands)('on an external server is rejected by %s and left unchanged', async (_what, args) => {
    const database = await emptyDatabase()
    const ended = await runCommand(args, { DATABASE_URL: database.url })
    expect(ended).toEqual({ code: 1, signal: null, stdout: '', stderr: errorText })
    const tables = await withSql(database.url, (sql) => sql`select from pg_tables where schemaname = 'public'`)
    expect(tables).toHaveLength(0)
    await database.drop()
  })

  it('on an external server is migrated by migrate, or by a command with --init', async () => {
    for (const args of [['migrate'], ['org', 'create', '--name', 'Northwind', '--init', '--json']]) {
      const database = await emptyDatabase()
      const settings = { DATABASE_URL: database.url }
      expect((await lastseen(args, settings)).code).toBe(0)
      expect((await runCommand(['org', 'list', '--json'], settings)).code).toBe(0)
      await database.drop()
    }
  })

  it('in a data folder is rejected too, and migrated by migrate', async () => {
    const dataDir = newFolder()
    const settings = { LASTSEEN_DATA_DIR: dataDir }
    await (await acquireEmbedded({ dataDir, progress: () => undefined })).release()
    expect(await lastseen(['org', 'list', '--json'], settings)).toMatchObject({
      code: 1,
      stderr: `no Lastseen schema in ${dataDir}; "lastseen migrate" creates it\n`,
    })
    expect((await lastseen(['migrate'], settings)).code).toBe(0)
    expect((await lastseen(['org', 'list', '--json'], settings)).stdout).toBe('[]\n')
  })
})
