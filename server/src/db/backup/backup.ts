import { createWriteStream } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { openPool, readerRole } from '../connect.ts'
import { historyTable, monthsSpan } from '../partitions.ts'
import { type Head, Tally, copyLine, line } from './file.ts'
import { type KeptTable, type Sql, keptTables, listOf, textsOf } from './tables.ts'

/** As many rows are asked for at once as come to about this much, judged by the ones before. */
const blockBytes = 1024 * 1024
const firstRows = 64
const mostRows = 10_000

export interface BackupOptions {
  url: string
  path: string
  takenAt: string
  program: string
  progress: (line: string) => void
}

export interface Kept {
  tables: number
  rows: number
}

/** Writes everything as it was at one moment, while the service goes on. The file is whole or not there. */
export async function backUp(options: BackupOptions): Promise<Kept> {
  // One connection and plain statements: should it be cut, the cursor is gone and the next block is refused.
  const pool = openPool(options.url, 1)
  const unfinished = `${options.path}.unfinished`
  const kept: Kept = { tables: 0, rows: 0 }
  try {
    await pool.unsafe('begin isolation level repeatable read read only').simple()
    const content = Readable.from(contentOf(pool, options, kept))
    await pipeline(content, createGzip({ level: 4 }), createWriteStream(unfinished, { mode: 0o600, flags: 'wx' }))
    await sync(unfinished)
    await rename(unfinished, options.path)
    await sync(dirname(options.path))
    return kept
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') await rm(unfinished, { force: true })
    throw error
  } finally {
    await pool.end({ timeout: 5 })
  }
}

/** A power cut cannot undo the backup once it is reported. */
async function sync(path: string): Promise<void> {
  const file = await open(path, 'r')
  await file.sync()
  await file.close()
}

async function* contentOf(sql: Sql, { takenAt, program, progress }: BackupOptions, kept: Kept): AsyncGenerator<Buffer> {
  yield line(await headOf(sql, takenAt, program))
  for (const table of await keptTables(sql)) {
    yield line({ table: table.name, columns: table.columns })
    const tally = new Tally()
    yield* blocksOf(sql, table, tally)
    yield line(tally.end())
    kept.tables++
    kept.rows += tally.rows
    if (tally.rows > 0) progress(`${table.name}: ${tally.rows} ${tally.rows === 1 ? 'row' : 'rows'}`)
  }
  yield line({ end: true, ...kept })
}

async function headOf(sql: Sql, takenAt: string, program: string): Promise<Head> {
  const [there] = await sql<{ yes: boolean }[]>`select to_regclass('public.schema_migrations') is not null as yes`
  if (!there?.yes) throw new Error('There is no installation of Lastseen in this database')
  const migrations = await sql<{ name: string; checksum: string }[]>`
    select name, checksum from schema_migrations order by name`
  const months = await monthsSpan(sql, historyTable)
  return {
    lastseen_backup: 1,
    program,
    taken_at: takenAt,
    migrations: migrations.map(({ name, checksum }) => [name, checksum]),
    months,
  }
}

async function* blocksOf(sql: Sql, { name, columns, isFenced }: KeptTable, tally: Tally): AsyncGenerator<Buffer> {
  // Behind the fence the owner itself sees nothing; the reading role sees every organization.
  if (isFenced) await sql.unsafe(`set local role ${readerRole}`)
  await sql.unsafe(`declare kept no scroll cursor for select ${textsOf(columns)} from ${listOf([name])}`)
  if (isFenced) await sql.unsafe('reset role')
  for (let count = firstRows; ;) {
    const rows: (string | null)[][] = await sql.unsafe(`fetch ${count} from kept`).values()
    if (rows.length === 0) break
    const block = Buffer.from(rows.map(copyLine).join(''))
    tally.add(block, rows.length)
    yield line({ rows: rows.length, bytes: block.length })
    yield block
    count = Math.max(1, Math.min(mostRows, Math.floor((rows.length * blockBytes) / block.length)))
  }
  await sql.unsafe('close kept')
}
