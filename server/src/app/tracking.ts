import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import type { ByteBudget } from '../admission/byte-budget.ts'
import { FairQueue } from '../admission/fair-queue.ts'
import { ReaderActivityBuffer } from '../ingest/reader-activity-buffer.ts'
import { ReaderCache } from '../ingest/reader-cache.ts'
import { ReaderRefusals } from '../ingest/reader-refusals.ts'
import { ingestRoutes } from '../ingest/http-ingest.ts'
import { ReadIngestor } from '../ingest/read-ingestor.ts'
import { LatestReads, readsTopic, maxLatestReads, wantedTopic } from '../ingest/latest-reads.ts'
import type { PubSub } from '../db/pubsub.ts'
import { now } from '../kernel/clock.ts'
import type { RawRoute } from '../http/route.ts'
import type { RunJob } from '../jobs/run-job.ts'
import type { Device, LatestRead } from '../readers/reader.ts'
import { readerChangedTopic } from '../readers/commands.ts'
import { LiveFeed } from '../tracking/live-feed.ts'
import type { AppContext } from './context.ts'
import { ingestMetrics } from './ingest-metrics.ts'

const flushMs = 2000
/** Move events are batched for this long, so that a busy site does not publish one event per move. */
const publishMovesMs = 100
const publishReadsMs = 1000

/** How long messages of readers and batches of reads wait for a slot. */
export const messageTimeoutMs = 8000

/** Limits for reader messages over HTTP. They share transactions, so many may be in flight; each has its body in memory. */
const messageLimits = { maxInFlight: 256, maxWaitingPerTenant: 256, maxWaiting: 512, timeoutMs: messageTimeoutMs }

export interface Tracking {
  live: LiveFeed
  ingestor: ReadIngestor
  readerCache: ReaderCache
  endpoints: RawRoute[]
  refusals: ReaderRefusals
  /** Messages of readers over HTTP. */
  queue: FairQueue
  /** Publishes that assets of the organization have moved. */
  moved: (orgId: number) => void
  /** Resolves when every process has processed the change of the reader. */
  publishAndWait: (readerId: number) => Promise<void>
  /** Called when events may have been missed. Discards the caches that depend on events. */
  onMissedEvents: () => void
  /** Records that a reader has connected or disconnected over MQTT. */
  noteConnection: (device: Device, isConnected: boolean) => void
  /** Returns the latest reads of a reader, newest first, and keeps collecting them for a while. */
  latestReads: (orgId: number, readerId: number) => Promise<LatestRead[]>
  stop(): Promise<void>
}

/** Wires the path from a reader's message to the live feed. */
export function startTracking(
  context: AppContext,
  log: Logger,
  registry: Registry,
  runJob: RunJob,
  { bodyBudget, anonymousQueue }: { bodyBudget: ByteBudget; anonymousQueue: FairQueue },
): Tracking {
  const { db, clock, pubsub, config } = context
  const live = new LiveFeed({ db, clock })
  const readerCache = new ReaderCache({
    db: db.authentication,
    clock,
    pubsub,
    anonymousQueue,
    ownerOf: (id) => context.ids.ownerOf(id),
  })
  const activity = new ReaderActivityBuffer({ db: db.background, clock })
  const latestReads = new LatestReads(clock, pubsub)
  const metrics = ingestMetrics(registry)
  const refusals = new ReaderRefusals(log, metrics.refused)
  const movedOrgs = new Set<number>()
  const moved = (orgId: number): void => void movedOrgs.add(orgId)
  const ingestor = createIngestor(context, { activity, latestReads, metrics, refusals, moved })
  subscribeToEvents(pubsub, { live, latestReads, readerCache })

  const publishMoves = async (): Promise<void> => {
    const ids = [...movedOrgs]
    movedOrgs.clear()
    await publishIds(pubsub, 'moved', ids)
  }
  const flushActivity = async (): Promise<void> => publishIds(pubsub, 'readers', await activity.flush())
  const timers = [
    setInterval(() => void runJob('publish-moves', publishMoves), publishMovesMs),
    setInterval(() => void runJob('reader-activity', flushActivity), flushMs),
    setInterval(() => void runJob('latest-reads', () => latestReads.publish()), publishReadsMs),
  ]
  for (const timer of timers) timer.unref()

  const queue = new FairQueue(messageLimits)
  return {
    live,
    ingestor,
    readerCache,
    queue,
    refusals,
    endpoints: ingestRoutes({
      readers: readerCache,
      ingestor,
      queue,
      bodyBudget,
      refusals,
      trustProxy: config.trustProxy,
    }),
    moved,
    publishAndWait: (readerId) => pubsub.publishAndWait(readerChangedTopic, String(readerId)),
    latestReads: (orgId, readerId) => latestReads.latest(orgId, readerId),
    onMissedEvents() {
      readerCache.invalidateAll()
      live.missedEvents()
    },
    noteConnection: (device, isConnected) =>
      activity.note(device, {
        messages: 0,
        accepted: 0,
        ignored: 0,
        warning: isConnected ? '' : 'The MQTT connection ended',
      }),
    async stop() {
      for (const timer of timers) clearInterval(timer)
      refusals.close()
      await flushActivity().catch(() => undefined)
      await publishMoves().catch(() => undefined)
    },
  }
}

