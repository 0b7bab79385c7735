import { apiError } from '../kernel/errors.ts'

export const burst = 120
export const refillPerSecond = 1

export interface ConsumeResult {
  admitted: boolean
  /** Tokens left, with their fraction. */
  tokens: number
  /** Epoch milliseconds at which the bucket held these tokens. */
  filledAt: number
}

export interface RateLimiter {
  consume(key: string): ConsumeResult | Promise<ConsumeResult>
}

interface Bucket {
  tokens: number
  filledAt: number
}

interface BucketState extends Bucket {
  key: string
}

export interface MemoryLimiter extends RateLimiter {
  consume(key: string): ConsumeResult
  /** What every bucket holds that is not full. */
  contents(): BucketState[]
}

/**
 * Exact while one process serves: nothing comes between reading a bucket and writing it. Buckets that are full again are
 * removed once a minute.
 */
export function memoryLimiter(millis: () => number): MemoryLimiter {
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
    consume(key) {
      const now = Math.floor(millis())
      let bucket = buckets.get(key)
      if (bucket === undefined) buckets.set(key, (bucket = { tokens: burst, filledAt: now }))
      const refill = (Math.max(0, now - bucket.filledAt) / 1000) * refillPerSecond
      // To the thousandth, as the clock counts: ten refills of 0.1 are a whole token.
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

/** Reset is the first whole second at which the bucket is full again (D45), counted from the draw itself. */
export function rateState({ tokens, filledAt }: ConsumeResult): RateState {
  const fullAtMs = filledAt + Math.round(((burst - tokens) * 1000) / refillPerSecond)
  return { remaining: String(Math.floor(tokens)), reset: String(Math.ceil(fullAtMs / 1000)) }
}

export function assertAllowed(drawn: ConsumeResult): void {
  if (!drawn.admitted) throw apiError.rateLimited((1 - drawn.tokens) / refillPerSecond)
}
