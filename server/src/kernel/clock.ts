import { type Instant, instantFromMillis, millisOf } from './instant.ts'

export interface Clock {
  /** Epoch milliseconds of the wall clock. */
  millis(): number
}

export const systemClock: Clock = { millis: () => Date.now() }

let last = { millis: 0, instant: instantFromMillis(0) }

/** Returns the current time. The Instant is cached, because many calls happen within the same millisecond. */
export function now(clock: Clock): Instant {
  const millis = clock.millis()
  if (millis !== last.millis) last = { millis, instant: instantFromMillis(millis) }
  return last.instant
}

/** The next `updated_at`: now, but at least one millisecond after the last one, so that a stale value never matches. */
export function nextUpdate(clock: Clock, last: Instant): Instant {
  return instantFromMillis(Math.max(clock.millis(), millisOf(last) + 1))
}
