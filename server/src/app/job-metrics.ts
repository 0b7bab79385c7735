import type { Logger } from 'pino'
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { RunJob } from '../jobs/run-job.ts'

/**
 * Runs periodic jobs: a failure is logged and counted, and the job runs again in its next round. The label is
 * `task`, because Prometheus itself adds a label `job`.
 */
export function jobRunner(log: Logger, registry: Registry): RunJob {
  const registers = [registry]
  const runs = new Counter({
    name: 'lastseen_job_runs_total',
    help: 'Runs of periodic jobs, by outcome.',
    labelNames: ['task', 'outcome'],
    registers,
  })
  const durations = new Histogram({
    name: 'lastseen_job_duration_seconds',
    help: 'Duration of the runs of periodic jobs.',
    labelNames: ['task'],
    buckets: [0.001, 0.01, 0.1, 1, 10, 60, 600],
    registers,
  })
  const lastSuccess = new Gauge({
    name: 'lastseen_job_last_success_timestamp_seconds',
    help: 'Unix time of the last successful run of a periodic job.',
    labelNames: ['task'],
    registers,
    aggregator: 'max',
  })
  return async (job, work) => {
    const startedAt = performance.now()
    try {
      await work()
      runs.inc({ task: job, outcome: 'succeeded' })
      lastSuccess.set({ task: job }, Date.now() / 1000)
    } catch (error) {
      runs.inc({ task: job, outcome: 'failed' })
      log.warn({ event: 'job.failed', job, err: error }, 'job failed')
    }
    durations.observe({ task: job }, (performance.now() - startedAt) / 1000)
  }
}
