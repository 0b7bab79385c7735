import type postgres from 'postgres'

/**
 * A pool for single statements that cannot be waited for in vain. A driver that lost its connections at a bad moment may
 * never answer again, so a statement that takes longer than any should is given up, and the driver with it.
 */
export class Door {
  readonly #open: () => postgres.Sql
  readonly #patienceMs: number
  #pool: postgres.Sql

  constructor(open: () => postgres.Sql, patienceMs: number) {
    this.#open = open
    this.#patienceMs = patienceMs
    this.#pool = open()
  }

  unsafe: postgres.Sql['unsafe'] = ((...given: Parameters<postgres.Sql['unsafe']>) => {
    const pool = this.#pool
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        reject(new Error('the database did not answer in time'))
        if (pool === this.#pool) this.#pool = this.#open()
        pool.end({ timeout: 0 }).catch(() => undefined)
      }, this.#patienceMs)
      pool
        .unsafe(...given)
        .then(resolve, reject)
        .finally(() => clearTimeout(timer))
    })
  }) as unknown as postgres.Sql['unsafe']

  async close(): Promise<void> {
    await this.#pool.end({ timeout: 5 })
  }
}
