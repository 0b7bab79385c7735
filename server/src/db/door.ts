import type postgres from 'postgres'

/** A pool and what it has under way, in the order it came. */
interface Pool {
  sql: postgres.Sql
  waiting: Set<Waiting>
  isRetired: boolean
}

interface Waiting {
  reject: (error: Error) => void
  untilMs: number
}

/**
 * A pool for single statements that cannot be waited for in vain. A driver that loses a connection at the moment it
 * wants to write keeps the unsent bytes and never sends on that connection again, so a pool is used only until it has
 * lost one: what it still has under way may end, and the next statement goes to a new pool. What takes longer than
 * anything should is given up.
 */
export class Door {
  readonly #open: (onClose: () => void) => postgres.Sql
  readonly #patienceMs: number
  readonly #pools = new Set<Pool>()
  #pool: Pool | null = null
  #timer: NodeJS.Timeout | undefined

  constructor(open: (onClose: () => void) => postgres.Sql, patienceMs: number) {
    this.#open = open
    this.#patienceMs = patienceMs
  }

  unsafe: postgres.Sql['unsafe'] = ((...given: Parameters<postgres.Sql['unsafe']>) => {
    const pool = (this.#pool ??= this.#make())
    return new Promise((resolve, reject) => {
      const waiting: Waiting = { reject, untilMs: performance.now() + this.#patienceMs }
      pool.waiting.add(waiting)
      const settled =
        <Outcome>(settle: (outcome: Outcome) => void) =>
        (outcome: Outcome): void => {
          pool.waiting.delete(waiting)
          if (pool.isRetired && pool.waiting.size === 0) this.#end(pool)
          settle(outcome)
        }
      pool.sql.unsafe(...given).then(settled(resolve), settled(reject))
    })
  }) as unknown as postgres.Sql['unsafe']

  /** Gives up at once all that is under way: its server is not the one to ask any more. */
  abandon(): void {
    for (const pool of this.#pools) this.#giveUp(pool, Infinity)
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#pool?.sql.end({ timeout: 5 })
  }

  #make(): Pool {
    const pool: Pool = { sql: this.#open(() => this.#retire(pool)), waiting: new Set(), isRetired: false }
    this.#pools.add(pool)
    // One clock for all that wait: a timer for each statement would cost more than everything else done here.
    this.#timer ??= setInterval(() => this.#lookRound(), Math.min(1000, this.#patienceMs / 4)).unref()
    return pool
  }

  #lookRound(): void {
    const nowMs = performance.now()
    for (const pool of this.#pools) {
      // All have the same patience, so the first to come is the first to be given up.
      const [first] = pool.waiting
      if (first !== undefined && first.untilMs <= nowMs) this.#giveUp(pool, nowMs)
    }
  }

  #giveUp(pool: Pool, nowMs: number): void {
    this.#retire(pool)
    for (const waiting of pool.waiting)
      if (waiting.untilMs <= nowMs) waiting.reject(new Error('the database did not answer in time'))
    this.#end(pool)
  }

  #retire(pool: Pool): void {
    pool.isRetired = true
    if (pool === this.#pool) this.#pool = null
    if (pool.waiting.size === 0) this.#end(pool)
  }

  /** Cuts what is left. */
  #end(pool: Pool): void {
    this.#pools.delete(pool)
    pool.sql.end({ timeout: 0 }).catch(() => undefined)
  }
}
