import { refuse } from '../kernel/errors.ts'

export const burst = 120
export const refillPerSecond = 1

export interface Drawn {
  admitted: boolean
  /** Tokens left, with their fraction. */
  tokens: number
  /** Epoch milliseconds at which the bucket held these tokens. */
  filledAt: number
}

export interface RateLimiter {
  draw(key: string): Drawn | Promise<Drawn>
}

interface Bucket {
  tokens: number
  filledAt: number
}

export interface HeldBucket extends Bucket {
  key: string
}

export interface MemoryLimiter extends RateLimiter {
  draw(key: string): Drawn
  /** What every bucket holds that is not full. */
  contents(): HeldBucket[]
  has(key: string): boolean
  look(key: string): HeldBucket | undefined
  /** From now on it is another's. */
  take(key: string): HeldBucket | undefined
  /** It was another's so far. */
  put(bucket: HeldBucket): void
}

/**
 * Exact while one process serves: nothing comes between reading a bucket and writing it. Buckets that had time to fill up
 * are the same as none and are let go of, now and then and never the one just drawn from.
 */
export function memoryLimiter(millis: () => number, onFull: (buckets: HeldBucket[]) => void = ignore): MemoryLimiter {
  const buckets = new Map<string, Bucket>()
  let nextSweep = 0

  function sweep(now: number): void {
    if (now < nextSweep) return
    nextSweep = now + 60_000
    const full: HeldBucket[] = []
    for (const [key, bucket] of buckets)
      if (bucket.tokens + ((now - bucket.filledAt) / 1000) * refillPerSecond >= burst) full.push({ key, ...bucket })
    for (const { key } of full) buckets.delete(key)
    if (full.length > 0) onFull(full)
  }

  const look = (key: string): HeldBucket | undefined => {
    const bucket = buckets.get(key)
    return bucket && { key, ...bucket }
  }

  return {
    contents: () => Array.from(buckets, ([key, bucket]) => ({ key, ...bucket })),
    has: (key) => buckets.has(key),
    look,
    take(key) {
      const bucket = look(key)
      buckets.delete(key)
      return bucket
    },
    put: ({ key, tokens, filledAt }) => void buckets.set(key, { tokens, filledAt }),
    draw(key) {
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

const ignore = (): void => undefined

export interface RateState {
  readonly remaining: string
  readonly reset: string
}

export function fullBucket(millis: number): RateState {
  return { remaining: String(burst), reset: String(Math.floor(millis / 1000)) }
}

/** Reset is the first whole second at which the bucket is full again (D45), counted from the draw itself. */
export function rateState({ tokens, filledAt }: Drawn): RateState {
  const fullAtMs = filledAt + Math.round(((burst - tokens) * 1000) / refillPerSecond)
  return { remaining: String(Math.floor(tokens)), reset: String(Math.ceil(fullAtMs / 1000)) }
}

export function refuseDrained(drawn: Drawn): void {
  if (!drawn.admitted) throw refuse.rateLimited((1 - drawn.tokens) / refillPerSecond)
}
