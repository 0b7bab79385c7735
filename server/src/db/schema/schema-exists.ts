import { type Session, withSession } from '../session.ts'
import { sql } from '../sql.ts'

/** Whether any version of Lastseen has created its schema in this database. */
export const schemaExists = (url: string): Promise<boolean> => withSession(url, isSchemaCurrent)

export async function isSchemaCurrent(session: Session): Promise<boolean> {
  const rows = await session.query(
    sql`select from pg_tables where schemaname = 'public' and tablename = 'schema_migrations'`,
  )
  return rows.length > 0
}
