import { HealthProbe } from './health-probe.ts'
import { ApiError } from '../../kernel/errors.ts'
import type { Db } from '../database.ts'
import type { StatementPool } from '../pool.ts'
import type { Sql } from '../sql.ts'

/** With a greater replication lag, reads go to the primary. */
const maxLagSeconds = 30
const probeEveryMs = 2000

const probeQuery = `select pg_is_in_recovery() and coalesce(
    (exists (select from pg_stat_wal_receiver) and pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn())
    or clock_timestamp() - pg_last_xact_replay_timestamp() < interval '${maxLagSeconds} seconds', false) as "isFresh"`

/** Slightly stale reads: from the replica while its lag is small, otherwise from the primary. */
export class Replica implements Db {
  readonly #replica: StatementPool
  readonly #primary: StatementPool
  readonly #probe: HealthProbe
  #isUsable = false
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(url: string, replica: StatementPool, primary: StatementPool) {
    this.#replica = replica
    this.#primary = primary
    this.#probe = new HealthProbe(url, probeQuery)
    void this.#check()
  }

  async query<Row extends object>(statement: Sql): Promise<Row[]> {
    if (!this.#isUsable) return this.#primary.query(statement)
    try {
      return await this.#replica.query<Row>(statement)
    } catch (error) {
      // A statement that exceeded the limits on the replica would exceed them on the primary too.
      if (error instanceof ApiError) throw error
      return this.#primary.query(statement)
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    this.#probe.close()
    await this.#replica.close()
  }

  async #check(): Promise<void> {
    const answer = await this.#probe.check<{ isFresh: boolean }>()
    if (this.#isClosed) return this.#probe.close()
    this.#isUsable = typeof answer !== 'string' && answer.isFresh
    // Statements in flight on an unreachable replica fail here and are retried on the primary.
    if (typeof answer === 'string') this.#replica.destroyAll()
    this.#timer = setTimeout(() => void this.#check(), probeEveryMs).unref()
  }
}
