import type { Logger } from 'pino'
import type { SignupPolicy } from '../accounts/signup-policy.ts'
import { webSurface } from '../api/web/surface.ts'
import { Imports, progressTopic } from '../bulk/imports.ts'
import { WindowCounter } from '../admission/window-counter.ts'
import type { Config } from '../config/config.ts'
import { Principals } from '../credentials/authenticate.ts'
import { revocationTopic } from '../credentials/commands.ts'
import { OpenStreams } from '../credentials/open-streams.ts'
import { databaseLimiter, migratingLimiter } from '../credentials/shared-buckets.ts'
import { Throttle } from '../credentials/throttle.ts'
import { signingKeysTopic } from '../credentials/signing-keys.ts'
import { AccessTokens } from '../credentials/tokens.ts'
import { UseLog } from '../credentials/use-log.ts'
import { isOfFamily } from '../db/connect.ts'
import type { DispatchNeeds } from '../http/dispatch.ts'
import { type RateLimiter, memoryLimiter } from '../http/rate-limit.ts'
import { isLoopback } from '../kernel/address.ts'
import { Post } from '../mail/post.ts'
import type { Reader } from '../readers/reader.ts'
import { Overviews } from '../tracking/overview.ts'
import type { Core } from './core.ts'
import { housekeeping } from './housekeeping.ts'
import { ingestAddresses, readerAddresses } from './own-address.ts'
import { publicSurfaces } from './surfaces.ts'
import type { Tracking } from './tracking.ts'
import { webFolder, webPages } from './web-app.ts'
import type { Webhooks } from './webhooks.ts'

export interface Api extends Pick<DispatchNeeds, 'surfaces' | 'pages' | 'authenticator' | 'limiter'> {
  /** Called once news are heard and before anything is answered: tells the other processes of this one. */
  join(): Promise<void>
  /** News may have been missed. */
  missedNews: () => void
  stop(): Promise<void>
}

interface ApiOptions {
  isOneOfSeveral: boolean
  log: Logger
  tell?: (line: string) => void
  siteUrl: () => string
}

const streamCheckMs = 1000

/** What a process has to offer that does not answer the API. */
export const noApi: Api = {
  surfaces: [],
  pages: [],
  authenticator: { authenticate: () => Promise.resolve(null) },
  limiter: memoryLimiter(() => 0),
  join: async () => undefined,
  missedNews: () => undefined,
  stop: async () => undefined,
}

/** Wires the surfaces, the web app, and who may use them. */
export function startApi(
  core: Core,
  options: ApiOptions,
  { tracking, webhooks }: { tracking: Tracking; webhooks: Webhooks },
): Api {
  const { config, db, clock, environment, wake } = core
  const { log } = options
  const tokens = new AccessTokens({ ...core.keys, environment, clock })
  const reloadKeys = async (): Promise<void> => tokens.replaceKeys(await core.keyStore.signingKeys(db))
  wake.on(signingKeysTopic, reloadKeys)
  const useLog = new UseLog(db.background, clock)
  const isListening = (): boolean => wake.isListening()
  const onUse: UseLog['note'] = (caller) => useLog.note(caller)
  const principals = new Principals({ db: db.authentication, clock, environment, tokens, isListening, onUse })
  const streams = new OpenStreams({
    clock,
    maxPerPrincipal: config.liveStreamsPerUser,
    maxPerOrg: config.liveStreamsPerOrg,
    isCurrent: (caller) => principals.isCurrent(caller),
  })
  wake.on(revocationTopic, (keys) => {
    for (const key of keys.split(',')) {
      principals.forget(key)
      streams.endRevoked(key)
    }
  })
  // While this process cannot receive notifications, open streams are checked in the database instead.
  const streamCheck = setInterval(() => void (isListening() || streams.checkAll()), streamCheckMs)
  streamCheck.unref()
  const post = new Post({
    url: config.mailUrl,
    from: config.mailFrom,
    onFailure: (error) => log.error({ event: 'mail.failed', err: error }, 'mail not sent'),
  })
  const imports = new Imports({
    ...{ db: db.background, clock, ids: core.ids, quotas: core.quotas, wake },
    onFailure: (error) => log.error({ event: 'import.failed', err: error }, 'import given up'),
  })
  wake.on(progressTopic, (payload) => imports.heard(payload))
  const signups = signupPolicy(config)
  const needs = {
    db,
    authentication: db.authentication,
    clock,
    ids: core.ids,
    quotas: core.quotas,
    environment,
    tokens,
    throttle: new Throttle(db, clock),
    exchanges: new WindowCounter({
      ...{ max: config.exchangeLimit, windowMs: 60_000 },
      millis: () => clock.millis(),
    }),
    wake,
    unknownReadersOrg: config.unknownReadersOrg,
    announce: tracking.announce,
    latestReads: tracking.latestReads,
    addresses: (reader: Reader) => ingestAddresses(readerAddresses(config, config.port), reader),
    moved: tracking.moved,
    seal: webhooks.seal,
    sendTest: webhooks.sendTest,
    onDropped: webhooks.onDropped,
    overviews: new Overviews({ db, clock }),
    imports,
    post,
    signups,
    tell: options.tell ?? (() => undefined),
    siteUrl: options.siteUrl,
  }
  const published = publicSurfaces(needs, config)
  const { limiter, join } = chooseLimiter(core, options)
  const stopHousekeeping = housekeeping(core, useLog, log)
  return {
    surfaces: [...published.surfaces, webSurface(needs, tracking.live, streams)],
    pages: [...published.pages, ...webPages(webFolder, published.primaryBase, signups.mode)],
    authenticator: principals,
    limiter,
    join,
    missedNews() {
      principals.forgetAll()
      void reloadKeys().catch((error: unknown) =>
        log.error({ event: 'signing_keys.failed', err: error }, 'signing keys not reloaded'),
      )
      void streams.checkAll()
    },
    async stop() {
      clearInterval(streamCheck)
      await imports.close()
      await post.close()
      await stopHousekeeping()
    },
  }
}

function signupPolicy({ signup, signupLimit, host }: Config): SignupPolicy {
  const isLocalOnly = isLoopback(host)
  const mode = signup === 'auto' ? (isLocalOnly ? 'open' : 'invite-only') : signup
  return { mode, maxPerHour: signupLimit, isLocalOnly }
}

const joinTopic = 'api-joined'

/**
 * Where token buckets live. A process that serves alone keeps them in memory. As soon as several processes serve, whether
 * workers of one start or another start, the database decides: it is the one place all of them share, so the limit is exact
 * and no process depends on another. Requests that arrive together are decided by one statement.
 */
function chooseLimiter(
  { config, db, clock, wake, family }: Core,
  { isOneOfSeveral }: ApiOptions,
): { limiter: RateLimiter; join: () => Promise<void> } {
  const millis = (): number => clock.millis()
  const tellOthers = (): Promise<void> => wake.announce(joinTopic, family)
  if (config.rateLimitStore === 'memory') return { limiter: memoryLimiter(millis), join: tellOthers }
  if (config.rateLimitStore === 'database' || isOneOfSeveral)
    return { limiter: databaseLimiter(db, millis), join: tellOthers }
  const limiter = migratingLimiter(db, millis)
  let isOpen = false
  wake.on(joinTopic, (joined) => (isOpen && joined !== family ? limiter.migrate() : undefined))
  return {
    limiter,
    async join() {
      await tellOthers()
      isOpen = true
      if ((await db.listeners()).some((name) => !isOfFamily(name, family))) await limiter.migrate()
    },
  }
}
