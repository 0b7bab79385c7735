import type { Database } from '../db/database.ts'
import { type ConsumeResult, type RateLimiter, burst, memoryLimiter, refillPerSecond } from '../http/rate-limit.ts'
import { apiError } from '../kernel/errors.ts'
import { drawTokens, putBuckets } from './shared-buckets.sql.ts'

/** Draws that one statement decides. */
const atOnce = 200
const shape = { capacity: burst * 1000, perMillisecond: refillPerSecond }

interface Draw {
  clientId: string
  resolve: (drawn: ConsumeResult) => void
  reject: (error: unknown) => void
}

/**
 * Exact over any number of processes: the database decides, one request after the other. What comes while it decides is
 * decided together in the next statement, one token of each credential.
 */
export function databaseLimiter(db: Database, millis: () => number): RateLimiter {
  let waiting: Draw[] = []
  let isRunning = false

  /** The first draw of each credential; a second one of the same waits for its outcome. */
  function takeTurn(): Map<string, Draw> {
    const turn = new Map<string, Draw>()
    const later: Draw[] = []
    for (const draw of waiting) {
      if (turn.size < atOnce && !turn.has(draw.clientId)) turn.set(draw.clientId, draw)
      else later.push(draw)
    }
    waiting = later
    return turn
  }

  async function decide(turn: Map<string, Draw>): Promise<void> {
    const drawings = await drawTokens(db.global, [...turn.keys()], millis(), shape)
    for (const { clientId, admitted, millitokens, filledAtMs, revoked } of drawings) {
      const draw = turn.get(clientId)!
      if (revoked) draw.reject(apiError.unauthorized('Invalid or expired token'))
      else draw.resolve({ admitted, tokens: millitokens / 1000, filledAt: filledAtMs })
    }
  }

  async function run(): Promise<void> {
    isRunning = true
    while (waiting.length > 0) {
      const turn = takeTurn()
      await decide(turn).catch((error: unknown) => turn.forEach((draw) => draw.reject(error)))
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
  /** Moves the buckets into the database, with what they hold, and decides there from then on. */
  migrate(): Promise<void>
}

/** In memory while this is the only process; in the database for good once another one joins. */
export function migratingLimiter(db: Database, millis: () => number): MigratingLimiter {
  const memory = memoryLimiter(millis)
  const database = databaseLimiter(db, millis)
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
    consume: (clientId) =>
      migration === null ? memory.consume(clientId) : migration.then(() => database.consume(clientId)),
    // Should the database fail now, drawing fails too until it is back; the buckets are then full.
    migrate: () => (migration ??= copy().catch(() => undefined)),
  }
}
