import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { citusDdlSettings, openPool } from '../connect.ts'
import { applyMigrations } from '../migrate.ts'
import { historyTable, makeMonthsBetween } from '../partitions.ts'
import type { Kept } from './backup.ts'
import { BackupReader, type Block, BrokenBackup, type End, type Head, type TableEnd, Tally } from './file.ts'
import type { TableHead } from './file.ts'
import { type KeptTable, type Sql, keptTables, listOf } from './tables.ts'

export interface RestoreOptions {
  url: string
  path: string
  /** Throw away what the database holds. */
  isReplacing: boolean
  progress: (line: string) => void
}

/** The database holds something, and nobody said that it may go. */
export class NotEmpty extends Error {}

/**
 * Fills a database from a backup and brings it up to this version: all of it, or nothing is changed. The tables are
 * made as they were when the backup was taken, filled, and migrated from there, in one transaction.
 */
export async function restore(options: RestoreOptions): Promise<Kept & { takenAt: string }> {
  const file = new BackupReader(options.path)
  let isLost = false
  let isDone = false
  const pool = openPool(options.url, 1, citusDdlSettings, () => (isLost = true))
  /** Nothing may be sent on the connection that follows a lost one: it would not be part of the transaction. */
  const together: Together = (work) => {
    if (isLost) throw new Error('The connection to the database was lost; nothing was restored')
    return work(pool)
  }
  try {
    const head = (await file.line()) as Head
    if (head?.lastseen_backup !== 1) throw new BrokenBackup('it is another kind of file')
    await together((sql) => sql.unsafe('begin').simple())
    await together((sql) => refuseInUse(sql))
    await together((sql) => clear(sql, options.isReplacing))
    await together((sql) => applyMigrations(sql, new Map(head.migrations)))
    if (head.months !== null) {
      const [from, to] = head.months
      await together((sql) => makeMonthsBetween(sql, historyTable, from, to))
    }
    const kept = await loadAll(together, file, options.progress)
    await together((sql) => applyMigrations(sql))
    await together((sql) => sql.unsafe('commit').simple())
    isDone = true
    await pool.unsafe('analyze').catch(() => undefined)
    return { ...kept, takenAt: head.taken_at }
  } finally {
    await file.close().catch(() => undefined)
    // Cut, where it failed: the server then undoes what there is.
    await pool.end({ timeout: isDone ? 5 : 0 })
  }
}

type Together = <Result>(work: (sql: Sql) => Result) => Result

/** Whoever serves from this database believes in what was there before. */
async function refuseInUse(sql: Sql): Promise<void> {
  const users = await sql`
    select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
      and application_name like 'lastseen%' and application_name <> 'lastseen lease'`
  if (users.length > 0) throw new NotEmpty('Lastseen is running on this database: stop it first')
}

async function clear(sql: Sql, isReplacing: boolean): Promise<void> {
  const [found] = await sql<{ names: string[] }[]>`
    select array(select c.relname::text from pg_class c
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
        and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e')) as names`
  const names = found?.names ?? []
  if (names.length === 0) return
  if (!isReplacing && (await holdsSomething(sql, names)))
    throw new NotEmpty('The database is not empty: restore into an empty one, or throw away what it holds (--replace)')
  await sql.unsafe(`drop table ${listOf(names)} cascade`)
  await dropFunctions(sql)
}

/** The migrations make them anew, and the types of their answers too. */
async function dropFunctions(sql: Sql): Promise<void> {
  const functions = await sql<{ name: string }[]>`
    select p.oid::regprocedure::text as name from pg_proc p where p.pronamespace = 'public'::regnamespace
      and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')`
  for (const { name } of functions) await sql.unsafe(`drop function ${name}`)
  const types = await sql<{ name: string }[]>`
    select t.oid::regtype::text as name from pg_type t join pg_class c on c.oid = t.typrelid and c.relkind = 'c'
    where t.typnamespace = 'public'::regnamespace
      and not exists (select from pg_depend d where d.objid = t.oid and d.deptype = 'e')`
  for (const { name } of types) await sql.unsafe(`drop type ${name}`)
}

/** An installation without an organization, as a first start leaves it behind, is worth nothing. */
async function holdsSomething(sql: Sql, names: readonly string[]): Promise<boolean> {
  if (!names.includes('schema_migrations') || !names.includes('organization_names')) return true
  return (await sql`select from organization_names limit 1`).length > 0
}

async function loadAll(together: Together, file: BackupReader, progress: (line: string) => void): Promise<Kept> {
  const known = new Map((await together(keptTables)).map((table) => [table.name, table]))
  const kept: Kept = { tables: 0, rows: 0 }
  for (;;) {
    const next = (await file.line()) as TableHead | End
    if ('end' in next) {
      if (next.tables !== kept.tables || next.rows !== kept.rows || known.size > 0)
        throw new BrokenBackup('tables are missing')
      return kept
    }
    const table = known.get(next.table)
    if (table === undefined || String(table.columns) !== String(next.columns))
      throw new BrokenBackup(`it has a table ${next.table} that does not fit`)
    known.delete(next.table)
    const rows = await loadTable(together, table, file)
    kept.tables++
    kept.rows += rows
    if (rows > 0) progress(`${table.name}: ${rows} ${rows === 1 ? 'row' : 'rows'}`)
  }
}

async function loadTable(together: Together, { name, columns, isFenced }: KeptTable, file: BackupReader) {
  const table = listOf([name])
  // Behind the fence not even the owner may write; nobody else sees it open, because all of this is one transaction.
  if (isFenced) await together((sql) => sql.unsafe(`alter table ${table} no force row level security`))
  const into = await together((sql) => sql.unsafe(`copy ${table} (${listOf(columns)}) from stdin`).writable())
  const tally = new Tally()
  let end: TableEnd | undefined
  async function* blocks(): AsyncGenerator<Buffer> {
    for (;;) {
      const next = (await file.line()) as Block | TableEnd
      if ('sha256' in next) return void (end = next)
      const block = await file.bytes(next.bytes)
      tally.add(block, next.rows)
      yield block
    }
  }
  await pipeline(Readable.from(blocks()), into)
  const { rows, sha256 } = tally.end()
  const [counted] = await together((sql) => sql.unsafe<{ rows: number }[]>(`select count(*) as rows from ${table}`))
  if (end?.rows !== rows || end.sha256 !== sha256 || counted?.rows !== rows)
    throw new BrokenBackup(`the rows of ${name} are not those that were kept`)
  if (isFenced) await together((sql) => sql.unsafe(`alter table ${table} force row level security`))
  return rows
}
