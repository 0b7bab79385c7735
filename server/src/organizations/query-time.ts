import { LRUCache } from 'lru-cache'
import { queryTimeReached } from '../kernel/quota.ts'

interface Window {
  readonly sinceMs: number
  usedMs: number
}

interface Deps {
  /** The quota of the organization. */
  limitSeconds: (orgId: number) => Promise<number>
  /** A monotonic clock. */
  millis: () => number
}

const windowMs = 60_000

/**
 * Limits the database time of an organization's searches, reports and long lists per minute in this process. A minute begins
 * with the first statement. Statements in flight are completed, so they may exceed the quota.
 */
export class QueryTime {
  readonly #deps: Deps
  readonly #windows = new LRUCache<number, Window>({ max: 20_000 })

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Throws 429 when the time of the current minute is used up. */
  async assertLeft(orgId: number): Promise<void> {
    const limitSeconds = await this.#deps.limitSeconds(orgId)
    const { sinceMs, usedMs } = this.#window(orgId)
    if (usedMs < limitSeconds * 1000) return
    throw queryTimeReached(limitSeconds, (sinceMs + windowMs - this.#deps.millis()) / 1000)
  }

  /** Adds the time of the work to the minute in which it ends. */
  async measure<Result>(orgId: number, work: () => Promise<Result>): Promise<Result> {
    const startedMs = this.#deps.millis()
    try {
      return await work()
    } finally {
      this.#window(orgId).usedMs += this.#deps.millis() - startedMs
    }
  }

  /** The time used in the current minute. */
  usedSeconds(orgId: number): number {
    return Math.round(this.#window(orgId).usedMs / 1000)
  }

  #window(orgId: number): Window {
    const atMs = this.#deps.millis()
    let window = this.#windows.get(orgId)
    if (window === undefined || atMs - window.sinceMs >= windowMs)
      this.#windows.set(orgId, (window = { sinceMs: atMs, usedMs: 0 }))
    return window
  }
}
