import { dropIdleBuckets } from '../auth/shared-buckets.sql.ts'
import { deleteAttemptsBefore } from '../auth/login-throttle.sql.ts'
import type { LastUsedRecorder } from '../auth/last-used-recorder.ts'
import type { Connection } from '../db/create-database.ts'
import type { Clock } from '../kernel/clock.ts'
import type { RunJob } from './run-job.ts'

/** Longer than the lifetime of an access token, so that an exhausted bucket outlives every token it limits. */
const bucketTtlMs = 20 * 60_000

/** Small periodic jobs. A failed job is retried in the next round. */
export function startHousekeeping(
  deps: { db: Connection; clock: Clock },
  lastUsed: LastUsedRecorder,
  runJob: RunJob,
  intervalMs = 30_000,
): () => Promise<void> {
  const { db, clock } = deps
  const jobs: Record<string, () => Promise<void>> = {
    'last-used': () => lastUsed.flush(),
    'idle-buckets': () => dropIdleBuckets(db.background.global, clock.millis() - bucketTtlMs),
    'old-failures': () =>
      deleteAttemptsBefore(db.background.global, clock.millis() - 5 * 60_000, clock.millis() - 86_400_000),
  }
  const runJobs = async (): Promise<void> => {
    for (const [job, work] of Object.entries(jobs)) await runJob(job, work)
  }
  let running: Promise<void> = Promise.resolve()
  const timer = setInterval(() => {
    running = running.then(runJobs)
  }, intervalMs)
  timer.unref()
  return async () => {
    clearInterval(timer)
    await running
    await jobs['last-used']!().catch(() => undefined)
  }
}
