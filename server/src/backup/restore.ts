import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { from as copyFrom } from 'pg-copy-streams'
import { citusDdlSettings } from '../db/create-database.ts'
import { applyMigrations } from '../db/schema/migrate.ts'
import { historyTable, makeMonthsBetween } from '../db/schema/partitions.ts'
import { type Session, openSession } from '../db/session.ts'
import { sql } from '../db/sql.ts'
import type { BackupCounts } from './backup.ts'
import {
  BackupReader,
  type Block,
  BrokenBackupError,
  type End,
  type Head,
  type TableEnd,
  TableChecksum,
} from './file.ts'
import type { TableHead } from './file.ts'
import { type BackupTable, backupTables, listOf } from './tables.ts'

export interface RestoreOptions {
  url: string
  path: string
  /** Delete the current content of the database. */
  isReplacing: boolean
  progress: (line: string) => void
}

/** The database is in use or not empty, and the caller did not allow replacing its content. */
export class NotEmptyError extends Error {}

/**
 * Restores a backup and migrates it to the current schema. In one transaction, it creates the schema of the time of the
 * backup, loads the rows and applies the later migrations; a failure changes nothing.
 */
export async function restore(options: RestoreOptions): Promise<BackupCounts & { takenAt: string }> {
  const session = await openSession(options.url, { parameters: citusDdlSettings })
  const file = new BackupReader(options.path)
  try {
    const head = (await file.line()) as Head
    if (head?.lastseen_backup !== 1) throw new BrokenBackupError('it is another kind of file')
    const counts = await session.transaction(async () => {
      await rejectIfInUse(session)
      await clear(session, options.isReplacing)
      await applyMigrations(session, new Map(head.migrations))
      if (head.months !== null) await makeMonthsBetween(session, historyTable, ...head.months)
      const loaded = await loadAll(session, file, options.progress)
      await applyMigrations(session)
      return loaded
    })
    await session.execute('analyze').catch(() => undefined)
    return { ...counts, takenAt: head.taken_at }
  } finally {
    await file.close().catch(() => undefined)
    await session.end()
  }
}

/** A running process would keep serving cached data of the replaced database. */
async function rejectIfInUse(session: Session): Promise<void> {
  const users = await session.query(sql`
    select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
      and application_name like 'lastseen%' and application_name <> 'lastseen lease'`)
  if (users.length > 0) throw new NotEmptyError('Lastseen is running on this database: stop it first')
}

async function clear(session: Session, isReplacing: boolean): Promise<void> {
  const [row] = await session.query<{ names: string[] }>(sql`
    select array(select c.relname::text from pg_class c
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
        and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e')) as names`)
  const names = row?.names ?? []
  if (names.length === 0) return
  if (!isReplacing && (await hasContent(session, names)))
    throw new NotEmptyError(
      'The database is not empty: restore into an empty database, or replace its content (--replace)',
    )
  await session.execute(`drop table ${listOf(names)} cascade`)
  await dropFunctions(session)
}

/** Drops functions and composite types, because the migrations create them again. */
async function dropFunctions(session: Session): Promise<void> {
  const functions = await session.query<{ name: string }>(sql`
    select p.oid::regprocedure::text as name from pg_proc p where p.pronamespace = 'public'::regnamespace
      and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')`)
  for (const { name } of functions) await session.execute(`drop function ${name}`)
  const types = await session.query<{ name: string }>(sql`
    select t.oid::regtype::text as name from pg_type t join pg_class c on c.oid = t.typrelid and c.relkind = 'c'
    where t.typnamespace = 'public'::regnamespace
      and not exists (select from pg_depend d where d.objid = t.oid and d.deptype = 'e')`)
  for (const { name } of types) await session.execute(`drop type ${name}`)
}

/** An installation without an organization, as a first start creates it, counts as empty. */
async function hasContent(session: Session, names: readonly string[]): Promise<boolean> {
  if (!names.includes('schema_migrations') || !names.includes('organization_names')) return true
  return (await session.query(sql`select from organization_names limit 1`)).length > 0
}

async function loadAll(session: Session, file: BackupReader, progress: (line: string) => void): Promise<BackupCounts> {
  const remaining = new Map((await backupTables(session)).map((table) => [table.name, table]))
  const counts: BackupCounts = { tables: 0, rows: 0 }
  for (;;) {
    const next = (await file.line()) as TableHead | End
    if ('end' in next) {
      if (next.tables !== counts.tables || next.rows !== counts.rows || remaining.size > 0)
        throw new BrokenBackupError('tables are missing')
      return counts
    }
    const table = remaining.get(next.table)
    if (table === undefined || String(table.columns) !== String(next.columns))
      throw new BrokenBackupError(`it has a table ${next.table} that does not fit`)
    remaining.delete(next.table)
    const rows = await loadTable(session, table, file)
    counts.tables++
    counts.rows += rows
    if (rows > 0) progress(`${table.name}: ${rows} ${rows === 1 ? 'row' : 'rows'}`)
  }
}

async function loadTable(session: Session, { name, columns, hasRowSecurity }: BackupTable, file: BackupReader) {
  const table = listOf([name])
  // Forced row level security would keep even the owner from writing. Other sessions never see the tables without it,
  // because everything happens in one transaction.
  if (hasRowSecurity) await session.execute(`alter table ${table} no force row level security`)
  const into = session.client.query(copyFrom(`copy ${table} (${listOf(columns)}) from stdin`))
  const checksum = new TableChecksum()
  let end: TableEnd | undefined
  async function* blocks(): AsyncGenerator<Buffer> {
    for (;;) {
      const next = (await file.line()) as Block | TableEnd
      if ('sha256' in next) return void (end = next)
      const block = await file.bytes(next.bytes)
      checksum.add(block, next.rows)
      yield block
    }
  }
  await pipeline(Readable.from(blocks()), into)
  const { rows, sha256 } = checksum.end()
  const [counted] = await session.values<number>(`select count(*) from ${table}`)
  if (end?.rows !== rows || end.sha256 !== sha256 || counted?.[0] !== rows)
    throw new BrokenBackupError(`the rows of ${name} do not match their checksum or count`)
  if (hasRowSecurity) await session.execute(`alter table ${table} force row level security`)
  return rows
}
