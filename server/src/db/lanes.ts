import type postgres from 'postgres'
import { keepPlans } from './plans.ts'

/** A connection that serves one transaction after the other. */
export interface Lane {
  readonly handle: Pick<postgres.ReservedSql, 'unsafe' | 'release'>
  /** True from the moment the connection is cut: nothing may be sent on it any more. */
  isLost: boolean
  /** Told when the connection is cut under a transaction. */
  onLost: (() => void) | null
  /** Cuts the connection when it is not refreshed in time by another statement. */
  waitFor: NodeJS.Timeout
  readonly pool: postgres.Sql
}

/**
 * Connections for transactions, each with a driver of its own. A driver whose held connection was cut crashes the
 * process or waits for ever when it is used again (porsager/postgres#1208), so both are thrown away together. So are
 * they when a statement is not answered in time: whoever waits for a lane never waits for ever.
 */
export class Lanes {
  readonly #open: (onClose: () => void) => postgres.Sql
  readonly #max: number
  readonly #patienceMs: number
  readonly #idle: Lane[] = []
  /** Every connection there is, with its lane as soon as it has one. */
  readonly #all = new Map<postgres.Sql, Lane | null>()
  readonly #waiting: (() => void)[] = []
  #size = 0
  #isClosed = false

  constructor(max: number, patienceMs: number, open: (onClose: () => void) => postgres.Sql) {
    this.#max = max
    this.#patienceMs = patienceMs
    this.#open = open
  }

  async take(): Promise<Lane> {
    for (;;) {
      if (this.#isClosed) throw new Error('the connection to the database is closed')
      const lane = this.#idle.pop()
      if (lane !== undefined && !lane.isLost) return this.#watch(lane)
      if (lane !== undefined) this.#discard(lane.pool)
      else if (this.#size < this.#max) return this.#watch(await this.#make())
      else await new Promise<void>((resume) => this.#waiting.push(resume))
    }
  }

  give(lane: Lane): void {
    clearTimeout(lane.waitFor)
    lane.onLost = null
    if (lane.isLost || this.#isClosed) return this.#discard(lane.pool)
    this.#idle.push(lane)
    this.#waiting.shift()?.()
  }

  /** Cuts every connection: their server is not the one to ask any more. */
  abandon(): void {
    for (const [pool, lane] of this.#all)
      if (lane === null) void pool.end({ timeout: 0 })
      else lose(lane)
  }

  /** What is under way may end; its connection goes with it. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const lane of this.#idle) if (!lane.isLost) lane.handle.release()
    await Promise.all(this.#idle.map((lane) => lane.pool.end({ timeout: 5 })))
  }

  #watch(lane: Lane): Lane {
    lane.waitFor = setTimeout(() => lose(lane), this.#patienceMs)
    return lane
  }

  async #make(): Promise<Lane> {
    this.#size++
    let onClose = (): void => undefined
    const pool = this.#open(() => onClose())
    this.#all.set(pool, null)
    // Ends what waits for a server that accepts connections and closes them again.
    const late = setTimeout(() => void pool.end({ timeout: 0 }), this.#patienceMs)
    try {
      // Connected by a plain statement first: a reservation that fails to connect is never forgotten by the driver.
      // PostgreSQL would plan a statement over a list anew whenever the list is shorter than it assumes, and for a few reads or
      // records that takes longer than the work.
      await pool.unsafe(keepPlans)
      const lane: Lane = { handle: await pool.reserve(), isLost: false, onLost: null, waitFor: late, pool }
      onClose = () => lose(lane)
      this.#all.set(pool, lane)
      return lane
    } catch (error) {
      this.#discard(pool)
      throw error
    } finally {
      clearTimeout(late)
    }
  }

  #discard(pool: postgres.Sql): void {
    this.#size--
    this.#all.delete(pool)
    pool.end({ timeout: 0 }).catch(() => undefined)
    this.#waiting.shift()?.()
  }
}

function lose(lane: Lane): void {
  lane.isLost = true
  lane.onLost?.()
}
