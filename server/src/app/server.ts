import type { Logger } from 'pino'
import { ByteBudget } from '../admission/byte-budget.ts'
import { ConnectionLimits } from '../admission/connection-limits.ts'
import { FairQueue } from '../admission/fair-queue.ts'
import type { Config } from '../config/config.ts'
import { anonymousBodyMemory, bodyMemory } from '../http/body.ts'
import { createDispatcher } from '../http/dispatcher.ts'
import { burst } from '../http/rate-limit.ts'
import { type HttpServer, listen } from '../http/server.ts'
import type { RunJob } from '../jobs/run-job.ts'
import { TlsFiles } from '../kernel/tls-files.ts'
import { noApi, startApi } from './api.ts'
import { capacityMetrics } from './capacity-metrics.ts'
import type { WorkerMetrics } from './cluster-metrics.ts'
import type { AppContext } from './context.ts'
import { type MqttIngress, noMqtt, openMqtt } from './mqtt.ts'
import { localUrl } from './local-url.ts'
import { type ReadinessCheck, defaultOutageGraceMs, readinessCheck } from './readiness.ts'
import { systemRoutes } from './system-routes.ts'
import { startTracking } from './tracking.ts'
import { limitLogger, telemetry } from './telemetry.ts'
import { type Tuning, startWebhooks } from './webhooks.ts'

export interface RunningServer {
  port: number
  /** Lines for the operator who started the program. */
  notices: readonly string[]
  /** Reports that the server is not ready any more, while it still accepts requests. */
  drain(): void
  runJob: RunJob
  onPartitionsDropped: (partitions: readonly string[]) => void
  close(graceMs: number): Promise<void>
}

export interface ServerOptions {
  host: string
  port: number
  /** Other processes do the same work, so rate limit buckets and MQTT subscriptions must be shared. */
  isOneOfSeveral: boolean
  log: Logger
  delivery?: Partial<Tuning>
  /** How long the broker or notifications may be lost before the process is not ready. */
  outageGraceMs?: number
  /** Prints a line for the operator. */
  notifyOperator?: (line: string) => void
  /** Collects the metrics of all workers, if this process is a worker. */
  workerMetrics?: WorkerMetrics
}

/** The certificate and key of the settings, or null without them. */
function openTlsFiles({ tlsCert, tlsKey }: Config, log: Logger): TlsFiles | null {
  if (tlsCert === null || tlsKey === null) return null
  try {
    return new TlsFiles({
      certPath: tlsCert,
      keyPath: tlsKey,
      onReload: () => log.info({ event: 'tls.reloaded' }, 'certificate reloaded'),
      onFailure: (error) => log.error({ event: 'tls.failed', err: error }, 'the changed certificate cannot be used'),
    })
  } catch (error) {
    throw new Error(`LASTSEEN_TLS_CERT and LASTSEEN_TLS_KEY cannot be used: ${(error as Error).message}`, {
      cause: error,
    })
  }
}

/** Downloads and bulk uploads in flight. */
export const maxDownloads = 16

/** Each of these requests hashes in a thread, of which Node.js has four. The last slot is reserved for another client. */
export const passwordQueueLimits = {
  maxInFlight: 3,
  maxWaitingPerTenant: 2 * burst,
  maxWaiting: 8 * burst,
  timeoutMs: 15_000,
}

