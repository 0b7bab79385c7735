import type { Logger } from 'pino'
import { FairQueue } from '../admission/fair-queue.ts'
import { ReaderActivityBuffer } from '../ingest/reader-activity-buffer.ts'
import { ReaderCache } from '../ingest/reader-cache.ts'
import { ingestRoutes } from '../ingest/http-ingest.ts'
import { ReadIngestor } from '../ingest/read-ingestor.ts'
import { LatestReads, readsTopic, shown, wantedTopic } from '../ingest/latest-reads.ts'
import { now } from '../kernel/clock.ts'
import type { RawRoute } from '../http/dispatcher.ts'
import type { Device, LatestRead } from '../readers/reader.ts'
import { readerChangedTopic } from '../readers/commands.ts'
import { LiveFeed } from '../tracking/live-feed.ts'
import type { AppContext } from './context.ts'
import { cut } from './log.ts'

const flushMs = 2000
/** News of moves are gathered this long, so that a busy site does not send one per move. */
const gatherMs = 100
const tellReadsMs = 1000

/** Messages of readers in flight over HTTP. They share transactions, so many may be; each holds its body in memory. */
const messageLimits = { maxInFlight: 256, maxWaitingPerTenant: 256, maxWaiting: 512, timeoutMs: 8000 }

export interface Tracking {
  live: LiveFeed
  intake: ReadIngestor
  devices: ReaderCache
  endpoints: RawRoute[]
  /** Something of this organization moved: whoever watches is told. */
  moved: (orgId: number) => void
  /** Once this is over, every process knows that the reader was changed. */
  publishAndWait: (readerId: number) => Promise<void>
  /** News may have been missed: nothing that lives on news is believed any longer. */
  onMissedEvents: () => void
  /** A reader's MQTT connection came or went. */
  noteConnection: (device: Device, isConnected: boolean) => void
  /** The latest reads of a reader, newest first; who asks watches it. */
  latestReads: (readerId: number) => Promise<LatestRead[]>
  stop(): Promise<void>
}

/** Wires everything between a reader's message and whoever watches the moves. */
export function startTracking(context: AppContext, log: Logger): Tracking {
  const { db, clock, pubsub, config } = context
  const live = new LiveFeed({ db, clock })
  const devices = new ReaderCache({ db: db.authentication, clock, isConnected: () => pubsub.isConnected() })
  const book = new ReaderActivityBuffer({ db: db.background, clock })
  const latestReads = new LatestReads({
    millis: () => clock.millis(),
    send: (topic, text) => pubsub.publish(topic, text),
  })
  const movedIn = new Set<number>()
  const intake = new ReadIngestor({
    db: db.background,
    clock,
    queue: new FairQueue({ maxInFlight: config.databasePool }),
    retentionDays: config.retentionDays,
    onTaken(device, taken) {
      book.note(device, { ...taken, messages: 1 })
      book.noteAntennas(device, taken.reads)
      const receivedAt = now(clock)
      const latest = taken.reads.slice(-shown).map(({ tagType: type, value, antenna, rssiDbm, observedAt }) => {
        return { tag: { type, value }, antenna, rssiDbm, observedAt, receivedAt }
      })
      latestReads.note(device.readerId, latest)
    },
    onUnknown: (device, reads) =>
      book.noteUnknown(
        device,
        reads.map((read) => ({ tag: { type: read.tagType, value: read.value }, antenna: read.antenna })),
      ),
    onMoved: (orgId) => movedIn.add(orgId),
    onQuarantine(why, topic) {
      if (why === 'unknown reader') book.noteTopic(topic)
      log.warn({ event: 'ingest.quarantined', why, topic: cut(topic, 256) }, 'message put aside')
    },
  })
  pubsub.on('moved', (payload) => {
    for (const id of payload.split(',')) void live.moved(Number(id)).catch(() => undefined)
  })
  pubsub.on('readers', (payload) => {
    for (const id of payload.split(',')) live.readersActive(Number(id))
  })
  pubsub.on(wantedTopic, (payload) => latestReads.onWatch(payload))
  pubsub.on(readsTopic, (payload) => latestReads.onReads(payload))
  pubsub.on(readerChangedTopic, () => devices.forgetAll())

  const tell = async (): Promise<void> => {
    const ids = [...movedIn]
    movedIn.clear()
    for (let start = 0; start < ids.length; start += 300)
      await pubsub.publish('moved', ids.slice(start, start + 300).join(','))
  }
  const writeDown = async (): Promise<void> => {
    const ids = await book.flush()
    for (let start = 0; start < ids.length; start += 300)
      await pubsub.publish('readers', ids.slice(start, start + 300).join(','))
  }
  const guarded = (job: string, work: () => Promise<void>) => () =>
    void work().catch((error: unknown) => log.warn({ event: 'job.failed', job, err: error }, 'job failed'))
  const timers = [
    setInterval(guarded('tell-moves', tell), gatherMs),
    setInterval(guarded('reader-activity', writeDown), flushMs),
    setInterval(
      guarded('latest-reads', () => latestReads.publish()),
      tellReadsMs,
    ),
  ]
  for (const timer of timers) timer.unref()

  return {
    live,
    intake,
    devices,
    endpoints: ingestRoutes(devices, intake, new FairQueue(messageLimits)),
    moved: (orgId) => movedIn.add(orgId),
    publishAndWait: (readerId) => pubsub.publishAndWait(readerChangedTopic, String(readerId)),
    latestReads: (readerId) => latestReads.latest(readerId),
    onMissedEvents() {
      devices.forgetAll()
      live.missedEvents()
    },
    noteConnection: (device, isConnected) =>
      book.note(device, {
        messages: 0,
        accepted: 0,
        ignored: 0,
        warning: isConnected ? '' : 'The MQTT connection ended',
      }),
    async stop() {
      for (const timer of timers) clearInterval(timer)
      await writeDown().catch(() => undefined)
      await tell().catch(() => undefined)
    },
  }
}
