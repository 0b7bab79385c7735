import { type Session, withSession } from '../session.ts'
import { sql } from '../sql.ts'

/** Whether Lastseen was ever set up in this database, by any version. */
export const schemaExists = (url: string): Promise<boolean> => withSession(url, isSchemaCurrent)

export async function isSchemaCurrent(session: Session): Promise<boolean> {
  const found = await session.query(
    sql`select from pg_tables where schemaname = 'public' and tablename = 'schema_migrations'`,
  )
  return found.length > 0
}
