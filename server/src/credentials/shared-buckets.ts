import type { Database } from '../db/database.ts'
import { type RateLimiter, burst, refillPerSecond } from '../http/rate-limit.ts'
import { refuse } from '../kernel/errors.ts'
import { drawToken } from './shared-buckets.sql.ts'

/** Exact over any number of processes: the database decides, one request after the other. */
export function databaseLimiter(db: Database, millis: () => number): RateLimiter {
  return {
    async draw(clientId) {
      const drawn = await drawToken(db.common, clientId, millis(), burst, refillPerSecond)
      if (drawn.revoked) throw refuse.unauthorized('Invalid or expired token')
      return drawn
    },
  }
}
