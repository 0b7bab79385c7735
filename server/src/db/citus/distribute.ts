import { readerRole, writerRole } from '../connection-pools.ts'
import { citusDdlSettings } from '../create-database.ts'
import { migrationLock } from '../schema/migrate.ts'
import { type Session, withSession } from '../session.ts'
import { sql } from '../sql.ts'
import { type TableKind, tables } from '../schema/tables.ts'

/** Citus metadata of a table: hash-distributed ('h') or reference table ('n'), and its co-location group. */
interface CitusTable {
  name: string
  partmethod: string
  colocationid: number
}

export interface Distribution {
  /** Tables that this run has distributed. */
  distributed: string[]
  /** Tables that were distributed before. */
  unchanged: number
}

const anchor = 'organizations'

/** Whether this database has been distributed; always false on plain PostgreSQL. */
export function isDistributed(url: string): Promise<boolean> {
  return withSession(
    url,
    async (session) => (await hasCitus(session)) && (await distributedTables(session)).has(anchor),
  )
}

/**
 * Distributes a migrated database over the nodes of a Citus cluster: first the reference tables, then the organizations,
 * then all tenant tables, co-located with the organizations. Tables that are distributed already are skipped, so it can
 * be called again; it is called after each migration to distribute new tables.
 */
export function distribute(url: string): Promise<Distribution> {
  return withSession(url, distributeTables, citusDdlSettings)
}

async function distributeTables(session: Session): Promise<Distribution> {
  await session.query(sql`select pg_advisory_lock(${migrationLock})`)
  if (!(await hasCitus(session))) throw new Error(await howToGetCitus(session))
  const before = await distributedTables(session)
  const distributed: string[] = []
  for (const { name, kind } of tables) {
    if (kind === 'local' || before.has(name)) continue
    await session.transaction(async () => {
      // Under forced row level security not even the owner could copy the existing rows.
      if (kind === 'tenant') await session.execute(`alter table ${name} no force row level security`)
      await session.execute(statementFor(name, kind))
      if (kind === 'tenant') await session.execute(`alter table ${name} force row level security`)
    })
    distributed.push(name)
  }
  assertColocated(await distributedTables(session))
  // Distributing copies the rows; the originals on the coordinator are no longer visible.
  for (const name of distributed)
    await session.query(sql`select truncate_local_data_after_distributing_table(${name}::regclass)`)
  // Citus moves shards through the write-ahead log, together with all co-located ones, so none may be unlogged.
  await alterAll(session, `c.relpersistence = 'u'`, 'set logged')
  // Moving shards requires the operator to lift forced row level security for the time of the move.
  await alterAll(session, 'c.relrowsecurity and not c.relforcerowsecurity', 'force row level security')
  await allowRolesToLogIn(session)
  return { distributed, unchanged: before.size }
}

/** Tables are distributed in the order of the list, so a foreign key's target comes before the table that refers to it. */
export function statementFor(name: string, kind: Exclude<TableKind, 'local'>): string {
  if (kind === 'reference') return `select create_reference_table('${name}')`
  const colocateWith = name === anchor ? 'none' : anchor
  return `select create_distributed_table('${name}', 'org_id', colocate_with => '${colocateWith}')`
}

/** The condition refers to `c`, the table's row in pg_class. */
async function alterAll(session: Session, condition: string, change: string): Promise<void> {
  const rows = await session.values<string>(`
    select c.relname::text as name from pg_dist_partition d join pg_class c on c.oid = d.logicalrelid
    where not c.relispartition and ${condition}`)
  for (const [name] of rows) await session.execute(`alter table ${name} ${change}`)
}

async function hasCitus(session: Session): Promise<boolean> {
  return (await session.query(sql`select from pg_extension where extname = 'citus'`)).length > 0
}

/** The coordinator connects to the workers as the role that runs the statement, so both roles must be able to log in. */
async function allowRolesToLogIn(session: Session): Promise<void> {
  const roles = await session.query<{ rolname: string }>(sql`
    select rolname from pg_roles where rolname in (${writerRole}, ${readerRole}) and not rolcanlogin`)
  for (const { rolname } of roles) await session.execute(`alter role ${rolname} login`)
}

async function howToGetCitus(session: Session): Promise<string> {
  const isOnServer = (await session.query(sql`select from pg_available_extensions where name = 'citus'`)).length > 0
  return isOnServer
    ? 'This database lacks the extension citus, although the server has it. Run CREATE EXTENSION citus in it, add the ' +
        'worker nodes (citus_add_node), and try again.'
    : 'This server does not have the extension citus, so nothing can be distributed. Lastseen does not need it: it is ' +
        'for installations that outgrow one database server. How to get it: https://docs.citusdata.com/en/stable/installation/'
}

async function distributedTables(session: Session): Promise<Map<string, CitusTable>> {
  const rows = await session.query<CitusTable>(sql`
    select c.relname::text as name, d.partmethod::text as partmethod, d.colocationid
    from pg_dist_partition d join pg_class c on c.oid = d.logicalrelid where not c.relispartition`)
  return new Map(rows.map((row) => [row.name, row]))
}

/** A tenant table that is not co-located with the organizations would make statements over both cross the cluster. */
function assertColocated(citusTables: ReadonlyMap<string, CitusTable>): void {
  const colocation = citusTables.get(anchor)?.colocationid
  const wrong = tables.filter(({ name, kind }) => {
    const table = citusTables.get(name)
    if (kind === 'local') return false
    return kind === 'reference'
      ? table?.partmethod !== 'n'
      : table?.partmethod !== 'h' || table.colocationid !== colocation
  })
  if (wrong.length > 0)
    throw new Error(`These tables are not distributed as they must be: ${wrong.map(({ name }) => name).join(', ')}.`)
}
