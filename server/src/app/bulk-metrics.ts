import { Counter, Histogram, type Registry } from 'prom-client'
import type { OnJobEnded } from '../bulk/import-queue.ts'

/** The metrics of bulk jobs: imports of the web app, the API and the command line. */
export function bulkMetrics(registry: Registry): OnJobEnded {
  const jobs = new Counter({
    name: 'lastseen_bulk_jobs_total',
    help: 'Bulk jobs that ended, by outcome: done, or failed without a change.',
    labelNames: ['outcome'],
    registers: [registry],
  })
  const durations = new Histogram({
    name: 'lastseen_bulk_job_duration_seconds',
    help: 'Duration of bulk jobs.',
    buckets: [0.1, 0.5, 1, 5, 10, 30, 60, 300],
    registers: [registry],
  })
  return (outcome, seconds) => {
    jobs.inc({ outcome })
    durations.observe(seconds)
  }
}
