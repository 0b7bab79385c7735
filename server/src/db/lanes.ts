import type postgres from 'postgres'

/** A connection that serves one transaction after the other. */
export interface Lane {
  readonly handle: Pick<postgres.ReservedSql, 'unsafe' | 'release'>
  /** True from the moment the connection is cut: nothing may be sent on it any more. */
  isLost: boolean
  /** Told when the connection is cut under a transaction. */
  onLost: (() => void) | null
  readonly pool: postgres.Sql
}

/**
 * Connections for transactions, each with a driver of its own. A driver whose held connection was cut crashes the
 * process or waits for ever when it is used again (porsager/postgres#1208), so both are thrown away together.
 */
export class Lanes {
  readonly #open: (onClose: () => void) => postgres.Sql
  readonly #max: number
  readonly #idle: Lane[] = []
  readonly #waiting: (() => void)[] = []
  #size = 0

  constructor(max: number, open: (onClose: () => void) => postgres.Sql) {
    this.#max = max
    this.#open = open
  }

  async take(): Promise<Lane> {
    for (;;) {
      const lane = this.#idle.pop()
      if (lane !== undefined && !lane.isLost) return lane
      if (lane !== undefined) this.#discard(lane.pool)
      else if (this.#size < this.#max) return this.#make()
      else await new Promise<void>((resume) => this.#waiting.push(resume))
    }
  }

  give(lane: Lane): void {
    if (lane.isLost) return this.#discard(lane.pool)
    this.#idle.push(lane)
    this.#waiting.shift()?.()
  }

  async close(): Promise<void> {
    for (const lane of this.#idle) if (!lane.isLost) lane.handle.release()
    await Promise.all(this.#idle.map((lane) => lane.pool.end({ timeout: 5 })))
  }

  async #make(): Promise<Lane> {
    this.#size++
    let isLost = (): void => undefined
    const pool = this.#open(() => isLost())
    try {
      // Connected by a plain statement first: a reservation that fails to connect is never forgotten by the driver.
      await pool.unsafe('select 1')
      const lane: Lane = { handle: await pool.reserve(), isLost: false, onLost: null, pool }
      isLost = () => {
        lane.isLost = true
        lane.onLost?.()
      }
      return lane
    } catch (error) {
      this.#discard(pool)
      throw error
    }
  }

  #discard(pool: postgres.Sql): void {
    this.#size--
    pool.end({ timeout: 0 }).catch(() => undefined)
    this.#waiting.shift()?.()
  }
}
