import { type Instant, instantFromMillis, millisOf } from './instant.ts'

export interface Clock {
  /** Epoch milliseconds of the wall clock. */
  millis(): number
}

export const systemClock: Clock = { millis: () => Date.now() }

export function now(clock: Clock): Instant {
  return instantFromMillis(clock.millis())
}

/** The next `updated_at`: now, and always at least one millisecond after the last one, so a stale token never passes. */
export function nextUpdate(clock: Clock, last: Instant): Instant {
  return instantFromMillis(Math.max(clock.millis(), millisOf(last) + 1))
}
