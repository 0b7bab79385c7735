import { refuse } from '../kernel/errors.ts'

export const burst = 120
export const refillPerSecond = 1

export interface Drawn {
  admitted: boolean
  /** Tokens left, with their fraction. */
  tokens: number
}

export interface RateLimiter {
  draw(key: string): Drawn | Promise<Drawn>
}

interface Bucket {
  tokens: number
  filledAt: number
}

export interface MemoryLimiter extends RateLimiter {
  draw(key: string): Drawn
  /** What every bucket holds that is not full. */
  contents(): { key: string; tokens: number; filledAt: number }[]
}

/** Exact while one process serves: nothing comes between reading a bucket and writing it. */
export function memoryLimiter(millis: () => number): MemoryLimiter {
  const buckets = new Map<string, Bucket>()
  let nextSweep = 0

  /** A bucket that had time to fill up is the same as none. */
  function sweep(now: number): void {
    if (now < nextSweep) return
    nextSweep = now + 60_000
    for (const [key, bucket] of buckets)
      if (bucket.tokens + ((now - bucket.filledAt) / 1000) * refillPerSecond >= burst) buckets.delete(key)
  }

  return {
    contents: () => Array.from(buckets, ([key, bucket]) => ({ key, ...bucket })),
    draw(key) {
      const now = millis()
      sweep(now)
      let bucket = buckets.get(key)
      if (bucket === undefined) buckets.set(key, (bucket = { tokens: burst, filledAt: now }))
      const refill = (Math.max(0, now - bucket.filledAt) / 1000) * refillPerSecond
      // To the thousandth, as the clock counts: ten refills of 0.1 are a whole token.
      const available = Math.min(burst, Math.round((bucket.tokens + refill) * 1000) / 1000)
      const admitted = available >= 1
      const tokens = admitted ? available - 1 : available
      bucket.tokens = tokens
      bucket.filledAt = now
      return { admitted, tokens }
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

export function rateState(drawn: Drawn, millis: number): RateState {
  const untilFull = Math.ceil((burst - drawn.tokens) / refillPerSecond)
  return { remaining: String(Math.floor(drawn.tokens)), reset: String(Math.floor(millis / 1000) + untilFull) }
}

export function refuseDrained(drawn: Drawn): void {
  if (!drawn.admitted) throw refuse.rateLimited((1 - drawn.tokens) / refillPerSecond)
}
