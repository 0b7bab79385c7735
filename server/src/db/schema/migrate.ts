import { createHash } from 'node:crypto'
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { citusDdlSettings, readerRole, writerRole } from '../create-database.ts'
import { type Session, withSession } from '../session.ts'
import { sql } from '../sql.ts'

const folder = fileURLToPath(new URL('../../../migrations', import.meta.url))
/** The advisory lock key for schema changes. */
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
 * Migrates the database to the newest schema, forward only. Concurrent calls are safe: one process migrates, the others
 * wait and then find nothing to do. Returns the names of the applied migrations.
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

/** Runs within a transaction. `past` limits it to the migrations of a backup, to restore the schema of that time. */
export async function applyMigrations(tx: Session, past?: ReadonlyMap<string, string>): Promise<string[]> {
  const all = await readMigrations()
  if (past !== undefined) rejectUnknownMigrations(all, past, 'backup')
  const migrations = past === undefined ? all : all.filter((migration) => past.has(migration.name))
  await tx.query(sql`select pg_advisory_xact_lock(${migrationLock})`)
  await tx.execute(`create table if not exists schema_migrations
    (name text primary key, checksum text not null, applied_at timestamptz not null default now())`)
  const known = await tx.query<{ name: string; checksum: string }>(sql`select name, checksum from schema_migrations`)
  const applied = new Map(known.map((row) => [row.name, row.checksum]))
  rejectUnknownMigrations(all, applied, 'database')
  const pending = migrations.filter((migration) => !applied.has(migration.name))
  if (pending.length > 0) await ensureRoles(tx)
  for (const migration of pending) {
    for (const statement of statementsOf(migration.text)) await tx.execute(statement)
    const { name, checksum } = migration
    await tx.query(sql`insert into schema_migrations (name, checksum) values (${name}, ${checksum})`)
  }
  return pending.map((migration) => migration.name)
}

/** Single statements, because Citus forwards the whole text to other nodes. They end at a line end outside `$$ … $$`. */
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

function rejectUnknownMigrations(
  migrations: readonly Migration[],
  applied: ReadonlyMap<string, string>,
  source: 'database' | 'backup',
): void {
  const checksums = new Map(migrations.map((migration) => [migration.name, migration.checksum]))
  const orRestore = source === 'database' ? ' or restore a backup' : ''
  for (const [name, checksum] of applied) {
    if (!checksums.has(name))
      throw new Error(`The ${source} was migrated by a newer version (${name}). Run that version${orRestore}.`)
    if (checksums.get(name) !== checksum)
      throw new Error(`The migration ${name} differs from the one this ${source} was made with.`)
  }
}

/** Roles belong to the whole server, so a migration of another database may create them concurrently. */
async function ensureRoles(tx: Session): Promise<void> {
  for (const role of [writerRole, readerRole]) {
    await tx.execute(`do $$ begin
      if not exists (select from pg_roles where rolname = '${role}') then
        create role ${role} nologin;
      end if;
    exception when duplicate_object or unique_violation then null;
    end $$`)
    // Since PostgreSQL 16, the creator of a role is a member of it but must be granted the right to SET ROLE.
    await tx.execute(`do $$ begin
      if not pg_has_role(current_user, '${role}',
        case when current_setting('server_version_num')::int < 160000 then 'member' else 'set' end) then
        execute format('grant ${role} to %I', current_user);
      end if;
    end $$`)
  }
}
