import type { Database, Db } from '../../db/database.ts'

/** PostgreSQL reads and skips all rows before a page. */
const maxFastOffset = 10_000

interface ListQuery {
  q?: string | undefined
  offset: number
  /** The filters of the list select many rows, all of which are read. */
  isWide?: boolean
}

/** Returns the connections for a list: those of point reads for ordinary pages, those of searches for lists that may take long. */
export const listDb = ({ db }: { db: Database }, orgId: number, { q, offset, isWide = false }: ListQuery): Db =>
  q || offset > maxFastOffset || isWide ? db.searches(orgId) : db.read
