import type { Database } from '../db/database.ts'
import { type RateLimiter, burst, memoryLimiter, refillPerSecond } from '../http/rate-limit.ts'
import { refuse } from '../kernel/errors.ts'
import { drawToken, putBuckets } from './shared-buckets.sql.ts'

const shape = { capacity: burst * 1000, perMillisecond: refillPerSecond }

/** Exact over any number of processes: the database decides, one request after the other. */
export function databaseLimiter(db: Database, millis: () => number): RateLimiter {
  return {
    async draw(clientId) {
      const { admitted, millitokens, revoked } = await drawToken(db.common, clientId, millis(), shape)
      if (revoked) throw refuse.unauthorized('Invalid or expired token')
      return { admitted, tokens: millitokens / 1000 }
    },
  }
}

export interface MovingLimiter extends RateLimiter {
  /** Once this is over, the buckets live in the database, with what they held here. */
  move(): Promise<void>
}

/** In memory while this process serves alone, in the database for good from the moment another one joins it. */
export function movingLimiter(db: Database, millis: () => number): MovingLimiter {
  const here = memoryLimiter(millis)
  const there = databaseLimiter(db, millis)
  let moving: Promise<void> | null = null
  const move = async (): Promise<void> => {
    const buckets = here.contents()
    for (let start = 0; start < buckets.length; start += 5000)
      await putBuckets(
        db.common,
        buckets.slice(start, start + 5000).map(({ key, tokens, filledAt }) => ({
          clientId: key,
          millitokens: Math.floor(tokens * 1000),
          filledAtMs: Math.floor(filledAt),
        })),
      )
  }
  return {
    draw: (clientId) => (moving === null ? here.draw(clientId) : moving.then(() => there.draw(clientId))),
    // Should the database fail now, drawing fails too until it is back; what the buckets held is then forgiven.
    move: () => (moving ??= move().catch(() => undefined)),
  }
}
