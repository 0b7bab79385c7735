import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '../db/database.ts'
import type { Clock } from '../kernel/clock.ts'
import { type ApiError, apiError } from '../kernel/errors.ts'
import { hashSecret } from '../kernel/secrets.ts'
import { countUse, hasFailedSince, recordOutcome, reserveAttempt } from './login-throttle.sql.ts'

const windowsMs = { minute: 60_000, hour: 3_600_000, day: 86_400_000 }

/** The length of the period in which uses of a subject are counted. The period begins with the first use. */
type Window = keyof typeof windowsMs

const windowMs = windowsMs.minute
const perIdentity = 20
const perAddress = 300
const pollMs = 20

/** A subject is part of an index, whose entries must not be longer than about 2,700 bytes. */
const subjectKey = (subject: string): string =>
  subject.length <= maxSubjectLength ? subject : `sha256:${hashSecret(subject).toString('hex')}`
const maxSubjectLength = 400

/**
 * Reserves an attempt for a subject and returns 0. When the subject has reached the allowed number of failures, returns the
 * milliseconds until its window ends.
 */
type TryReserve = (subject: string, allowed: number) => Promise<number>
/** Reserves an attempt for a subject; throws 429 when the subject has reached the allowed number of failures. */
type Reserve = (subject: string, allowed: number) => Promise<void>

/**
 * Limits failed sign-ins over all processes. Attempts in flight count as failures until their outcome is known, so that
 * concurrent guesses get no more attempts than sequential ones. Further attempts wait meanwhile, so that many concurrent
 * valid sign-ins all succeed.
 */
export class LoginThrottle {
  readonly #db: Database
  readonly #clock: Clock

  constructor(db: Database, clock: Clock) {
    this.#db = db
    this.#clock = clock
  }

  /**
   * Guards the token endpoint (D41): after 20 failures in a minute for a client id, from any address, or 300 from one
   * address, further failures are answered 429 until the minute is over. While a client id is locked, an address without
   * failures still has one attempt at a time, so that an attacker cannot lock out the client. If `attempt` returns null, it
   * is a failure.
   */
  guardToken<Result>(
    clientId: string | null,
    address: string,
    attempt: () => Promise<Result | null>,
    detail: string,
  ): Promise<Result> {
    let lockedMs = 0
    const tooMany = (): ApiError => apiError.rateLimited(lockedMs / 1000)
    // The address comes first: once it is locked, it adds no rows for further subjects.
    const reserveAll = async (reserve: Reserve, tryReserve: TryReserve): Promise<void> => {
      await reserve(`from:${address}`, perAddress)
      if (clientId === null) return
      lockedMs = await tryReserve(`client:${clientId}`, perIdentity)
      if (lockedMs === 0) return
      if (await this.#hasFailed(`from:${address}`)) throw tooMany()
      await reserve(`client:${clientId} ${address}`, 1)
    }
    return this.#guard(reserveAll, attempt, () => (lockedMs > 0 ? tooMany() : apiError.unauthorized(detail)))
  }

  /**
   * Guards passwords, links and the refresh tokens of users. 20 failures in a minute lock an account for the addresses that
   * failed. Any other address still has one failed attempt per minute, so that an attacker cannot lock out the owner.
   */
  guardAccount<Result>(
    email: string | null,
    address: string,
    attempt: () => Promise<Result | null>,
    failure: () => ApiError,
  ): Promise<Result> {
    const reserveAll = async (reserve: Reserve, tryReserve: TryReserve): Promise<void> => {
      await reserve(`account-from:${address}`, perAddress)
      if (email === null) return
      const isLocked = (await tryReserve(`login:${email}`, perIdentity)) > 0
      await reserve(`login:${email} ${address}`, isLocked ? 1 : perIdentity)
    }
    return this.#guard(reserveAll, attempt, failure)
  }

  /** Counts one use, whatever its outcome; throws 429 after `max` uses in the window. */
  async consume(window: Window, key: string, max: number): Promise<void> {
    const retryMs = await this.#count(window, key, max)
    if (retryMs > 0) throw apiError.rateLimited(retryMs / 1000)
  }

  /** Like `consume`, but returns false instead of throwing. */
  async tryConsume(window: Window, key: string, max: number): Promise<boolean> {
    return (await this.#count(window, key, max)) === 0
  }

  /** Returns 0 if the use was counted, otherwise the milliseconds until the window ends. */
  async #count(window: Window, key: string, max: number): Promise<number> {
    const atMs = this.#clock.millis()
    const lengthMs = windowsMs[window]
    const { admitted, sinceMs } = await countUse(this.#db.global, subjectKey(`${window}:${key}`), atMs, lengthMs, max)
    return admitted ? 0 : sinceMs + lengthMs - atMs
  }

  async #guard<Result>(
    reserveAll: (reserve: Reserve, tryReserve: TryReserve) => Promise<void>,
    attempt: () => Promise<Result | null>,
    failure: () => ApiError,
  ): Promise<Result> {
    const reserved: string[] = []
    const tryReserve: TryReserve = async (subject, allowed) => {
      const retryMs = await this.#reserve(subjectKey(subject), allowed)
      if (retryMs === 0) reserved.push(subjectKey(subject))
      return retryMs
    }
    const reserve: Reserve = async (subject, allowed) => {
      const retryMs = await tryReserve(subject, allowed)
      if (retryMs > 0) throw apiError.rateLimited(retryMs / 1000)
    }
    let hasFailed = false
    try {
      await reserveAll(reserve, tryReserve)
      const result = await attempt()
      hasFailed = result === null
      if (result === null) throw failure()
      return result
    } finally {
      for (const subject of reserved) await recordOutcome(this.#db.global, subject, hasFailed)
    }
  }

  #hasFailed(subject: string): Promise<boolean> {
    return hasFailedSince(this.#db.global, subjectKey(subject), this.#clock.millis() - windowMs)
  }

  /** Returns 0 once the attempt is reserved, or the milliseconds until the window ends if it has too many failures. */
  async #reserve(subject: string, allowed: number): Promise<number> {
    for (;;) {
      const atMs = this.#clock.millis()
      const { admitted, failures, sinceMs } = await reserveAttempt(this.#db.global, subject, atMs, windowMs, allowed)
      if (admitted) return 0
      if (failures >= allowed) return sinceMs + windowMs - atMs
      await sleep(pollMs)
    }
  }
}
