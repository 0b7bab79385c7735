import { withSession } from './session.ts'
import { sql } from './sql.ts'

/**
 * Runs the work while no other process runs work under the same key on this database; the others wait. The lock belongs
 * to a connection of its own and ends with it.
 */
export function withAdvisoryLock<Result>(url: string, key: number, work: () => Promise<Result>): Promise<Result> {
  return withSession(url, async (session) => {
    await session.query(sql`select pg_advisory_lock(${key})`)
    return work()
  })
}
