import type { Session } from '../db/session.ts'
import { sql } from '../db/sql.ts'
import { fleetingTables } from '../db/schema/tables.ts'

export interface KeptTable {
  name: string
  columns: string[]
  /** Behind the fence even its owner sees nothing of it. */
  isFenced: boolean
}

/** What is kept, a table always after those it refers to. What may be lost in a crash is not in a backup either. */
export async function keptTables(session: Session): Promise<KeptTable[]> {
  const rows = await session.query<KeptTable & { refersTo: string[] }>(sql`
    select c.relname::text as name, c.relrowsecurity as "isFenced",
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
  const isPlaced = (name: string): boolean => sorted.some((one) => one.name === name)
  while (sorted.length < rows.length) {
    const next = rows.filter((one) => !isPlaced(one.name) && one.refersTo.every(isPlaced))
    if (next.length === 0) throw new Error('The tables refer to each other in a circle')
    sorted.push(...next)
  }
  return sorted
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

export const listOf = (names: readonly string[]): string => names.map(quoted).join(', ')

/** Each column as the text that the same column takes again. */
export const textsOf = (columns: readonly string[]): string =>
  columns.map((name, index) => `${quoted(name)}::text as c${index}`).join(', ')
