import { LRUCache } from 'lru-cache'
import { apiError } from '../kernel/errors.ts'

interface Window {
  readonly sinceMs: number
  count: number
}

interface WindowCounterOptions {
  /** Uses of one key in a window. */
  max: number
  windowMs: number
  millis: () => number
}

/** Limits how often something happens for one key in this process. A window begins with the first use that is counted. */
export class WindowCounter {
  readonly #options: WindowCounterOptions
  readonly #windows = new LRUCache<string | number, Window>({ max: 20_000 })

  constructor(options: WindowCounterOptions) {
    this.#options = options
  }

  /** Counts one use; 429 past the limit. */
  consume(key: string | number): void {
    const { max, windowMs, millis } = this.#options
    const atMs = millis()
    let window = this.#windows.get(key)
    if (window === undefined || atMs - window.sinceMs >= windowMs)
      this.#windows.set(key, (window = { sinceMs: atMs, count: 0 }))
    if (window.count >= max) throw apiError.rateLimited((window.sinceMs + windowMs - atMs) / 1000)
    window.count++
  }
}
