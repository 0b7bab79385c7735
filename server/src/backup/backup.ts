import { createWriteStream } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { readerRole } from '../db/connection-pools.ts'
import { historyTable, monthsSpan } from '../db/schema/partitions.ts'
import { isSchemaCurrent } from '../db/schema/schema-exists.ts'
import { type Session, openSession } from '../db/session.ts'
import { sql } from '../db/sql.ts'
import { type Head, TableChecksum, copyLine, line } from './file.ts'
import { type BackupTable, backupTables, listOf, textsOf } from './tables.ts'

/** The target size of a block; the number of rows per fetch is estimated from the previous block. */
const blockBytes = 1024 * 1024
const initialRows = 64
const maxRows = 10_000

export interface BackupOptions {
  url: string
  path: string
  takenAt: string
  program: string
  progress: (line: string) => void
}

export interface BackupCounts {
  tables: number
  rows: number
}

/** Writes a consistent snapshot while the service keeps running. The file gets its final name only when it is complete. */
export async function backUp(options: BackupOptions): Promise<BackupCounts> {
  const session = await openSession(options.url)
  const unfinished = `${options.path}.unfinished`
  const counts: BackupCounts = { tables: 0, rows: 0 }
  try {
    await session.execute('begin isolation level repeatable read read only')
    const content = Readable.from(contentOf(session, options, counts))
    await pipeline(content, createGzip({ level: 4 }), createWriteStream(unfinished, { mode: 0o600, flags: 'wx' }))
    await sync(unfinished)
    await rename(unfinished, options.path)
    await sync(dirname(options.path))
    return counts
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') await rm(unfinished, { force: true })
    throw error
  } finally {
    await session.end()
  }
}

/** Makes the backup durable against a power failure. */
async function sync(path: string): Promise<void> {
  const file = await open(path, 'r')
  await file.sync()
  await file.close()
}

async function* contentOf(
  session: Session,
  { takenAt, program, progress }: BackupOptions,
  counts: BackupCounts,
): AsyncGenerator<Buffer> {
  yield line(await headOf(session, takenAt, program))
  for (const table of await backupTables(session)) {
    yield line({ table: table.name, columns: table.columns })
    const checksum = new TableChecksum()
    yield* blocksOf(session, table, checksum)
    yield line(checksum.end())
    counts.tables++
    counts.rows += checksum.rows
    if (checksum.rows > 0) progress(`${table.name}: ${checksum.rows} ${checksum.rows === 1 ? 'row' : 'rows'}`)
  }
  yield line({ end: true, ...counts })
}

async function headOf(session: Session, takenAt: string, program: string): Promise<Head> {
  if (!(await isSchemaCurrent(session))) throw new Error('There is no installation of Lastseen in this database')
  const migrations = await session.query<{ name: string; checksum: string }>(
    sql`select name, checksum from schema_migrations order by name`,
  )
  const months = await monthsSpan(session, historyTable)
  return {
    lastseen_backup: 1,
    program,
    taken_at: takenAt,
    migrations: migrations.map(({ name, checksum }) => [name, checksum]),
    months,
  }
}

async function* blocksOf(
  session: Session,
  { name, columns, hasRowSecurity }: BackupTable,
  checksum: TableChecksum,
): AsyncGenerator<Buffer> {
  // Forced row level security hides the rows even from the owner; the reader role sees every organization.
  if (hasRowSecurity) await session.execute(`set local role ${readerRole}`)
  await session.execute(`declare kept no scroll cursor for select ${textsOf(columns)} from ${listOf([name])}`)
  if (hasRowSecurity) await session.execute('reset role')
  for (let count = initialRows; ;) {
    const rows = await session.values<string | null>(`fetch ${count} from kept`)
    if (rows.length === 0) break
    const block = Buffer.from(rows.map(copyLine).join(''))
    checksum.add(block, rows.length)
    yield line({ rows: rows.length, bytes: block.length })
    yield block
    count = Math.max(1, Math.min(maxRows, Math.floor((rows.length * blockBytes) / block.length)))
  }
  await session.execute('close kept')
}
