import { type Instant, instantFromMillis, millisOf } from '../kernel/instant.ts'

/** Whose clock stamps a reader's reads: its own, ours, or its own corrected by the message's sending time. */
export const readerClocks = ['reader', 'server', 'sent_at'] as const

export type ReaderClock = (typeof readerClocks)[number]

const toleranceMs = 2 * 60_000

/**
 * When the reads of a message count as observed: a stamp missing or over two minutes ahead of us is replaced by the
 * arrival. What is the same for all of them is worked out once.
 */
export function observedAtResolver(
  arrivedAtMs: number,
  clock: ReaderClock,
  sentAt: Instant | null,
): (observedAt: Instant | null) => Instant {
  const arrival = instantFromMillis(arrivedAtMs)
  if (clock === 'server') return () => arrival
  const latest = instantFromMillis(arrivedAtMs + toleranceMs)
  const behindMs = clock === 'sent_at' && sentAt !== null ? arrivedAtMs - millisOf(sentAt) : null
  return (observedAt) => {
    if (observedAt === null) return arrival
    const settled = behindMs === null ? observedAt : instantFromMillis(millisOf(observedAt) + behindMs)
    return settled > latest ? arrival : settled
  }
}
