import type { Logger } from 'pino'
import type { SignupPolicy } from '../accounts/signup-policy.ts'
import { sessionSurface } from '../api/session/surface.ts'
import { ImportProgress, progressTopic } from '../bulk/import-progress.ts'
import { ImportQueue } from '../bulk/import-queue.ts'
import { ImportService } from '../bulk/import-service.ts'
import { WindowCounter } from '../admission/window-counter.ts'
import type { Config } from '../config/config.ts'
import { PrincipalCache } from '../auth/principal-cache.ts'
import { revocationTopic } from '../auth/commands.ts'
import { FamilyLimit } from '../auth/family-limit.ts'
import { OpenStreams } from '../auth/open-streams.ts'
import { databaseLimiter, migratingLimiter } from '../auth/shared-buckets.ts'
import { LoginThrottle } from '../auth/login-throttle.ts'
import { signingKeysTopic } from '../auth/signing-keys.ts'
import { AccessTokens } from '../auth/tokens.ts'
import { LastUsedRecorder } from '../auth/last-used-recorder.ts'
import { isSameInstanceGroup } from '../db/create-database.ts'
import type { DispatcherDeps } from '../http/dispatcher-deps.ts'
import { type RateLimiter, memoryLimiter } from '../http/rate-limit.ts'
import { systemClock } from '../kernel/clock.ts'
import { isLoopback } from '../kernel/ip-range.ts'
import { Mailer } from '../mail/mailer.ts'
import type { Reader } from '../readers/reader.ts'
import { OverviewCache } from '../tracking/report/overview-cache.ts'
import { bulkMetrics } from './bulk-metrics.ts'
import type { AppContext } from './context.ts'
import { startHousekeeping } from '../jobs/housekeeping.ts'
import { ingestAddresses, readerAddresses } from './local-url.ts'
import { publicSurfaces } from './surfaces.ts'
import type { Telemetry } from './telemetry.ts'
import type { Tracking } from './tracking.ts'
import { webFolder } from './installation.ts'
import { webAppRoutes } from './web-app.ts'
import type { Webhooks } from './webhooks.ts'

export interface Api extends Pick<
  DispatcherDeps,
  'surfaces' | 'rawRoutes' | 'authenticator' | 'limiter' | 'addTransfer'
> {
  /** Publishes that this process has joined. Called after it has subscribed to events and before it answers requests. */
  join(): Promise<void>
  /** Called when events may have been missed. */
  onMissedEvents: () => void
  endStreams: () => void
  stop(): Promise<void>
}

interface ApiOptions {
  isOneOfSeveral: boolean
  log: Logger
  notifyOperator?: (line: string) => void
  siteUrl: () => string
  metrics: Pick<Telemetry, 'registry' | 'runJob'>
}

const streamCheckMs = 1000
/** A process that was killed between a change and its event has not published it. */
const streamRecheckMs = 60_000

/** The API of a process that does not have the role `api`. */
export const noApi: Api = {
  surfaces: [],
  rawRoutes: [],
  authenticator: { authenticate: () => Promise.resolve(null) },
  limiter: memoryLimiter(systemClock),
  addTransfer: () => undefined,
  join: async () => undefined,
  onMissedEvents: () => undefined,
  endStreams: () => undefined,
  stop: async () => undefined,
}

