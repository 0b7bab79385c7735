import type { Logger } from 'pino'
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client'
import type { RequestContext } from '../http/request-context.ts'
import type { RunJob } from '../jobs/run-job.ts'
import { version } from '../kernel/version.ts'
import { jobRunner } from './job-metrics.ts'
import { cut } from './log.ts'

export interface Telemetry {
  registry: Registry
  answered: (context: RequestContext, status: number) => void
  bug: (context: RequestContext, error: unknown) => void
  untrustedProxy: () => void
  runJob: RunJob
  partitionsDropped: (partitions: readonly string[]) => void
}

const limitLogMs = 10_000

type LimitLogger = (limit: string, address: string) => void

/** Copies an error with its texts truncated, because they may contain what clients have sent. */
function shorten(error: unknown): unknown {
  if (!(error instanceof Error)) return cut(String(error), 4096)
  const texts = Object.entries(error as unknown as Record<string, unknown>).map(([key, value]) => [
    key,
    typeof value === 'string' ? cut(value, 4096) : value,
  ])
  return Object.assign(Object.create(Object.getPrototypeOf(error) as object) as object, Object.fromEntries(texts), {
    message: cut(error.message, 4096),
    stack: cut(error.stack ?? '', 16_384),
    ...(error.cause === undefined ? {} : { cause: shorten(error.cause) }),
  })
}

/** Logs at most one line per limit every ten seconds, so that a flood of connections does not flood the log. */
export function limitLogger(log: Logger, protocol: 'http' | 'mqtt'): LimitLogger {
  const loggedAt = new Map<string, number>()
  return (limit, address) => {
    const at = performance.now()
    if (at - (loggedAt.get(limit) ?? -Infinity) < limitLogMs) return
    loggedAt.set(limit, at)
    log.warn({ event: `${protocol}.limited`, limit, address }, 'connection closed: it exceeded a limit')
  }
}

/** Logs and counts responses. Secrets, bodies and query strings are never logged. */
export function telemetry(log: Logger): Telemetry {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  new Gauge({
    name: 'lastseen_build_info',
    help: 'Always 1; the label is the version of the server.',
    labelNames: ['version'],
    registers: [registry],
    aggregator: 'max',
  }).set({ version }, 1)
  const requests = new Counter({
    name: 'lastseen_http_requests_total',
    help: 'Responses, by operation and status.',
    labelNames: ['operation', 'status'],
    registers: [registry],
  })
  const durations = new Histogram({
    name: 'lastseen_http_request_duration_seconds',
    help: 'Time from request to response, by operation.',
    labelNames: ['operation'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
    registers: [registry],
  })
  const partitions = new Counter({
    name: 'lastseen_retention_partitions_dropped_total',
    help: 'Months of history that were dropped because they are older than the retention.',
    registers: [registry],
  })
  return {
    registry,
    runJob: jobRunner(log, registry),
    answered(context, status) {
      const seconds = (performance.now() - context.startedAt) / 1000
      const { operation } = context
      requests.inc({ operation, status })
      durations.observe({ operation }, seconds)
      if (!log.isLevelEnabled('info')) return
      log.info({
        event: 'http.answered',
        requestId: cut(context.requestId, 256),
        method: context.method,
        path: cut(context.loggedPath, 1024),
        operation: context.operation,
        status,
        orgId: context.orgId,
        durationMs: Math.round(seconds * 1e6) / 1e3,
      })
    },
    bug(context, error) {
      log.error(
        {
          event: 'http.bug',
          requestId: cut(context.requestId, 256),
          operation: context.operation,
          err: shorten(error),
        },
        'unexpected error',
      )
    },
    partitionsDropped(dropped) {
      if (dropped.length === 0) return
      partitions.inc(dropped.length)
      log.info({ event: 'retention.dropped', dropped }, 'old history dropped')
    },
    untrustedProxy() {
      log.warn(
        { event: 'http.untrusted-proxy' },
        'a proxy forwards requests, but LASTSEEN_TRUST_PROXY is false: all its clients count as one address in every limit',
      )
    },
  }
}
