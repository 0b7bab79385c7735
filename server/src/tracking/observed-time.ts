import { type Instant, instantFromMillis, millisOf } from '../kernel/instant.ts'

/** The clock for the time of a read: the reader's, the server's, or the reader's corrected by the message's sending time. */
export const readerClocks = ['reader', 'server', 'sent_at'] as const

export type ReaderClock = (typeof readerClocks)[number]

const toleranceMs = 2 * 60_000

/**
 * The time at which each read of a message counts as observed. A timestamp that is missing or more than two minutes ahead
 * of the server's clock is replaced by the arrival time.
 */
export function observedAtResolver(
  arrivedAtMs: number,
  clock: ReaderClock,
  sentAt: Instant | null,
): (observedAt: Instant | null) => Instant {
  const arrival = instantFromMillis(arrivedAtMs)
  if (clock === 'server') return () => arrival
  const latest = instantFromMillis(arrivedAtMs + toleranceMs)
  const correctionMs = clock === 'sent_at' && sentAt !== null ? arrivedAtMs - millisOf(sentAt) : null
  return (observedAt) => {
    if (observedAt === null) return arrival
    const corrected = correctionMs === null ? observedAt : instantFromMillis(millisOf(observedAt) + correctionMs)
    return corrected > latest ? arrival : corrected
  }
}
