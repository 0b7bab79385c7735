import type postgres from 'postgres'
import type { Database } from '../../src/db/database.ts'
import { sql } from '../../src/db/sql.ts'

/** Counts the rows of these tables that the service reads during the work. Requires pools of one connection. */
export async function countRowsRead(
  { admin, db, orgId }: { admin: postgres.Sql; db: Database; orgId: number },
  tables: readonly string[],
  work: () => Promise<unknown>,
): Promise<number> {
  const report = sql`select pg_stat_force_next_flush()`
  const count = async (): Promise<number> => {
    await db.withTenant(orgId, (tx) => tx.query(report))
    await db.read.query(report)
    // Flushes the statistics of the test's own earlier reads, so that they are not counted later.
    await admin`select pg_stat_force_next_flush()`
    const [row] = await admin`
      select sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::int as reads
      from pg_stat_user_tables where relname in ${admin(tables)}`
    return row!['reads'] as number
  }
  const before = await count()
  await work()
  return (await count()) - before
}
