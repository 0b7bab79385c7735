import type { Clock } from '../kernel/clock.ts'
import { apiError } from '../kernel/errors.ts'

export const burst = 120
export const refillPerSecond = 1

export interface ConsumeResult {
  admitted: boolean
  /** Tokens left, including fractions. */
  tokens: number
  /** Epoch milliseconds for which `tokens` was computed. */
  filledAt: number
}

export interface RateLimiter {
  consume(key: string): Promise<ConsumeResult>
}

interface Bucket {
  tokens: number
  filledAt: number
}

interface BucketState extends Bucket {
  key: string
}

export interface MemoryLimiter extends RateLimiter {
  /** The state of every bucket in memory. Full buckets may be missing. */
  contents(): BucketState[]
}

/**
 * A token bucket per key, for a service with one process. A bucket is read and written in the same event-loop tick, so its
 * count is exact. Full buckets are removed once a minute.
 */
export function memoryLimiter(clock: Clock): MemoryLimiter {
  const buckets = new Map<string, Bucket>()
  let nextSweep = 0

  function sweep(now: number): void {
    if (now < nextSweep) return
    nextSweep = now + 60_000
    for (const [key, bucket] of buckets)
      if (bucket.tokens + ((now - bucket.filledAt) / 1000) * refillPerSecond >= burst) buckets.delete(key)
  }

  return {
    contents: () => Array.from(buckets, ([key, bucket]) => ({ key, ...bucket })),
    async consume(key) {
      const now = Math.floor(clock.millis())
      let bucket = buckets.get(key)
      if (bucket === undefined) buckets.set(key, (bucket = { tokens: burst, filledAt: now }))
      const refill = (Math.max(0, now - bucket.filledAt) / 1000) * refillPerSecond
      // Rounded to a thousandth, the clock's resolution, so that ten refills of 0.1 are a whole token.
      const available = Math.min(burst, Math.round((bucket.tokens + refill) * 1000) / 1000)
      const admitted = available >= 1
      const tokens = admitted ? available - 1 : available
      bucket.tokens = tokens
      bucket.filledAt = now
      sweep(now)
      return { admitted, tokens, filledAt: now }
    },
  }
}

export interface RateState {
  readonly remaining: string
  readonly reset: string
}

export function fullBucket(millis: number): RateState {
  return { remaining: String(burst), reset: String(Math.floor(millis / 1000)) }
}

/** Reset is the first whole second at which the bucket is full again (D45), counted from the time of the request. */
export function rateState({ tokens, filledAt }: ConsumeResult): RateState {
  const fullAtMs = filledAt + Math.round(((burst - tokens) * 1000) / refillPerSecond)
  return { remaining: String(Math.floor(tokens)), reset: String(Math.ceil(fullAtMs / 1000)) }
}

export function assertAllowed({ admitted, tokens }: ConsumeResult): void {
  if (!admitted) throw apiError.rateLimited((1 - tokens) / refillPerSecond)
}