interface IngestorDeps {
  activity: ReaderActivityBuffer
  latestReads: LatestReads
  metrics: ReturnType<typeof ingestMetrics>
  refusals: ReaderRefusals
  moved: (orgId: number) => void
}

function createIngestor(context: AppContext, deps: IngestorDeps): ReadIngestor {
  const { db, clock, config } = context
  const { activity, latestReads, metrics, refusals } = deps
  const ingestor = new ReadIngestor({
    db: db.background,
    clock,
    queue: new FairQueue({ maxInFlight: config.databasePool, timeoutMs: messageTimeoutMs }),
    retentionDays: config.retentionDays,
    quotas: context.quotas,
    onRecorded(device, receipt) {
      activity.note(device, { ...receipt, messages: 1 })
      activity.noteAntennas(device, receipt.reads)
      const receivedAt = now(clock)
      const latest = receipt.reads
        .slice(-maxLatestReads)
        .map(({ tagType: type, value, antenna, rssiDbm, observedAt }) => {
          return { tag: { type, value }, antenna, rssiDbm, observedAt, receivedAt }
        })
      latestReads.note(device.readerId, latest)
    },
    onUnknown: (device, reads) =>
      activity.noteUnknown(
        device,
        reads.map(({ read: { tagType: type, value, antenna }, observedAt }) => ({
          tag: { type, value },
          antenna,
          observedAt,
        })),
      ),
    onMoved: deps.moved,
    onCounted: ({ format }, outcomes, late) => metrics.counted(format, outcomes, late),
    onBatch: metrics.batch,
    onRefused(refusal) {
      if (refusal.reason === 'unknown_topic') activity.noteTopic(refusal.topic ?? '')
      refusals.note({ ...refusal, transport: 'mqtt' })
    },
  })
  metrics.watchWaitingBytes(() => ingestor.waitingBytes)
  return ingestor
}

interface EventReceivers {
  live: LiveFeed
  latestReads: LatestReads
  readerCache: ReaderCache
}

function subscribeToEvents(pubsub: PubSub, { live, latestReads, readerCache }: EventReceivers): void {
  pubsub.on('moved', (payload) => {
    for (const id of payload.split(',')) void live.moved(Number(id)).catch(() => undefined)
  })
  pubsub.on('readers', (payload) => {
    for (const id of payload.split(',')) live.readersActive(Number(id))
  })
  pubsub.on(wantedTopic, (payload) => latestReads.onWatch(payload))
  pubsub.on(readsTopic, (payload) => latestReads.onReads(payload))
  pubsub.on(readerChangedTopic, (readerId) =>
    readerId === '' ? readerCache.invalidateAll() : readerCache.invalidate(Number(readerId)),
  )
}

/** The payload of a notification is limited to 8,000 bytes. */
const maxIdsPerEvent = 300

async function publishIds(pubsub: PubSub, topic: string, ids: readonly number[]): Promise<void> {
  for (let start = 0; start < ids.length; start += maxIdsPerEvent)
    await pubsub.publish(topic, ids.slice(start, start + maxIdsPerEvent).join(','))
}
