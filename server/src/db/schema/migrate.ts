import { createHash } from 'node:crypto'
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { readerRole, writerRole } from '../connection-pools.ts'
import { citusDdlSettings } from '../create-database.ts'
import { type Session, withSession } from '../session.ts'
import { sql } from '../sql.ts'

const migrationsFolder = fileURLToPath(new URL('../../../migrations', import.meta.url))
/** The advisory lock key for schema changes. */
export const migrationLock = 6_170_501

interface Migration {
  name: string
  text: string
  checksum: string
}

const checksumOf = (text: string): string => createHash('sha256').update(text).digest('hex')

/** The numbered files, in order. Each is applied once and never changes. */
async function readMigrations(folder: string): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort()
  return Promise.all(
    names.map(async (name) => {
      const text = await readFile(join(folder, name), 'utf8')
      return { name, text, checksum: checksumOf(text) }
    }),
  )
}

/**
 * The repeatable files, which only replace functions. Each is applied again whenever it has changed. The name that
 * `schema_migrations` stores contains the version from the first line of the file, as in `recording_functions@1`.
 */
async function readRepeatable(folder: string): Promise<Migration[]> {
  const names = (await readdir(join(folder, 'repeatable'))).filter((name) => name.endsWith('.sql')).sort()
  return Promise.all(
    names.map(async (file) => {
      const text = await readFile(join(folder, 'repeatable', file), 'utf8')
      const version = /^-- Version (\d+)\./.exec(text)?.[1]
      if (version === undefined) throw new Error(`repeatable/${file} does not begin with its version`)
      return { name: `${file.slice(0, -'.sql'.length)}@${version}`, text, checksum: checksumOf(text) }
    }),
  )
}

/**
 * Migrates the database to the newest schema, forward only. Concurrent calls are safe: one process migrates, the others
 * wait and then find nothing to do. Returns the names of the applied migrations. Tests name a folder with other migrations.
 */
export async function migrate(url: string, folder = migrationsFolder): Promise<string[]> {
  try {
    return await retryLockTimeouts(() =>
      withSession(
        url,
        (session) => session.transaction(() => applyMigrations(session, undefined, folder)),
        citusDdlSettings,
      ),
    )
  } catch (error) {
    if ((error as { code?: string }).code !== '42501') throw error
    throw new Error(
      `The user of DATABASE_URL may not set up the database: ${(error as Error).message}. It must own the database ` +
        `and be allowed to create roles, or the roles ${writerRole} and ${readerRole} must exist and be granted to it.`,
    )
  }
}

/**
 * While a migration waits for a lock, for example during a long export, later statements on the table wait behind it. So it
 * waits for a short time only and is then run again as a whole.
 */
const lockTimeout = '2s'
const maxLockTimeouts = 60
const retryMs = 1000

async function retryLockTimeouts<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt++)
    try {
      return await work()
    } catch (error) {
      if ((error as { code?: string }).code !== '55P03') throw error
      if (attempt === maxLockTimeouts)
        throw new Error('The database could not be migrated, because other statements hold locks for long.', {
          cause: error,
        })
      await sleep(retryMs)
    }
}

/** Runs within a transaction. `past` limits it to the migrations of a backup, to restore the tables of that time. */
export async function applyMigrations(
  tx: Session,
  past?: ReadonlyMap<string, string>,
  folder = migrationsFolder,
): Promise<string[]> {
  const [numbered, repeatable] = [await readMigrations(folder), await readRepeatable(folder)]
  if (past !== undefined) rejectUnknownMigrations(numbered, repeatable, past, 'backup')
  await tx.query(sql`select pg_advisory_xact_lock(${migrationLock})`)
  await tx.execute(`set local lock_timeout = '${lockTimeout}'`)
  await tx.execute(`create table if not exists schema_migrations
    (name text primary key, checksum text not null, applied_at timestamptz not null default now())`)
  const known = await tx.query<{ name: string; checksum: string }>(sql`select name, checksum from schema_migrations`)
  const applied = new Map(known.map((row) => [row.name, row.checksum]))
  rejectUnknownMigrations(numbered, repeatable, applied, 'database')
  const pending = numbered.filter(({ name }) => !applied.has(name) && (past?.has(name) ?? true))
  // No table depends on a function, so the rows of a backup are loaded without them.
  if (past === undefined) pending.push(...repeatable.filter(({ name, checksum }) => applied.get(name) !== checksum))
  if (pending.length > 0) await ensureRoles(tx)
  for (const { name, text, checksum } of pending) {
    for (const statement of statementsOf(text)) await tx.execute(statement)
    await tx.query(sql`
      insert into schema_migrations (name, checksum) values (${name}, ${checksum})
      on conflict (name) do update set checksum = excluded.checksum, applied_at = now()`)
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
  numbered: readonly Migration[],
  repeatable: readonly Migration[],
  applied: ReadonlyMap<string, string>,
  source: 'database' | 'backup',
): void {
  const checksums = new Map(numbered.map((migration) => [migration.name, migration.checksum]))
  const versions = new Map(repeatable.map(({ name }) => [partsOf(name).name, partsOf(name).version]))
  const orRestore = source === 'database' ? ' or restore a backup' : ''
  for (const [name, checksum] of applied) {
    const isRepeatable = partsOf(name).version <= (versions.get(partsOf(name).name) ?? -1)
    if (isRepeatable) continue
    if (!checksums.has(name))
      throw new Error(`The ${source} was migrated by a newer version (${name}). Run that version${orRestore}.`)
    if (checksums.get(name) !== checksum)
      throw new Error(`The migration ${name} differs from the one this ${source} was made with.`)
  }
}

/** `recording_functions@2` consists of a name and a version; a numbered migration has no version. */
function partsOf(name: string): { name: string; version: number } {
  const [, base, version] = /^(.+)@(\d+)$/.exec(name) ?? []
  return base === undefined ? { name, version: Infinity } : { name: base, version: Number(version) }
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
