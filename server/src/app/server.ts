import type { Logger } from 'pino'
import type { BucketHome } from '../credentials/shared-buckets.ts'
import { dispatcher } from '../http/dispatch.ts'
import { Gate } from '../http/gate.ts'
import { burst } from '../http/rate-limit.ts'
import { type HttpServer, listen } from '../http/server.ts'
import { Turns } from '../http/turns.ts'
import { noApi, startApi } from './api.ts'
import type { Core } from './core.ts'
import { noMqtt, openMqtt } from './mqtt.ts'
import { ownAddress } from './own-address.ts'
import { pages } from './pages.ts'
import { startTracking } from './tracking.ts'
import { telemetry } from './telemetry.ts'
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
  /** Where those that were started together keep their buckets. */
  bucketHome?: BucketHome
  log: Logger
  delivery?: Partial<Tuning>
  /** Tells whoever runs the program a line; without it nobody is told. */
  tell?: (line: string) => void
}

/** Puts the parts of the process's roles together and answers requests. The only place that knows them all. */
export async function startServer(core: Core, options: ServerOptions): Promise<RunningServer> {
  const { config, clock, wake } = core
  const { log, isOneOfSeveral } = options
  const millis = (): number => clock.millis()
  // One that wants no more than there are connections to the database cannot take them from others.
  const turns = new Turns({
    atOnce: Math.max(1, Math.floor(config.databasePool / 8)),
    calm: config.databasePool,
    burstMs: 500,
  })
  const gate = new Gate(
    {
      // Far more than there are connections: while the database answers some, others are read and others written.
      atOnce: 16 * config.databasePool,
      // Half of them for one organization, so the whole burst of a credential may wait. Not more: whoever waits is copied
      // by garbage collections.
      waiting: 2 * burst,
      patienceMs: 8000,
      refusalMs: 3000,
    },
    turns,
  )
  const seen = telemetry(log, gate)
  const tracking = startTracking(core, log, turns)
  const webhooks = startWebhooks(core, log, seen.registry, options.delivery)
  let port = options.port
  const siteUrl = (): string => config.baseUrl ?? ownAddress('http', options.host, port)
  const api = config.roles.has('api') ? startApi(core, { ...options, siteUrl }, { tracking, webhooks }) : noApi
  await wake.start(() => {
    api.missedNews()
    tracking.missedNews()
    webhooks.missedNews()
  })
  await api.join()
  const takesReads = config.roles.has('ingest')
  const handle = dispatcher({
    ...api,
    pages: [...api.pages, ...pages(core, seen.registry, options.host), ...(takesReads ? tracking.endpoints : [])],
    gate,
    millis,
    edgeFilter: config.edgeFilter,
    trustProxy: config.trustProxy,
    onAnswered: seen.answered,
    onBug: seen.bug,
  })
  const http: HttpServer = await listen({ host: options.host, port: options.port, millis, handle })
  port = http.port
  const mqtt = takesReads ? await openMqtt(core, tracking, log, isOneOfSeveral) : noMqtt
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
