import type { Database } from '../db/database.ts'
import type { Clock } from '../kernel/clock.ts'
import { refuse } from '../kernel/errors.ts'
import { countAttempt, forgiveAttempt } from './throttle.sql.ts'

const windowMs = 60_000
const perSubject = 20
const perAddress = 300

/**
 * Slows down guessing, over all processes: after 20 failures in a minute for one account or 300 from one address,
 * nothing more is tried until the minute is over. An attempt is counted before it is made and taken back when it
 * succeeds, so a thousand at once get no more tries than one after the other.
 */
export class Throttle {
  readonly #db: Database
  readonly #clock: Clock

  constructor(db: Database, clock: Clock) {
    this.#db = db
    this.#clock = clock
  }

  /** Runs the attempt; null from it is a failure and becomes 401 with the detail. */
  async guard<Result>(
    subjects: readonly string[],
    address: string,
    attempt: () => Promise<Result | null>,
    detail: string,
  ): Promise<Result> {
    const limits = [...subjects.map((subject) => [subject, perSubject] as const), [`from:${address}`, perAddress] as const]
    for (const [index, [subject, allowed]] of limits.entries()) {
      const { failures, sinceMs } = await countAttempt(this.#db.common, subject, this.#clock.millis(), windowMs)
      if (failures <= allowed) continue
      // What is not tried is no failure, neither of this subject nor of the ones before it.
      for (const [counted] of limits.slice(0, index + 1)) await forgiveAttempt(this.#db.common, counted)
      throw refuse.rateLimited((sinceMs + windowMs - this.#clock.millis()) / 1000)
    }
    const result = await attempt()
    if (result === null) throw refuse.unauthorized(detail)
    for (const [subject] of limits) await forgiveAttempt(this.#db.common, subject)
    return result
  }
}