/** Wires the surfaces, the web app and authentication. */
export function startApi(
  context: AppContext,
  options: ApiOptions,
  { tracking, webhooks }: { tracking: Tracking; webhooks: Webhooks },
): Api {
  const { config, db, clock, environment, pubsub } = context
  const { log } = options
  const tokens = new AccessTokens({ ...context.keys, environment, clock })
  const lastUsed = new LastUsedRecorder(db.background, clock)
  const principals = new PrincipalCache({ db: db.authentication, clock, environment, tokens, pubsub, lastUsed })
  const streams = new OpenStreams({
    clock,
    maxPerPrincipal: config.liveStreamsPerUser,
    isCurrent: (principal) => principals.isCurrent(principal),
  })
  const reloadKeys = async (): Promise<void> => {
    tokens.replaceKeys(await context.keyStore.signingKeys(db))
    streams.endWithoutKey((kid) => tokens.hasKey(kid))
  }
  pubsub.on(signingKeysTopic, reloadKeys)
  pubsub.on(revocationTopic, (keys) => {
    for (const key of keys.split(',')) {
      principals.invalidate(key)
      streams.endRevoked(key)
    }
  })
  // While this process cannot receive revocation events, open streams are checked in the database instead.
  let checkedAtMs = clock.millis()
  const checkStreams = (): void => {
    if (pubsub.isConnected() && clock.millis() - checkedAtMs < streamRecheckMs) return
    checkedAtMs = clock.millis()
    void streams.checkAll()
  }
  const streamCheck = setInterval(checkStreams, streamCheckMs)
  streamCheck.unref()
  const mailer = new Mailer({
    url: config.mailUrl,
    from: config.mailFrom,
    onFailure: (error) => log.error({ event: 'mail.failed', err: error }, 'mail not sent'),
  })
  const importProgress = new ImportProgress(pubsub)
  const importDeps = {
    progress: importProgress,
    db,
    clock,
    ids: context.ids,
    quotas: context.quotas,
    onFailure: (error: unknown) => log.error({ event: 'import.failed', err: error }, 'import aborted'),
  }
  const { onEnded, watch: watchQueue } = bulkMetrics(options.metrics.registry)
  const importQueue = new ImportQueue({ ...importDeps, background: db.background, onEnded })
  watchQueue(importQueue)
  pubsub.on(progressTopic, (payload) => importProgress.onEvent(payload))
  const signups = signupPolicy(config)
  const deps = {
    db,
    authentication: db.authentication,
    clock,
    ids: context.ids,
    quotas: context.quotas,
    environment,
    tokens,
    throttle: new LoginThrottle(db.authentication, clock),
    exchanges: new WindowCounter({ max: config.exchangeLimit, windowMs: 60_000, clock }),
    familyLimit: new FamilyLimit(),
    pubsub,
    unknownReadersOrg: config.unknownReadersOrg,
    publishAndWait: tracking.publishAndWait,
    latestReads: tracking.latestReads,
    addresses: (reader: Reader) => ingestAddresses(readerAddresses(config, config.port), reader),
    moved: tracking.moved,
    secretBox: webhooks.secretBox,
    sendTest: webhooks.sendTest,
    onDropped: webhooks.onDropped,
    overviews: new OverviewCache({ db, clock }),
    imports: new ImportService({ ...importDeps, queue: importQueue }),
    live: tracking.live,
    streams,
    mailer,
    signups,
    notifyOperator: options.notifyOperator ?? (() => undefined),
    siteUrl: options.siteUrl,
  }
  const published = publicSurfaces(deps, config)
  const { limiter, join, joinAgain } = chooseLimiter(context, options)
  const stopHousekeeping = startHousekeeping(context, lastUsed, options.metrics.runJob)
  return {
    surfaces: [...published.surfaces, sessionSurface(deps)],
    rawRoutes: [...published.pages, ...webAppRoutes(webFolder, published.primaryBase, signups.mode)],
    authenticator: principals,
    limiter,
    addTransfer: (transfer) => streams.addTransfer(transfer),
    join,
    onMissedEvents() {
      principals.invalidateAll()
      importProgress.onMissedEvents()
      void reloadKeys().catch((error: unknown) =>
        log.error({ event: 'signing_keys.failed', err: error }, 'signing keys not reloaded'),
      )
      void streams.checkAll()
      void joinAgain().catch((error: unknown) =>
        log.error({ event: 'rate_limit.failed', err: error }, 'other processes not looked for'),
      )
    },
    endStreams: () => streams.endAll(),
    async stop() {
      clearInterval(streamCheck)
      await importQueue.close()
      await mailer.close()
      await stopHousekeeping()
    },
  }
}

function signupPolicy({ signup, signupLimit, host, trustProxy }: Config): SignupPolicy {
  const isLocalOnly = isLoopback(host) && !trustProxy
  const mode = signup === 'auto' ? (isLocalOnly ? 'open' : 'invite-only') : signup
  return { mode, maxPerHour: signupLimit, isLocalOnly }
}

const joinTopic = 'api-joined'

/**
 * Chooses where the token buckets are stored. A single process keeps them in memory. As soon as there are several processes,
 * whether workers of one start or of another start, they are in the database, which all processes share: the limit is exact,
 * and no process depends on another. Concurrent requests are batched into one statement. `joinAgain` is called when events
 * may have been missed: neither of two processes may have noticed the other while the connection for events was lost.
 */
function chooseLimiter(
  { config, db, clock, pubsub, instanceGroup }: AppContext,
  { isOneOfSeveral }: ApiOptions,
): { limiter: RateLimiter; join: () => Promise<void>; joinAgain: () => Promise<void> } {
  const publishJoin = (): Promise<void> => pubsub.publishAndWait(joinTopic, instanceGroup)
  const fixed = { join: publishJoin, joinAgain: async () => undefined }
  if (config.rateLimitStore === 'memory') return { limiter: memoryLimiter(clock), ...fixed }
  if (config.rateLimitStore === 'database' || isOneOfSeveral)
    return { limiter: databaseLimiter(db.authentication, clock), ...fixed }
  const limiter = migratingLimiter(db.authentication, clock)
  let hasJoined = false
  pubsub.on(joinTopic, (group) => (hasJoined && group !== instanceGroup ? limiter.migrate() : undefined))
  const join = async (): Promise<void> => {
    await publishJoin()
    hasJoined = true
    if ((await db.listeners()).some((name) => !isSameInstanceGroup(name, instanceGroup))) await limiter.migrate()
  }
  return { limiter, join, joinAgain: async () => (hasJoined ? join() : undefined) }
}
