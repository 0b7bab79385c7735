import { createHash } from 'node:crypto'
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { citusDdlSettings, readerRole, writerRole } from '../create-database.ts'
import { type Session, withSession } from '../session.ts'
import { sql } from '../sql.ts'

const folder = fileURLToPath(new URL('../../../migrations', import.meta.url))
/** Held by whoever changes the schema. */
export const migrationLock = 6_170_501

interface Migration {
  name: string
  text: string
  checksum: string
}

async function readMigrations(): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort()
  return Promise.all(
    names.map(async (name) => {
      const text = await readFile(join(folder, name), 'utf8')
      return { name, text, checksum: createHash('sha256').update(text).digest('hex') }
    }),
  )
}

/**
 * Brings the database to the newest schema, forward only. Any number of processes may call it at once: one works,
 * the others wait and then find nothing left to do. Returns the names of what was applied.
 */
export async function migrate(url: string): Promise<string[]> {
  try {
    return await withSession(url, (session) => session.transaction(() => applyMigrations(session)), citusDdlSettings)
  } catch (error) {
    if ((error as { code?: string }).code !== '42501') throw error
    throw new Error(
      `The user of DATABASE_URL may not set up the database: ${(error as Error).message}. It must own the database ` +
        `and be allowed to create roles, or the roles ${writerRole} and ${readerRole} must exist and be granted to it.`,
    )
  }
}

/** Within a transaction. With `past`, the migrations a backup was made with, it stops at the schema of that time. */
export async function applyMigrations(tx: Session, past?: ReadonlyMap<string, string>): Promise<string[]> {
  const all = await readMigrations()
  if (past !== undefined) refuseStrangers(all, past, 'backup')
  const migrations = past === undefined ? all : all.filter((migration) => past.has(migration.name))
  await tx.query(sql`select pg_advisory_xact_lock(${migrationLock})`)
  await tx.execute(`create table if not exists schema_migrations
    (name text primary key, checksum text not null, applied_at timestamptz not null default now())`)
  const known = await tx.query<{ name: string; checksum: string }>(sql`select name, checksum from schema_migrations`)
  const applied = new Map(known.map((row) => [row.name, row.checksum]))
  refuseStrangers(all, applied, 'database')
  const pending = migrations.filter((migration) => !applied.has(migration.name))
  if (pending.length > 0) await ensureRoles(tx)
  for (const migration of pending) {
    for (const statement of statementsOf(migration.text)) await tx.execute(statement)
    const { name, checksum } = migration
    await tx.query(sql`insert into schema_migrations (name, checksum) values (${name}, ${checksum})`)
  }
  return pending.map((migration) => migration.name)
}

/** One by one, because Citus takes the text it was sent to other nodes. A statement ends a line, outside of `$$ … $$`. */
function statementsOf(text: string): string[] {
  let isQuoted = false
  const statements: string[] = ['']
  for (const line of text.split('\n')) {
    statements.push(`${statements.pop()}${line}\n`)
    if (line.split('$$').length % 2 === 0) isQuoted = !isQuoted
    if (!isQuoted && line.endsWith(';')) statements.push('')
  }
  return statements.filter((statement) => statement.trim() !== '')
}

function refuseStrangers(
  migrations: readonly Migration[],
  applied: ReadonlyMap<string, string>,
  what: 'database' | 'backup',
): void {
  const ours = new Map(migrations.map((migration) => [migration.name, migration.checksum]))
  const orRestore = what === 'database' ? ' or restore a backup' : ''
  for (const [name, checksum] of applied) {
    if (!ours.has(name))
      throw new Error(`The ${what} was migrated by a newer version (${name}). Run that version${orRestore}.`)
    if (ours.get(name) !== checksum)
      throw new Error(`The migration ${name} differs from the one this ${what} was made with.`)
  }
}

/** Roles belong to the whole server, so another database's migration may be making them at this very moment. */
async function ensureRoles(tx: Session): Promise<void> {
  for (const role of [writerRole, readerRole]) {
    await tx.execute(`do $$ begin
      if not exists (select from pg_roles where rolname = '${role}') then
        create role ${role} nologin;
      end if;
    exception when duplicate_object or unique_violation then null;
    end $$`)
    // From PostgreSQL 16 on, who creates a role is its member at once but may not yet switch to it.
    await tx.execute(`do $$ begin
      if not pg_has_role(current_user, '${role}',
        case when current_setting('server_version_num')::int < 160000 then 'member' else 'set' end) then
        execute format('grant ${role} to %I', current_user);
      end if;
    end $$`)
  }
}
