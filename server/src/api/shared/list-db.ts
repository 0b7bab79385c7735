import type { Database, Db } from '../../db/database.ts'

/** Returns the connections for a list. Searches may take longer, so they have their own. */
export const listDb = ({ db }: { db: Database }, orgId: number, q: string | undefined): Db =>
  q ? db.searches(orgId) : db.read
