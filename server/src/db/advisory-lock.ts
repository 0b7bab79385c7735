import { withSession } from './session.ts'
import { sql } from './sql.ts'

/**
 * Runs the work while holding an exclusive advisory lock; other processes that request the same key wait. The lock is
 * held by a dedicated connection and is released when that connection closes.
 */
export function withAdvisoryLock<Result>(url: string, key: number, work: () => Promise<Result>): Promise<Result> {
  return withSession(url, async (session) => {
    await session.query(sql`select pg_advisory_lock(${key})`)
    return work()
  })
}
