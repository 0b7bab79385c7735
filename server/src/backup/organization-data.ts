import { writerRole } from '../db/connection-pools.ts'
import { type Session, withSession } from '../db/session.ts'
import { sql } from '../db/sql.ts'
import { tables } from '../db/schema/tables.ts'
import { writeArchive } from './archive-file.ts'

interface OrganizationTable {
  name: string
  /** All columns except those of type bytea, which are hashes and encrypted secrets. */
  columns: string[]
  hasRowSecurity: boolean
}

/** Numbers of rows by table. */
export type RowCounts = Record<string, number>

/**
 * Every table with a column `org_id`, each after the tables that its foreign keys refer to. The list comes from the
 * catalog, so that no new table is missed; a table that `db/schema/tables.ts` does not list is an error.
 */
async function organizationTables(session: Session): Promise<OrganizationTable[]> {
  const rows = await session.query<OrganizationTable>(sql`
    select c.relname::text as name, c.relrowsecurity as "hasRowSecurity",
      array(select a.attname::text from pg_attribute a
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.atttypid <> 'bytea'::regtype
        order by a.attnum) as columns
    from pg_class c join pg_attribute o on o.attrelid = c.oid and o.attname = 'org_id' and not o.attisdropped
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e')`)
  const order = new Map(tables.map(({ name }, index) => [name, index]))
  const unlisted = rows.find(({ name }) => !order.has(name))
  if (unlisted !== undefined) throw new Error(`db/schema/tables.ts does not list the table ${unlisted.name}`)
  return rows.sort((a, b) => order.get(a.name)! - order.get(b.name)!)
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

/** Statements see only the rows of this organization, as in every transaction of a tenant. */
async function openTransaction(session: Session, orgId: number, mode = ''): Promise<void> {
  if (!Number.isSafeInteger(orgId)) throw new TypeError('an organization id is an integer')
  await session.execute(`begin ${mode}`)
  await session.execute(`set local app.org_id = '${orgId}'`)
}

/** Tables with row level security are accessed with the writer role, the others as the owner. */
async function setRoleFor(session: Session, { hasRowSecurity }: OrganizationTable): Promise<void> {
  await session.execute(hasRowSecurity ? `set local role ${writerRole}` : 'reset role')
}

const parameters = { 'citus.propagate_set_commands': 'local' }

async function countIn(session: Session, table: OrganizationTable, orgId: number): Promise<number> {
  await setRoleFor(session, table)
  const [row] = await session.values<number>(`select count(*) from ${quoted(table.name)} where org_id = ${orgId}`)
  return row![0]!
}

interface ExportOptions {
  url: string
  path: string
  organization: { orgId: number; name: string }
  exportedAt: string
}

/**
 * Writes a consistent snapshot of one organization as gzipped NDJSON: a head, a line for each row and an end with the
 * counts.
 */
export async function exportOrganization(options: ExportOptions): Promise<RowCounts> {
  const counts: RowCounts = {}
  await withSession(
    options.url,
    async (session) => {
      await openTransaction(session, options.organization.orgId, 'isolation level repeatable read read only')
      await writeArchive(options.path, linesOf(session, options, counts))
    },
    parameters,
  )
  return counts
}

const line = (value: object): string => `${JSON.stringify(value)}\n`

async function* linesOf(
  session: Session,
  { organization: { orgId, name }, exportedAt }: ExportOptions,
  counts: RowCounts,
): AsyncGenerator<string> {
  yield line({ lastseen_organization: 1, org_id: orgId, name, exported_at: exportedAt })
  for (const table of await organizationTables(session)) {
    await setRoleFor(session, table)
    const select = `select ${table.columns.map(quoted).join(', ')} from ${quoted(table.name)} where org_id = ${orgId}`
    yield* rowsOf(session, table.name, select, counts)
  }
  await session.execute('reset role')
  const members = `select user_id, email, created_at from users
    where user_id in (select user_id from memberships where org_id = ${orgId})`
  yield* rowsOf(session, 'users', members, counts)
  yield line({ end: true, rows: counts })
}

/** Rows per fetch; an asset may have 64 KiB of metadata. */
const batchRows = 100

async function* rowsOf(session: Session, table: string, select: string, counts: RowCounts): AsyncGenerator<string> {
  counts[table] = 0
  await session.execute(`declare exported no scroll cursor for select row_to_json(r)::text from (${select}) r`)
  for (;;) {
    const rows = await session.values<string>(`fetch ${batchRows} from exported`)
    if (rows.length === 0) break
    counts[table] += rows.length
    yield rows.map(([row]) => `{"table":"${table}","row":${row}}\n`).join('')
  }
  await session.execute('close exported')
}

/** Deletes the memberships of an organization, and the accounts of users without another organization. */
async function deleteMembers(session: Session, orgId: number): Promise<Pick<Deletion, 'emails' | 'deleted'>> {
  await session.execute('reset role')
  const members = await session.values<number>(`delete from memberships where org_id = ${orgId} returning user_id`)
  const users = await session.values<number>(`
    select user_id from users where user_id = any('{${members.join(',')}}'::bigint[])
      and user_id not in (select user_id from memberships)`)
  const ofUsers = `user_id = any('{${users.join(',')}}'::bigint[])`
  const { rowCount } = await session.client.query(`delete from password_resets where ${ofUsers}`)
  const emails = (await session.values<string>(`delete from users where ${ofUsers} returning email`)).flat()
  return { emails, deleted: { memberships: members.length, password_resets: rowCount ?? 0, users: emails.length } }
}

/** Revokes all credentials and sessions of an organization and returns their keys in the caches of processes. */
async function revokeAll(session: Session, orgId: number): Promise<string[]> {
  await session.execute(`set local role ${writerRole}`)
  const credentials = await session.values<string>(`
    update credentials set revoked_at = now() where org_id = ${orgId} and revoked_at is null
    returning client_id::text`)
  const families = await session.values<string>(`
    update refresh_token_families set revoked_at = now() where org_id = ${orgId} and revoked_at is null
    returning family_id::text`)
  return [...credentials, ...families].flat()
}

/** Revokes all credentials, sessions and reader tokens of an organization, and deletes its members and invitations. */
export function cutOffOrganization(url: string, orgId: number): Promise<Deletion> {
  return withSession(
    url,
    async (session) => {
      await openTransaction(session, orgId)
      const readers = await session.client.query(`delete from reader_directory where org_id = ${orgId}`)
      const { emails, deleted } = await deleteMembers(session, orgId)
      const keys = await revokeAll(session, orgId)
      const invitations = await session.client.query(`delete from invitations where org_id = ${orgId}`)
      await session.execute('commit')
      const others = { reader_directory: readers.rowCount ?? 0, invitations: invitations.rowCount ?? 0 }
      return { keys, emails, deleted: { ...deleted, ...others } }
    },
    parameters,
  )
}

export interface Deletion {
  /** The credentials and sessions that every process must remove from its cache. */
  keys: string[]
  /** The addresses of deleted accounts. */
  emails: string[]
  deleted: RowCounts
}

const maxAttempts = 3

/** A concurrent transaction wrote a row of the organization, or there was a deadlock. */
const isConcurrent = (error: unknown): boolean => ['23503', '40P01'].includes((error as { code?: string }).code ?? '')

/**
 * Deletes all rows of an organization in one transaction, and the accounts of users without another organization. Rows
 * that were written concurrently are found by counting afterwards and deleted too.
 */
export function deleteOrganizationData(url: string, orgId: number): Promise<Deletion> {
  return withSession(
    url,
    async (session) => {
      const all = await organizationTables(session)
      const total: Deletion = { keys: [], emails: [], deleted: {} }
      for (let attempt = 1; ; attempt++) {
        try {
          const once = await deleteOnce(session, all, orgId)
          total.keys.push(...once.keys)
          total.emails.push(...once.emails)
          total.deleted = addCounts(total.deleted, once.deleted)
        } catch (error) {
          if (isConcurrent(error) && attempt < maxAttempts) continue
          throw error
        }
        const remaining = await tablesWithRows(session, all, orgId)
        if (remaining.length === 0) return total
        if (attempt >= maxAttempts)
          throw new Error(`rows of the organization are still written: ${remaining.join(', ')}`)
      }
    },
    parameters,
  )
}

export const addCounts = (a: RowCounts, b: RowCounts): RowCounts =>
  Object.fromEntries(
    [...new Set([...Object.keys(a), ...Object.keys(b)])].map((name) => [name, (a[name] ?? 0) + (b[name] ?? 0)]),
  )

async function deleteOnce(session: Session, all: readonly OrganizationTable[], orgId: number): Promise<Deletion> {
  await openTransaction(session, orgId)
  try {
    const members = await deleteMembers(session, orgId)
    let { deleted } = members
    const keys = await revokeAll(session, orgId)
    for (const table of all.toReversed()) {
      await setRoleFor(session, table)
      const { rowCount } = await session.client.query(`delete from ${quoted(table.name)} where org_id = ${orgId}`)
      deleted = addCounts(deleted, { [table.name]: rowCount ?? 0 })
    }
    await session.execute('commit')
    return { keys, emails: members.emails, deleted }
  } catch (error) {
    await session.execute('rollback').catch(() => undefined)
    throw error
  }
}

async function tablesWithRows(session: Session, all: readonly OrganizationTable[], orgId: number): Promise<string[]> {
  await openTransaction(session, orgId, 'read only')
  const remaining: string[] = []
  for (const table of all) if ((await countIn(session, table, orgId)) > 0) remaining.push(table.name)
  await session.execute('rollback')
  return remaining
}
