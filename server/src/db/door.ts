import type postgres from 'postgres'
import { choosePlans, keepPlans } from './plans.ts'
import { emptiedWhenAnswered } from './spent.ts'

/** A connection for single statements and what it has under way, in the order it came. */
interface Line {
  sql: postgres.Sql
  waiting: Waiting[]
  isRetired: boolean
  keepsPlans: boolean
}

/** How a statement is to be asked. */
export interface Asking extends postgres.UnsafeQueryOptions {
  /** Its plan is made once, whatever PostgreSQL would choose. */
  isPlannedOnce?: boolean
}

interface Waiting {
  reject: (error: Error) => void
  untilMs: number
}

/**
 * Connections for single statements that cannot be waited for in vain. Each has a driver of its own, for two reasons. A
 * driver that loses a connection at the moment it wants to write keeps the unsent bytes and never sends on it again, so
 * one is used only until it has lost its connection: what it still has under way may end, and the next statement goes
 * to a new one. And a driver with several connections looks for a free one in a list that only grows until all are
 * taken at once, so that a quiet service would become slower with every statement. What takes longer than anything
 * should is given up.
 */
export class Door {
  readonly #open: (onClose: () => void) => postgres.Sql
  readonly #patienceMs: number
  readonly #lines: (Line | undefined)[]
  readonly #all = new Set<Line>()
  #timer: NodeJS.Timeout | undefined

  constructor(size: number, patienceMs: number, open: (onClose: () => void) => postgres.Sql) {
    this.#open = open
    this.#patienceMs = patienceMs
    this.#lines = Array.from({ length: size })
  }

  unsafe: postgres.Sql['unsafe'] = ((...given: Parameters<postgres.Sql['unsafe']>) => {
    const line = this.#leastBusy()
    return new Promise((resolve, reject) => {
      const waiting: Waiting = { reject, untilMs: performance.now() + this.#patienceMs }
      line.waiting.push(waiting)
      const settled =
        <Outcome>(settle: (outcome: Outcome) => void) =>
        (outcome: Outcome): void => {
          // Answers come in the order of the questions, so this is nearly always the first.
          line.waiting.splice(line.waiting.indexOf(waiting), 1)
          if (line.isRetired && line.waiting.length === 0) this.#end(line)
          settle(outcome)
        }
      this.#planFor(line, given[2])
      emptiedWhenAnswered(line.sql.unsafe(...given)).then(settled(resolve), settled(reject))
    })
  }) as unknown as postgres.Sql['unsafe']

  /** Told only when it changes, in the packet of the statement; should it get lost, the connection is lost too. */
  #planFor(line: Line, { isPlannedOnce = false }: Asking = {}): void {
    if (line.keepsPlans === isPlannedOnce) return
    line.keepsPlans = isPlannedOnce
    line.sql.unsafe(isPlannedOnce ? keepPlans : choosePlans, [], { prepare: true }).catch(() => undefined)
  }

  /** Gives up at once all that is under way: its server is not the one to ask any more. */
  abandon(): void {
    for (const line of this.#all) this.#giveUp(line, Infinity)
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await Promise.all(this.#lines.map(async (line) => line?.sql.end({ timeout: 5 })))
  }

  /** One with nothing to do; before one has to wait behind another statement, a new connection is made. */
  #leastBusy(): Line {
    let best: Line | undefined
    let free = -1
    for (let index = 0; index < this.#lines.length; index++) {
      const line = this.#lines[index]
      if (line === undefined) free = index
      else if (line.waiting.length === 0) return line
      else if (best === undefined || line.waiting.length < best.waiting.length) best = line
    }
    return free === -1 ? best! : this.#make(free)
  }

  #make(index: number): Line {
    const sql = this.#open(() => this.#retire(line))
    const line: Line = { sql, waiting: [], isRetired: false, keepsPlans: false }
    this.#lines[index] = line
    this.#all.add(line)
    // One clock for all that wait: a timer for each statement would cost more than everything else done here.
    this.#timer ??= setInterval(() => this.#lookRound(), Math.min(1000, this.#patienceMs / 4)).unref()
    return line
  }

  #lookRound(): void {
    const nowMs = performance.now()
    for (const line of this.#all) {
      // All have the same patience, so the first to come is the first to be given up.
      const first = line.waiting[0]
      if (first !== undefined && first.untilMs <= nowMs) this.#giveUp(line, nowMs)
    }
  }

  #giveUp(line: Line, nowMs: number): void {
    this.#retire(line)
    for (const waiting of line.waiting)
      if (waiting.untilMs <= nowMs) waiting.reject(new Error('the database did not answer in time'))
    this.#end(line)
  }

  #retire(line: Line): void {
    line.isRetired = true
    const index = this.#lines.indexOf(line)
    if (index !== -1) this.#lines[index] = undefined
    if (line.waiting.length === 0) this.#end(line)
  }

  /** Cuts what is left. */
  #end(line: Line): void {
    this.#all.delete(line)
    line.sql.end({ timeout: 0 }).catch(() => undefined)
  }
}
