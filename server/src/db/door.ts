import type postgres from 'postgres'

interface Pool {
  sql: postgres.Sql
  underWay: number
  isRetired: boolean
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
  #pool: Pool | null = null

  constructor(open: (onClose: () => void) => postgres.Sql, patienceMs: number) {
    this.#open = open
    this.#patienceMs = patienceMs
  }

  unsafe: postgres.Sql['unsafe'] = ((...given: Parameters<postgres.Sql['unsafe']>) => {
    const pool = (this.#pool ??= this.#make())
    pool.underWay++
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#retire(pool)
        reject(new Error('the database did not answer in time'))
        end(pool)
      }, this.#patienceMs)
      pool.sql
        .unsafe(...given)
        .then(resolve, reject)
        .finally(() => {
          clearTimeout(timer)
          if (--pool.underWay === 0 && pool.isRetired) end(pool)
        })
    })
  }) as unknown as postgres.Sql['unsafe']

  async close(): Promise<void> {
    await this.#pool?.sql.end({ timeout: 5 })
  }

  #make(): Pool {
    const pool: Pool = { sql: this.#open(() => this.#retire(pool)), underWay: 0, isRetired: false }
    return pool
  }

  #retire(pool: Pool): void {
    pool.isRetired = true
    if (pool === this.#pool) this.#pool = null
    if (pool.underWay === 0) end(pool)
  }
}

/** Cuts what is left. */
function end({ sql }: Pool): void {
  sql.end({ timeout: 0 }).catch(() => undefined)
}
