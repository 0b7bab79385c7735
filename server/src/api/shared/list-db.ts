import type { Database, Db } from '../../db/database.ts'

/** Lists are read like single records; a search may take longer and has connections of its own. */
export const listDb = ({ db }: { db: Database }, orgId: number, q: string | undefined): Db =>
  q ? db.searches(orgId) : db.read
