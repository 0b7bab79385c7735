import type postgres from 'postgres'
import type { Door } from './door.ts'
import { Probe } from './probe.ts'

/** How far a replica may be behind before it is passed over. */
const oldestSeconds = 30
const lookEveryMs = 2000

const question = `select pg_is_in_recovery() and coalesce(
    (exists (select from pg_stat_wal_receiver) and pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn())
    or clock_timestamp() - pg_last_xact_replay_timestamp() < interval '${oldestSeconds} seconds', false) as "isFresh"`

type Handle = Pick<postgres.Sql, 'unsafe'>

/**
 * Reads that may be a moment old. They go to the replica while it keeps up, and to the primary as soon as it does not:
 * nobody who asks is told that there is a replica, let alone that it is away.
 */
export class Replica {
  readonly #replica: Door
  readonly #primary: Handle
  readonly #probe: Probe
  #isUsable = false
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(url: string, replica: Door, primary: Handle) {
    this.#replica = replica
    this.#primary = primary
    this.#probe = new Probe(url, question)
    void this.#look()
  }

  unsafe: postgres.Sql['unsafe'] = ((...given: Parameters<postgres.Sql['unsafe']>) => {
    if (!this.#isUsable) return this.#primary.unsafe(...given)
    return this.#replica.unsafe(...given).catch((error: unknown) => {
      // What took too long there would take too long here.
      if ((error as { code?: string }).code === '57014') throw error
      return this.#primary.unsafe(...given)
    })
  }) as postgres.Sql['unsafe']

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    this.#probe.close()
    await this.#replica.close()
  }

  async #look(): Promise<void> {
    const answer = await this.#probe.ask<{ isFresh: boolean }>()
    if (this.#isClosed) return this.#probe.close()
    this.#isUsable = typeof answer !== 'string' && answer.isFresh
    // Whoever waits for it is served by the primary.
    if (typeof answer === 'string') this.#replica.abandon()
    this.#timer = setTimeout(() => void this.#look(), lookEveryMs).unref()
  }
}
