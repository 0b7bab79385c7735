import type { AppContext } from './context.ts'

/** A process is not ready when it has lost the MQTT broker or its notifications for this long. */
export const defaultOutageGraceMs = 60_000

/** Returns why the process is not ready, or null if it is. */
export type ReadinessCheck = () => Promise<string | null>

/**
 * The process is not ready when the database does not answer, or when the broker or the notifications have been lost for
 * `outageGraceMs`. A shorter loss has no effect: readers and brokers send their messages again, and caches are not used
 * without notifications.
 */
export function readinessCheck(
  { db, pubsub }: Pick<AppContext, 'db' | 'pubsub'>,
  brokerOutageMs: () => number,
  outageGraceMs: number,
): ReadinessCheck {
  const check: ReadinessCheck = async () => {
    try {
      await db.ping()
    } catch {
      return 'the database does not answer'
    }
    if (pubsub.outageMs() >= outageGraceMs) return 'the database connection for notifications is lost'
    if (brokerOutageMs() >= outageGraceMs) return 'the MQTT broker is not reachable'
    return null
  }
  // All checks share one connection, so requests join the check in flight.
  let inFlight: Promise<string | null> | undefined
  return () => {
    inFlight ??= check().finally(() => (inFlight = undefined))
    return inFlight
  }
}
