import type { Logger } from 'pino'
import { webSurface } from '../api/web/surface.ts'
import { Imports, progressTopic } from '../bulk/imports.ts'
import { Principals } from '../credentials/authenticate.ts'
import { revocationTopic } from '../credentials/commands.ts'
import { databaseLimiter } from '../credentials/shared-buckets.ts'
import { Throttle } from '../credentials/throttle.ts'
import { AccessTokens } from '../credentials/tokens.ts'
import { UseLog } from '../credentials/use-log.ts'
import { dispatcher } from '../http/dispatch.ts'
import { memoryLimiter } from '../http/rate-limit.ts'
import { type HttpServer, listen } from '../http/server.ts'
import { Post } from '../mail/post.ts'
import type { Reader } from '../readers/reader.ts'
import { Overviews } from '../tracking/overview.ts'
import type { Core } from './core.ts'
import { housekeeping } from './housekeeping.ts'
import { openMqtt } from './mqtt.ts'
import { pages } from './pages.ts'
import { publicSurfaces } from './surfaces.ts'
import { ingestAddresses, startTracking } from './tracking.ts'
import { telemetry } from './telemetry.ts'
import { type Tuning, startWebhooks } from './webhooks.ts'
import { webFolder, webPages } from './web-app.ts'

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
  /** Tells whoever runs the program a line; without it nobody is told. */
  tell?: (line: string) => void
}

/** Where people on this machine find the program. */
const localUrl = (host: string, port: number): string =>
  `http://${host === '0.0.0.0' || host === '::' ? 'localhost' : host}:${port}`

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
  wake.on(revocationTopic, (keys) => {
    for (const key of keys.split(',')) principals.forget(key)
  })
  const seen = telemetry(options.log)
  const tracking = startTracking(core, options.log)
  const webhooks = startWebhooks(core, options.log, seen.registry, options.delivery)
  await wake.start(() => {
    principals.forgetAll()
    tracking.missedNews()
    webhooks.missedNews()
  })

  const addresses = (reader: Reader) => ingestAddresses(core, reader)
  const post = new Post({
    url: config.mailUrl,
    from: config.mailFrom,
    onFailure: (error) => options.log.error({ event: 'mail.failed', err: error }, 'mail not sent'),
  })
  const imports = new Imports({
    ...{ db, clock, ids: core.ids, wake },
    onFailure: (error) => options.log.error({ event: 'import.failed', err: error }, 'import given up'),
  })
  wake.on(progressTopic, (payload) => imports.heard(payload))
  let port = options.port
  const needs = {
    db,
    clock,
    ids: core.ids,
    environment,
    tokens,
    throttle,
    wake,
    announce: tracking.announce,
    latestReads: tracking.latestReads,
    addresses,
    moved: tracking.moved,
    seal: webhooks.seal,
    sendTest: webhooks.sendTest,
    onDropped: webhooks.onDropped,
    overviews: new Overviews({ db, clock }),
    imports,
    post,
    tell: options.tell ?? (() => undefined),
    siteUrl: () => config.baseUrl ?? localUrl(options.host, port),
  }
  const published = publicSurfaces(needs, config)
  const { rateLimitStore } = config
  const isShared = rateLimitStore === 'database' || (rateLimitStore === 'auto' && options.isOneOfSeveral)
  const handle = dispatcher({
    surfaces: [...published.surfaces, webSurface(needs, tracking.live)],
    pages: [
      ...published.pages,
      ...pages(core, seen.registry, options.host),
      ...tracking.endpoints,
      ...webPages(webFolder, published.primaryBase),
    ],
    authenticator: principals,
    limiter: isShared ? databaseLimiter(db, millis) : memoryLimiter(millis),
    millis,
    edgeFilter: config.edgeFilter,
    trustProxy: config.trustProxy,
    onAnswered: seen.answered,
    onBug: seen.bug,
  })
  const http: HttpServer = await listen({ host: options.host, port: options.port, millis, handle })
  port = http.port
  const mqtt = await openMqtt(core, tracking, options.log, options.isOneOfSeveral)
  const stopHousekeeping = housekeeping(core, useLog, options.log)
  return {
    port: http.port,
    notices: mqtt.notice === null ? [] : [mqtt.notice],
    async close(graceMs) {
      await Promise.all([http.close(graceMs), mqtt.close(), webhooks.stop(graceMs)])
      await tracking.stop()
      await imports.close()
      await post.close()
      await stopHousekeeping()
    },
  }
}
