import { setTimeout as sleep } from 'node:timers/promises'
import { RecentMap } from '../kernel/recent-map.ts'

interface Insistence {
  refusals: number
  lastMs: number
}

/** So many refusals without a pause are answered at once. */
const promptly = 120
/** Whoever waits this long, as `Retry-After` says, is heard at once again. */
const pauseMs = 1000
const lateMs = 400

/**
 * Counts how often a credential with an empty bucket went on asking. One that never stops is heard a moment later from
 * then on, before its bucket is looked at: told at once, it would keep the process busy with refusing it.
 */
export class LateRefusals {
  readonly #known = new RecentMap<string, Insistence>(10_000)
  readonly #nowMs: () => number

  constructor(nowMs = () => performance.now()) {
    this.#nowMs = nowMs
  }

  /** What to wait for before the credential is heard; undefined as a rule. */
  delay(key: string): Promise<void> | undefined {
    return this.isInsistent(key) ? sleep(lateMs) : undefined
  }

  isInsistent(key: string): boolean {
    const known = this.#known.get(key)
    if (known === undefined) return false
    if (this.#nowMs() - known.lastMs < pauseMs) return known.refusals >= promptly
    this.#known.delete(key)
    return false
  }

  refused(key: string): void {
    const known = this.#known.get(key)
    if (known === undefined) return this.#known.set(key, { refusals: 1, lastMs: this.#nowMs() })
    known.refusals++
    known.lastMs = this.#nowMs()
  }
}
