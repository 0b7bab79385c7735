import { setTimeout as pause } from 'node:timers/promises'
import type { Database } from '../db/database.ts'
import type { Clock } from '../kernel/clock.ts'
import { type Refusal, refuse } from '../kernel/errors.ts'
import { claimAttempt, countUse, settleAttempt } from './throttle.sql.ts'

const windowsMs = { minute: 60_000, hour: 3_600_000, day: 86_400_000 }

/** Begins with the first use that is counted. */
export type Window = keyof typeof windowsMs

const windowMs = windowsMs.minute
const perSubject = 20
const perAddress = 300
const waitMs = 20

/**
 * Slows down guessing, over all processes: after 20 failures in a minute for one account or 300 from one address,
 * nothing more is tried until the minute is over. Attempts under way count as failures until they are known not to be:
 * so a thousand guesses at once get no more tries than one after the other, and a thousand good ones only wait in line.
 */
export class Throttle {
  readonly #db: Database
  readonly #clock: Clock

  constructor(db: Database, clock: Clock) {
    this.#db = db
    this.#clock = clock
  }

  /** Runs the attempt; null from it is a failure and becomes the refusal, which is 401 where only its detail is given. */
  async guard<Result>(
    subjects: readonly string[],
    address: string,
    attempt: () => Promise<Result | null>,
    refusal: string | (() => Refusal),
  ): Promise<Result> {
    const claimed: string[] = []
    let hasFailed = false
    try {
      for (const subject of subjects) await this.#claim(subject, perSubject, claimed)
      await this.#claim(`from:${address}`, perAddress, claimed)
      const result = await attempt()
      hasFailed = result === null
      if (result === null) throw typeof refusal === 'string' ? refuse.unauthorized(refusal) : refusal()
      return result
    } finally {
      for (const subject of claimed) await settleAttempt(this.#db.common, subject, hasFailed)
    }
  }

  /** For what costs something whoever asks: every call counts as a failure. */
  async spend(subjects: readonly string[], address: string): Promise<void> {
    const claimed: string[] = []
    try {
      for (const subject of subjects) await this.#claim(subject, perSubject, claimed)
      await this.#claim(`from:${address}`, perAddress, claimed)
    } finally {
      for (const subject of claimed) await settleAttempt(this.#db.common, subject, true)
    }
  }

  /** Counts one use of something that is limited, whatever comes of it; 429 past `max` uses in the window. */
  async consume(window: Window, key: string, max: number): Promise<void> {
    const atMs = this.#clock.millis()
    const lengthMs = windowsMs[window]
    const { admitted, sinceMs } = await countUse(this.#db.common, `${window}:${key}`, atMs, lengthMs, max)
    if (!admitted) throw refuse.rateLimited((sinceMs + lengthMs - atMs) / 1000)
  }

  async #claim(subject: string, allowed: number, claimed: string[]): Promise<void> {
    for (;;) {
      const atMs = this.#clock.millis()
      const { admitted, failures, sinceMs } = await claimAttempt(this.#db.common, subject, atMs, windowMs, allowed)
      if (admitted) return void claimed.push(subject)
      if (failures >= allowed) throw refuse.rateLimited((sinceMs + windowMs - atMs) / 1000)
      await pause(waitMs)
    }
  }
}
