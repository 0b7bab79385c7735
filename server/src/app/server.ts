import type { Logger } from 'pino'
import { webSurface } from '../api/web/surface.ts'
import { Principals } from '../credentials/authenticate.ts'
import { revocationTopic } from '../credentials/commands.ts'
import { databaseLimiter } from '../credentials/shared-buckets.ts'
import { Throttle } from '../credentials/throttle.ts'
import { AccessTokens } from '../credentials/tokens.ts'
import { UseLog } from '../credentials/use-log.ts'
import { dispatcher } from '../http/dispatch.ts'
import { memoryLimiter } from '../http/rate-limit.ts'
import { type HttpServer, listen } from '../http/server.ts'
import type { Reader } from '../readers/reader.ts'
import type { Core } from './core.ts'
import { housekeeping } from './housekeeping.ts'
import { openMqtt } from './mqtt.ts'
import { pages } from './pages.ts'
import { publicSurfaces } from './surfaces.ts'
import { ingestAddresses, startTracking } from './tracking.ts'
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
  /** More than this one process answers requests, so buckets must be shared. */
  isOneOfSeveral: boolean
  log: Logger
  delivery?: Partial<Tuning>
}

/** Puts the parts together and answers requests. The only place that knows them all. */
export async function startServer(core: Core, options: ServerOptions): Promise<RunningServer> {
  const { config, db, clock, environment, wake } = core
  const millis = (): number => clock.millis()
  const tokens = new AccessTokens(core.signingKey, environment, clock)
  const throttle = new Throttle(db, clock)
  const useLog = new UseLog(db, clock)
  const isListening = (): boolean => wake.isListening()
  const principals = new Principals({
    db,
    clock,
    environment,
    tokens,
    isListening,
    onUse: (caller) => useLog.note(caller),
  })
  wake.on(revocationTopic, (key) => principals.forget(key))
  const seen = telemetry(options.log)
  const tracking = startTracking(core, options.log)
  const webhooks = startWebhooks(core, options.log, seen.registry, options.delivery)
  await wake.start(() => {
    principals.forgetAll()
    tracking.missedNews()
    webhooks.missedNews()
  })

  const addresses = (reader: Reader, token: string) => ingestAddresses(core, reader, token)
  const needs = {
    db,
    clock,
    ids: core.ids,
    environment,
    tokens,
    throttle,
    wake,
    announce: tracking.announce,
    addresses,
    moved: tracking.moved,
    seal: webhooks.seal,
    sendTest: webhooks.sendTest,
    onDropped: webhooks.onDropped,
  }
  const published = publicSurfaces(needs, config)
  const { rateLimitStore } = config
  const isShared = rateLimitStore === 'database' || (rateLimitStore === 'auto' && options.isOneOfSeveral)
  const handle = dispatcher({
    surfaces: [...published.surfaces, webSurface(needs, tracking.live)],
    pages: [...published.pages, ...pages(core, seen.registry, options.host), ...tracking.endpoints],
    authenticator: principals,
    limiter: isShared ? databaseLimiter(db, millis) : memoryLimiter(millis),
    millis,
    edgeFilter: config.edgeFilter,
    trustProxy: config.trustProxy,
    onAnswered: seen.answered,
    onBug: seen.bug,
  })
  const http: HttpServer = await listen({ host: options.host, port: options.port, millis, handle })
  const mqtt = await openMqtt(core, tracking, options.log, options.isOneOfSeveral)
  const stopHousekeeping = housekeeping(core, useLog, options.log)
  return {
    port: http.port,
    notices: mqtt.notice === null ? [] : [mqtt.notice],
    async close(graceMs) {
      await Promise.all([http.close(graceMs), mqtt.close(), webhooks.stop(graceMs)])
      await tracking.stop()
      await stopHousekeeping()
    },
  }
}
