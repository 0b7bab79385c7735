import type { Logger } from 'pino'
import { type RetentionDeps, keepRetention } from './retention.ts'
import type { RunJob } from './run-job.ts'
import { type StorageDeps, estimateStorage } from './storage.ts'

const intervalMs = 3_600_000

/** The first run is soon after the start, so that a server that is restarted more often than every hour cleans up as well. */
const firstRunMs = 60_000

interface HourlyJobsOptions {
  log: Logger
  runJob: RunJob
  onPartitionsDropped: (partitions: readonly string[]) => void
}

/** Each job has a lock that lets one process at a time do the work. A failed run is repeated in the next round. */
export function startHourlyJobs(
  deps: RetentionDeps & StorageDeps,
  url: string,
  { log, runJob, onPartitionsDropped }: HourlyJobsOptions,
): () => Promise<void> {
  const onFailure = (orgId: number, err: unknown): void =>
    log.warn({ event: 'job.failed', job: 'retention', orgId, err }, 'job failed')
  const runAll = async (): Promise<void> => {
    await runJob('retention', async () => onPartitionsDropped(await keepRetention(deps, url, onFailure)))
    await runJob('storage', () => estimateStorage(deps, url, log))
  }
  let running: Promise<void> = Promise.resolve()
  const run = (): void => {
    running = running.then(runAll)
  }
  const first = setTimeout(run, firstRunMs)
  const timer = setInterval(run, intervalMs)
  first.unref()
  timer.unref()
  return async () => {
    clearTimeout(first)
    clearInterval(timer)
    await running
  }
}
