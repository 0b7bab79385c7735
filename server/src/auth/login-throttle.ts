import { setTimeout as pause } from 'node:timers/promises'
import type { Database } from '../db/database.ts'
import type { Clock } from '../kernel/clock.ts'
import { type ApiError, apiError } from '../kernel/errors.ts'
import { claimAttempt, countUse, recordOutcome } from './login-throttle.sql.ts'

const windowsMs = { minute: 60_000, hour: 3_600_000, day: 86_400_000 }

/** Begins with the first use that is counted. */
type Window = keyof typeof windowsMs

const windowMs = windowsMs.minute
const perIdentity = 20
const perAddress = 300
const waitMs = 20

/** Claims an attempt for a counter; false when the counter has that many failures already. */
type TryClaim = (subject: string, allowed: number) => Promise<boolean>
/** The same, but 429 instead of false. */
type Claim = (subject: string, allowed: number) => Promise<void>

/**
 * Slows down guessing, over all processes. Attempts in flight count as failures until they are known not to be: a thousand
 * guesses at once get no more tries than one after the other, and a thousand good ones only wait in line.
 */
export class LoginThrottle {
  readonly #db: Database
  readonly #clock: Clock

  constructor(db: Database, clock: Clock) {
    this.#db = db
    this.#clock = clock
  }

  /**
   * The token endpoint (D41): after 20 failures in a minute for a client id, wherever they come from, or 300 from an address,
   * nothing more is tried until the minute is over. Null from the attempt is a failure and answered 401.
   */
  guardToken<Result>(
    clientId: string | null,
    address: string,
    attempt: () => Promise<Result | null>,
    detail: string,
  ): Promise<Result> {
    const claims = async (claim: Claim): Promise<void> => {
      if (clientId !== null) await claim(`client:${clientId}`, perIdentity)
      await claim(`from:${address}`, perAddress)
    }
    return this.#guard(claims, attempt, () => apiError.unauthorized(detail))
  }

  /**
   * Passwords, and links and refresh tokens of people. 20 failures in a minute lock an account for the addresses they came
   * from. Any other address still has one wrong attempt a minute, so nobody can lock the owner out.
   */
  guardAccount<Result>(
    email: string | null,
    address: string,
    attempt: () => Promise<Result | null>,
    refusal: () => ApiError,
  ): Promise<Result> {
    const claims = async (claim: Claim, tryClaim: TryClaim): Promise<void> => {
      if (email !== null) {
        const isLocked = !(await tryClaim(`login:${email}`, perIdentity))
        await claim(`login:${email} ${address}`, isLocked ? 1 : perIdentity)
      }
      await claim(`account-from:${address}`, perAddress)
    }
    return this.#guard(claims, attempt, refusal)
  }

  /** Counts one use of something that is limited, whatever comes of it; 429 past `max` uses in the window. */
  async consume(window: Window, key: string, max: number): Promise<void> {
    const retryMs = await this.#count(window, key, max)
    if (retryMs > 0) throw apiError.rateLimited(retryMs / 1000)
  }

  /** The same, but false instead of 429. */
  async tryConsume(window: Window, key: string, max: number): Promise<boolean> {
    return (await this.#count(window, key, max)) === 0
  }

  /** 0 when the use was counted; how long to wait otherwise. */
  async #count(window: Window, key: string, max: number): Promise<number> {
    const atMs = this.#clock.millis()
    const lengthMs = windowsMs[window]
    const { admitted, sinceMs } = await countUse(this.#db.global, `${window}:${key}`, atMs, lengthMs, max)
    return admitted ? 0 : sinceMs + lengthMs - atMs
  }

  async #guard<Result>(
    claims: (claim: Claim, tryClaim: TryClaim) => Promise<void>,
    attempt: () => Promise<Result | null>,
    refusal: () => ApiError,
  ): Promise<Result> {
    const claimed: string[] = []
    const tryClaim = async (subject: string, allowed: number): Promise<number> => {
      const retryMs = await this.#claim(subject, allowed)
      if (retryMs === 0) claimed.push(subject)
      return retryMs
    }
    const claim: Claim = async (subject, allowed) => {
      const retryMs = await tryClaim(subject, allowed)
      if (retryMs > 0) throw apiError.rateLimited(retryMs / 1000)
    }
    let hasFailed = false
    try {
      await claims(claim, async (subject, allowed) => (await tryClaim(subject, allowed)) === 0)
      const result = await attempt()
      hasFailed = result === null
      if (result === null) throw refusal()
      return result
    } finally {
      for (const subject of claimed) await recordOutcome(this.#db.global, subject, hasFailed)
    }
  }

  /** 0 once the attempt is claimed; how long to wait when the failures of the window leave none. */
  async #claim(subject: string, allowed: number): Promise<number> {
    for (;;) {
      const atMs = this.#clock.millis()
      const { admitted, failures, sinceMs } = await claimAttempt(this.#db.global, subject, atMs, windowMs, allowed)
      if (admitted) return 0
      if (failures >= allowed) return sinceMs + windowMs - atMs
      await pause(waitMs)
    }
  }
}
