import type { Database } from '../db/database.ts'
import { type ConsumeResult, type RateLimiter, burst, memoryLimiter, refillPerSecond } from '../http/rate-limit.ts'
import type { Clock } from '../kernel/clock.ts'
import { apiError } from '../kernel/errors.ts'
import { consumeTokens, putBuckets } from './shared-buckets.sql.ts'

/** Requests per statement. */
const batchSize = 200
const bucketShape = { capacity: burst * 1000, perMillisecond: refillPerSecond }

interface PendingConsume {
  clientId: string
  resolve: (result: ConsumeResult) => void
  reject: (error: unknown) => void
}

/**
 * A rate limiter for any number of processes: the buckets are in the database, so the count is exact. Requests that arrive
 * while a statement is in flight are batched into the next one, which takes one token per credential.
 */
export function databaseLimiter(db: Database, clock: Clock): RateLimiter {
  let waiting: PendingConsume[] = []
  let isRunning = false

  /** Takes the first waiting request of each credential. Its other requests wait for a later batch. */
  function takeBatch(): Map<string, PendingConsume> {
    const batch = new Map<string, PendingConsume>()
    const later: PendingConsume[] = []
    for (const pending of waiting) {
      if (batch.size < batchSize && !batch.has(pending.clientId)) batch.set(pending.clientId, pending)
      else later.push(pending)
    }
    waiting = later
    return batch
  }

  async function execute(batch: Map<string, PendingConsume>): Promise<void> {
    const results = await consumeTokens(db.global, [...batch.keys()], clock.millis(), bucketShape)
    for (const { clientId, admitted, millitokens, filledAtMs, revoked } of results) {
      const pending = batch.get(clientId)!
      if (revoked) pending.reject(apiError.unauthorized('Invalid or expired token'))
      else pending.resolve({ admitted, tokens: millitokens / 1000, filledAt: filledAtMs })
    }
  }

  async function run(): Promise<void> {
    isRunning = true
    while (waiting.length > 0) {
      const batch = takeBatch()
      await execute(batch).catch((error: unknown) => batch.forEach((pending) => pending.reject(error)))
    }
    isRunning = false
  }

  return {
    consume: (clientId) =>
      new Promise((resolve, reject) => {
        waiting.push({ clientId, resolve, reject })
        if (!isRunning) void run()
      }),
  }
}

export interface MigratingLimiter extends RateLimiter {
  /** Moves the buckets and their tokens to the database, and uses the database from then on. */
  migrate(): Promise<void>
}

/** Keeps the buckets in memory while this is the only process. `migrate` moves them to the database permanently. */
export function migratingLimiter(db: Database, clock: Clock): MigratingLimiter {
  const memory = memoryLimiter(clock)
  const database = databaseLimiter(db, clock)
  let migration: Promise<void> | null = null
  const copy = async (): Promise<void> => {
    const buckets = memory.contents()
    for (let start = 0; start < buckets.length; start += 5000)
      await putBuckets(
        db.global,
        buckets.slice(start, start + 5000).map(({ key, tokens, filledAt }) => ({
          clientId: key,
          millitokens: Math.floor(tokens * 1000),
          filledAtMs: Math.floor(filledAt),
        })),
      )
  }
  return {
    async consume(clientId) {
      if (migration === null) return memory.consume(clientId)
      await migration
      return database.consume(clientId)
    },
    // If the database fails now, requests fail until it is available again; their buckets are then full.
    migrate: () => (migration ??= copy().catch(() => undefined)),
  }
}
