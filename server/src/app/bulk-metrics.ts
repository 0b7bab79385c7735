import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { ImportQueue, OnJobEnded } from '../bulk/import-queue.ts'

export interface BulkMetrics {
  onEnded: OnJobEnded
  /** Measures what waits and runs. */
  watch: (queue: Pick<ImportQueue, 'load'>) => void
}

/** The metrics of bulk jobs: imports of the web app, the API and the command line. */
export function bulkMetrics(registry: Registry): BulkMetrics {
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
  const gauge = (name: string, help: string, value: () => number): void => {
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(value())
      },
    })
  }
  return {
    onEnded(outcome, seconds) {
      jobs.inc({ outcome })
      durations.observe(seconds)
    },
    watch(queue) {
      gauge('lastseen_bulk_jobs_waiting', 'Bulk jobs that wait until other jobs have ended.', () => queue.load.waiting)
      gauge('lastseen_bulk_jobs_running', 'Bulk jobs that are running.', () => queue.load.running)
    },
  }
}
