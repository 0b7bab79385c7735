import type postgres from 'postgres'

interface Waiting {
  pool: postgres.Sql
  reject: (error: Error) => void
  untilMs: number
}

/**
 * A pool for single statements that cannot be waited for in vain. A driver that lost its connections at a bad moment may
 * never answer again, so a statement that takes longer than any should is given up, and the driver with it.
 */
export class Door {
  readonly #open: () => postgres.Sql
  readonly #patienceMs: number
  #pool: postgres.Sql
  readonly #waiting = new Set<Waiting>()
  #timer: NodeJS.Timeout | undefined

  constructor(open: () => postgres.Sql, patienceMs: number) {
    this.#open = open
    this.#patienceMs = patienceMs
    this.#pool = open()
  }

  unsafe: postgres.Sql['unsafe'] = ((...given: Parameters<postgres.Sql['unsafe']>) => {
    const pool = this.#pool
    return new Promise((resolve, reject) => {
      const waiting: Waiting = { pool, reject, untilMs: performance.now() + this.#patienceMs }
      this.#waiting.add(waiting)
      this.#watch()
      const settled =
        <Outcome>(settle: (outcome: Outcome) => void) =>
        (outcome: Outcome): void => {
          this.#waiting.delete(waiting)
          settle(outcome)
        }
      pool.unsafe(...given).then(settled(resolve), settled(reject))
    })
  }) as unknown as postgres.Sql['unsafe']

  /** One clock for all that wait: a timer for each would cost more than everything else done here. */
  #watch(): void {
    this.#timer ??= setInterval(() => this.#giveUp(performance.now()), Math.min(1000, this.#patienceMs / 4)).unref()
  }

  #giveUp(nowMs: number): void {
    for (const waiting of this.#waiting) {
      // They stand in the order they came, and all have the same patience.
      if (waiting.untilMs > nowMs) return
      this.#waiting.delete(waiting)
      waiting.reject(new Error('the database did not answer in time'))
      if (waiting.pool === this.#pool) this.#pool = this.#open()
      waiting.pool.end({ timeout: 0 }).catch(() => undefined)
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#pool.end({ timeout: 5 })
  }
}
