import type { Logger } from 'pino'
import { dropIdleBuckets } from '../credentials/shared-buckets.sql.ts'
import { forgetAttempts } from '../credentials/throttle.sql.ts'
import type { UseLog } from '../credentials/use-log.ts'
import type { Core } from './core.ts'

/** Longer than an access token lives, so that a closed bucket outlasts every token it must stop. */
const bucketMemoryMs = 20 * 60_000

/** Small chores beside the requests. A chore that fails is logged and tried again the next time. */
export function housekeeping(core: Core, useLog: UseLog, log: Logger, everyMs = 30_000): () => Promise<void> {
  const { db, clock } = core
  const chores: Record<string, () => Promise<void>> = {
    'use-log': () => useLog.flush(),
    'idle-buckets': () => dropIdleBuckets(db.background.common, clock.millis() - bucketMemoryMs),
    'old-failures': () =>
      forgetAttempts(db.background.common, clock.millis() - 5 * 60_000, clock.millis() - 86_400_000),
  }
  const round = async (): Promise<void> => {
    for (const [chore, work] of Object.entries(chores))
      await work().catch((error: unknown) => log.warn({ event: 'chore.failed', chore, err: error }, 'chore failed'))
  }
  let running: Promise<void> = Promise.resolve()
  const timer = setInterval(() => {
    running = running.then(round)
  }, everyMs)
  timer.unref()
  return async () => {
    clearInterval(timer)
    await running
    await chores['use-log']!().catch(() => undefined)
  }
}
