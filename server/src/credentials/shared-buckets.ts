import type { Database } from '../db/database.ts'
import { type RateLimiter, burst, refillPerSecond } from '../http/rate-limit.ts'
import { refuse } from '../kernel/errors.ts'
import { drawToken } from './shared-buckets.sql.ts'

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
