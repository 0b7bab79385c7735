import type { Database } from '../db/database.ts'
import {
  type Drawn,
  type HeldBucket,
  type RateLimiter,
  burst,
  memoryLimiter,
  refillPerSecond,
} from '../http/rate-limit.ts'
import { refuse } from '../kernel/errors.ts'
import { drawTokens, putBuckets } from './shared-buckets.sql.ts'

/** Draws that one statement decides. */
const atOnce = 200
const shape = { capacity: burst * 1000, perMillisecond: refillPerSecond }

interface Draw {
  clientId: string
  resolve: (drawn: Drawn) => void
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
    const drawings = await drawTokens(db.common, [...turn.keys()], millis(), shape)
    for (const { clientId, admitted, millitokens, filledAtMs, revoked } of drawings) {
      const draw = turn.get(clientId)!
      if (revoked) draw.reject(refuse.unauthorized('Invalid or expired token'))
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
    draw: (clientId) =>
      new Promise((resolve, reject) => {
        waiting.push({ clientId, resolve, reject })
        if (!isRunning) void run()
      }),
  }
}

/** Where buckets live before they move into the database. */
export interface BucketHome {
  /** Null when they have left. */
  draw(clientId: string): Drawn | Promise<Drawn | null>
  /** Once this is over, nothing is drawn here any more, and one of those who asked for it took what the buckets held. */
  leave(take: (held: readonly HeldBucket[]) => Promise<void>): Promise<void>
}

export function memoryHome(millis: () => number): BucketHome {
  const limiter = memoryLimiter(millis)
  return { draw: (clientId) => limiter.draw(clientId), leave: (take) => take(limiter.contents()) }
}

export interface MovingLimiter extends RateLimiter {
  /** Once this is over, the buckets live in the database, with what they held at home. */
  move(): Promise<void>
}

/** At home while nobody else serves, in the database for good from the moment somebody joins. */
export function movingLimiter(db: Database, millis: () => number, home: BucketHome): MovingLimiter {
  const there = databaseLimiter(db, millis)
  let moving: Promise<void> | null = null
  const put = async (buckets: readonly HeldBucket[]): Promise<void> => {
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
  const drawAtHome = (clientId: string): Drawn | Promise<Drawn> => {
    const drawn = home.draw(clientId)
    return drawn instanceof Promise ? drawn.then((outcome) => outcome ?? there.draw(clientId)) : drawn
  }
  return {
    draw: (clientId) => (moving === null ? drawAtHome(clientId) : moving.then(() => there.draw(clientId))),
    // Should the database fail now, drawing fails too until it is back; what the buckets held is then forgiven.
    move: () => (moving ??= home.leave(put).catch(() => undefined)),
  }
}
