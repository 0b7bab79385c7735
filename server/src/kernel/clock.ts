import { type Instant, instantFromMillis, millisOf } from './instant.ts'

export interface Clock {
  /** Epoch milliseconds of the wall clock. */
  millis(): number
}

export const systemClock: Clock = { millis: () => Date.now() }

let last = { millis: 0, instant: instantFromMillis(0) }

/** What happens within a millisecond happens at the same instant, which is written once. */
export function now(clock: Clock): Instant {
  const millis = clock.millis()
  if (millis !== last.millis) last = { millis, instant: instantFromMillis(millis) }
  return last.instant
}

/** The next `updated_at`: now, and always at least one millisecond after the last one, so a stale token never passes. */
export function nextUpdate(clock: Clock, last: Instant): Instant {
  return instantFromMillis(Math.max(clock.millis(), millisOf(last) + 1))
}
