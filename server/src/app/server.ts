import type { Logger } from 'pino'
import { ConnectionLimits } from '../admission/connection-limits.ts'
import { FairQueue } from '../admission/fair-queue.ts'
import { createDispatcher } from '../http/dispatcher.ts'
import { burst } from '../http/rate-limit.ts'
import { type HttpServer, listen } from '../http/server.ts'
import { noApi, startApi } from './api.ts'
import type { AppContext } from './context.ts'
import { type MqttIngress, noMqtt, openMqtt } from './mqtt.ts'
import { localUrl } from './local-url.ts'
import { systemRoutes } from './system-routes.ts'
import { startTracking } from './tracking.ts'
import { limitLogger, telemetry } from './telemetry.ts'
import { type Tuning, startWebhooks } from './webhooks.ts'

export interface RunningServer {
  port: number
  /** Lines for whoever started the program. */
  notices: readonly string[]
  close(graceMs: number): Promise<void>
}

export interface ServerOptions {
  host: string
  port: number
  /** More than this one process does the same work, so buckets and subscriptions must be shared. */
  isOneOfSeveral: boolean
  log: Logger
  delivery?: Partial<Tuning>
  /** Tells whoever runs the program a line; without it nobody is told. */
  tell?: (line: string) => void
}

/** Puts the parts of the process's roles together and answers requests. The only place that knows them all. */
export async function startServer(context: AppContext, options: ServerOptions): Promise<RunningServer> {
  const { config, clock, pubsub } = context
  const { log, isOneOfSeveral } = options
  const millis = (): number => clock.millis()
  // The whole burst of a credential may wait.
  const waiting = { maxWaitingPerTenant: 2 * burst, maxWaiting: 8 * burst, timeoutMs: 8000 }
  // More than there are connections: while the database answers some, others are decoded and encoded.
  const queue = new FairQueue({ ...waiting, maxInFlight: 4 * config.databasePool })
  const anonymousQueue = new FairQueue({ ...waiting, maxInFlight: 4 * config.databasePool })
  // Two are hashed at a time (users/password.ts) while the database answers the others.
  const passwordQueue = new FairQueue({ ...waiting, maxInFlight: 4, timeoutMs: 15_000 })
  const downloadQueue = new FairQueue({ ...waiting, maxInFlight: 16 })
  const seen = telemetry(log, queue, anonymousQueue, passwordQueue, downloadQueue)
  const tracking = startTracking(context, log)
  const webhooks = startWebhooks(context, log, seen.registry, options.delivery)
  let port = options.port
  const siteUrl = (): string => config.baseUrl ?? localUrl('http', options.host, port)
  const api = config.roles.has('api') ? startApi(context, { ...options, siteUrl }, { tracking, webhooks }) : noApi
  let mqtt: MqttIngress = noMqtt
  await pubsub.start(() => {
    api.onMissedEvents()
    tracking.onMissedEvents()
    webhooks.onMissedEvents()
    mqtt.onMissedEvents()
  })
  await api.join()
  const takesReads = config.roles.has('ingest')
  const handle = createDispatcher({
    ...api,
    rawRoutes: [
      ...api.rawRoutes,
      ...systemRoutes(context, seen.registry, options.host),
      ...(takesReads ? tracking.endpoints : []),
    ],
    queue,
    anonymousQueue,
    passwordQueue,
    downloadQueue,
    millis,
    edgeFilter: config.edgeFilter,
    trustProxy: config.trustProxy,
    onUntrustedProxy: seen.untrustedProxy,
    onAnswered: seen.answered,
    onBug: seen.bug,
  })
  const perAddress = config.trustProxy ? Infinity : config.httpConnectionsPerAddress
  const http: HttpServer = await listen({
    ...{ host: options.host, port: options.port, millis, handle },
    limits: new ConnectionLimits(config.httpConnections, perAddress),
    onLimit: limitLogger(log, 'http'),
  })
  port = http.port
  if (takesReads) mqtt = await openMqtt(context, tracking, log, isOneOfSeveral)
  return {
    port: http.port,
    notices: mqtt.notice === null ? [] : [mqtt.notice],
    async close(graceMs) {
      await Promise.all([http.close(graceMs), mqtt.close(), webhooks.stop(graceMs)])
      await tracking.stop()
      await api.stop()
    },
  }
}
