import { LRUCache } from 'lru-cache'
import type { Clock } from '../kernel/clock.ts'
import { apiError } from '../kernel/errors.ts'

interface Window {
  readonly sinceMs: number
  count: number
}

interface WindowCounterOptions {
  /** The number of uses allowed per key and window. */
  max: number
  windowMs: number
  clock: Clock
}

/** Limits the number of uses per key and time window within this process. A window begins with the first use. */
export class WindowCounter {
  readonly #options: WindowCounterOptions
  readonly #windows = new LRUCache<string | number, Window>({ max: 20_000 })

  constructor(options: WindowCounterOptions) {
    this.#options = options
  }

  /** Counts one use; throws 429 when the limit is exceeded. */
  consume(key: string | number): void {
    const { max, windowMs, clock } = this.#options
    const atMs = clock.millis()
    let window = this.#windows.get(key)
    if (window === undefined || atMs - window.sinceMs >= windowMs)
      this.#windows.set(key, (window = { sinceMs: atMs, count: 0 }))
    if (window.count >= max) throw apiError.rateLimited((window.sinceMs + windowMs - atMs) / 1000)
    window.count++
  }
}
