import { type Instant, instantFromMillis, millisOf } from '../kernel/instant.ts'

/** Whose clock stamps a reader's reads: its own, ours, or its own corrected by the message's sending time. */
export const readerClocks = ['reader', 'server', 'sent_at'] as const

export type ReaderClock = (typeof readerClocks)[number]

const toleranceMs = 2 * 60_000

/** When a read counts as observed: a stamp missing or over two minutes ahead of us is replaced by its arrival. */
export function settleTime(
  observedAt: Instant | null,
  arrivedAtMs: number,
  clock: ReaderClock,
  sentAt: Instant | null,
): Instant {
  const arrival = instantFromMillis(arrivedAtMs)
  if (observedAt === null || clock === 'server') return arrival
  const isCorrected = clock === 'sent_at' && sentAt !== null
  const settled = isCorrected ? instantFromMillis(millisOf(observedAt) + arrivedAtMs - millisOf(sentAt)) : observedAt
  return settled > instantFromMillis(arrivedAtMs + toleranceMs) ? arrival : settled
}
