import type { Session } from '../db/session.ts'
import { sql } from '../db/sql.ts'
import { fleetingTables } from '../db/schema/tables.ts'

export interface BackupTable {
  name: string
  columns: string[]
  /** Row level security is forced, so that not even the owner sees the rows. */
  hasRowSecurity: boolean
}

/** The tables of a backup, each after the tables it refers to. Tables that may be lost in a crash are omitted. */
export async function backupTables(session: Session): Promise<BackupTable[]> {
  const rows = await session.query<BackupTable & { refersTo: string[] }>(sql`
    select c.relname::text as name, c.relrowsecurity as "hasRowSecurity",
      array(select a.attname::text from pg_attribute a
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
        order by a.attnum) as columns,
      array(select distinct r.relname::text from pg_constraint f join pg_class r on r.oid = f.confrelid
        where f.conrelid = c.oid and f.contype = 'f' and f.confrelid <> c.oid) as "refersTo"
    from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and c.relname <> 'schema_migrations' and c.relname <> all(${fleetingTables}::text[])
      and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e')
    order by c.relname`)
  const sorted: (typeof rows)[number][] = []
  const isSorted = (name: string): boolean => sorted.some((one) => one.name === name)
  while (sorted.length < rows.length) {
    const next = rows.filter((one) => !isSorted(one.name) && one.refersTo.every(isSorted))
    if (next.length === 0) throw new Error('The foreign keys of the tables form a cycle')
    sorted.push(...next)
  }
  return sorted
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

export const listOf = (names: readonly string[]): string => names.map(quoted).join(', ')

/** Each column as text, which the same column accepts as input. */
export const textsOf = (columns: readonly string[]): string =>
  columns.map((name, index) => `${quoted(name)}::text as c${index}`).join(', ')