/** Wires the parts that the process's roles require, and starts to accept requests. */
export async function startServer(context: AppContext, options: ServerOptions): Promise<RunningServer> {
  const { config, clock, pubsub } = context
  const { log, isOneOfSeveral } = options
  const tls = openTlsFiles(config, log)
  // A rejection costs about as much as a point read. The queue is therefore long, so that clients that repeat rejected
  // requests at once do not take the CPU time of the requests that are served.
  const waiting = { maxWaitingPerTenant: 1000, maxWaiting: 3000, timeoutMs: 8000 }
  // More requests than database connections: while some requests wait for the database, others are parsed or serialized.
  const queue = new FairQueue({ ...waiting, maxInFlight: 4 * config.databasePool })
  const recordQueue = new FairQueue({ ...waiting, maxInFlight: 4 * config.databasePool })
  const anonymousQueue = new FairQueue({ ...waiting, maxInFlight: 4 * config.databasePool })
  const passwordQueue = new FairQueue(passwordQueueLimits)
  const downloadQueue = new FairQueue({ ...waiting, maxInFlight: maxDownloads })
  const bodyBudget = new ByteBudget(bodyMemory)
  const metrics = telemetry(log)
  const { runJob } = metrics
  const { workerMetrics } = options
  workerMetrics?.share(metrics.registry)
  const collectMetrics = (): Promise<string> => workerMetrics?.collect() ?? metrics.registry.metrics()
  const tracking = startTracking(context, log, metrics.registry, runJob, { bodyBudget, anonymousQueue })
  const webhooks = startWebhooks(context, log, metrics.registry, runJob, options.delivery)
  capacityMetrics(
    metrics.registry,
    {
      requests: queue,
      records: recordQueue,
      anonymous: anonymousQueue,
      passwords: passwordQueue,
      downloads: downloadQueue,
      ingest: tracking.queue,
    },
    context,
  )
  let port = options.port
  const siteUrl = (): string => config.baseUrl ?? localUrl({ ...config, host: options.host }, 'http', port)
  const api = config.roles.has('api')
    ? startApi(context, { ...options, siteUrl, metrics }, { tracking, webhooks })
    : noApi
  let mqtt: MqttIngress = noMqtt
  await pubsub.start(() => {
    api.onMissedEvents()
    tracking.onMissedEvents()
    webhooks.onMissedEvents()
    mqtt.onMissedEvents()
  })
  await api.join()
  let isDraining = false
  const checkConnections = readinessCheck(context, () => mqtt.outageMs(), options.outageGraceMs ?? defaultOutageGraceMs)
  const checkReadiness: ReadinessCheck = async () => (isDraining ? 'the server is stopping' : checkConnections())
  const hasIngest = config.roles.has('ingest')
  const handle = createDispatcher({
    ...api,
    rawRoutes: [
      ...api.rawRoutes,
      ...systemRoutes({ config, checkReadiness, collectMetrics, host: options.host }),
      ...(hasIngest ? tracking.endpoints : []),
    ],
    queue,
    recordQueue,
    anonymousQueue,
    passwordQueue,
    downloadQueue,
    bodyBudget,
    anonymousBodyBudget: new ByteBudget(anonymousBodyMemory),
    clock,
    edgeFilter: config.edgeFilter,
    trustProxy: config.trustProxy,
    onUntrustedProxy: metrics.untrustedProxy,
    onResponse: metrics.answered,
    onBug: metrics.bug,
  })
  const perAddress = config.trustProxy ? Infinity : config.httpConnectionsPerAddress
  const http: HttpServer = await listen({
    host: options.host,
    port: options.port,
    tls,
    clock,
    handle,
    limits: new ConnectionLimits(config.httpConnections, perAddress),
    onLimit: limitLogger(log, 'http'),
  })
  port = http.port
  if (hasIngest) mqtt = await openMqtt(context, tracking, log, { isOneOfSeveral, tls, registry: metrics.registry })
  return {
    port: http.port,
    notices: mqtt.notice === null ? [] : [mqtt.notice],
    drain() {
      isDraining = true
      http.drain()
    },
    runJob,
    onPartitionsDropped: metrics.partitionsDropped,
    async close(graceMs) {
      const closed = http.close(graceMs)
      // A client whose stream ends connects again, which this process no longer accepts.
      api.endStreams()
      await Promise.all([closed, mqtt.close(), webhooks.stop(graceMs)])
      await tracking.stop()
      await api.stop()
      tls?.close()
    },
  }
}
