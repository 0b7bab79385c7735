import { LRUCache } from 'lru-cache'
import type { Instant } from '../kernel/instant.ts'
import type { PubSub } from '../db/pubsub.ts'
import type { Clock } from '../kernel/clock.ts'
import type { LatestRead } from '../readers/reader.ts'
import type { TagType } from '../tags/tag.ts'

/** The maximum number of reads kept per reader, and published at once. */
export const maxLatestReads = 50
/** PostgreSQL limits a notification to 8,000 bytes. */
const maxPayloadBytes = 7000
/** A watch ends after this time; clients that watch a reader poll more often. */
const watchMs = 30_000
/** The minimum time between two `reads-wanted` events for the same watch. */
const watchEventIntervalMs = 10_000
/** Watches of one organization, and of all. One that would be more ends the one that was not used for the longest time. */
const maxWatchesPerOrg = 20
const maxWatches = 1000

export const wantedTopic = 'reads-wanted'
export const readsTopic = 'reads'

interface Watch {
  orgId: number
  untilMs: number
  /** When this process published the watch; 0 if another process did. */
  publishedAtMs: number
  /** Received by this process and not published yet. */
  unpublished: LatestRead[]
  /** Published by any process, including this one; newest last. */
  published: LatestRead[]
}

type Packed = [type: TagType, value: string, antenna: number, rssi: number | null, observed: string | null, at: string]

const pack = (read: LatestRead): Packed => [
  read.tag.type,
  read.tag.value,
  read.antenna,
  read.rssiDbm,
  read.observedAt,
  read.receivedAt,
]

const unpack = ([type, value, antenna, rssiDbm, observedAt, receivedAt]: Packed): LatestRead => ({
  tag: { type, value },
  antenna,
  rssiDbm,
  observedAt: observedAt as Instant | null,
  receivedAt: receivedAt as Instant,
})

/**
 * The latest reads of the readers that a client watches, the same in every process. A watch is published to all
 * processes, and each publishes the reads that it receives from then on, at most once per second. Reads are kept in
 * memory only; a reader without a watch costs no messages between processes.
 */
export class LatestReads {
  readonly #clock: Clock
  readonly #pubsub: Pick<PubSub, 'publish'>
  readonly #own = new LRUCache<number, LatestRead[]>({ max: 1000 })
  readonly #watches = new LRUCache<number, Watch>({ max: maxWatches })
  readonly #pending = new Set<number>()

  constructor(clock: Clock, pubsub: Pick<PubSub, 'publish'>) {
    this.#clock = clock
    this.#pubsub = pubsub
  }

  /** Called when this process has received reads of the reader. */
  note(readerId: number, reads: readonly LatestRead[]): void {
    this.#own.set(readerId, [...(this.#own.get(readerId) ?? []), ...reads].slice(-maxLatestReads))
    const watch = this.#watch(readerId)
    if (watch === undefined) return
    watch.unpublished = [...watch.unpublished, ...reads].slice(-maxLatestReads)
    this.#pending.add(readerId)
  }

  /** Returns the published reads of a reader, newest first, and starts or extends its watch. */
  async latest(orgId: number, readerId: number): Promise<LatestRead[]> {
    const nowMs = this.#clock.millis()
    const publishedAtMs = this.#watch(readerId)?.publishedAtMs ?? 0
    if (nowMs - publishedAtMs > watchEventIntervalMs) {
      const published = this.#pubsub.publish(wantedTopic, `${readerId} ${orgId}`)
      // The event has reached this process already.
      const watch = this.#watch(readerId)
      if (watch !== undefined) watch.publishedAtMs = nowMs
      await published
    }
    return this.#watches.get(readerId)?.published.toReversed() ?? []
  }

  /**
   * Called when a client watches the reader, in this process or another. The reads that this process has kept are
   * published first.
   */
  onWatch(payload: string): void {
    // A process of the previous release sends no organization.
    const [readerId = 0, orgId = 0] = payload.split(' ').map(Number)
    const untilMs = this.#clock.millis() + watchMs
    const watch = this.#watch(readerId)
    if (watch !== undefined) watch.untilMs = untilMs
    else {
      this.#endWatchOverLimit(orgId)
      const unpublished = [...(this.#own.get(readerId) ?? [])]
      this.#watches.set(readerId, { orgId, untilMs, publishedAtMs: 0, unpublished, published: [] })
    }
    this.#pending.add(readerId)
  }

  #endWatchOverLimit(orgId: number): void {
    const ofOrg = [...this.#watches.entries()].filter(([, watch]) => watch.orgId === orgId)
    if (ofOrg.length >= maxWatchesPerOrg) this.#watches.delete(ofOrg.at(-1)![0])
  }

  /** Called when a process, possibly this one, has published reads. */
  onReads(payload: string): void {
    const [, id, text] = /^(\d+) (.*)$/s.exec(payload) ?? []
    const watch = this.#watch(Number(id))
    if (watch === undefined || text === undefined) return
    const all = [...watch.published, ...(JSON.parse(text) as Packed[]).map(unpack)]
    watch.published = all
      .toSorted((a, b) => Number(a.receivedAt > b.receivedAt) - Number(a.receivedAt < b.receivedAt))
      .slice(-maxLatestReads)
  }

  /** Publishes the reads received since the last call. */
  async publish(): Promise<void> {
    const readerIds = [...this.#pending]
    this.#pending.clear()
    for (const readerId of readerIds) {
      const watch = this.#watch(readerId)
      if (watch === undefined || watch.unpublished.length === 0) continue
      const text = newestThatFit(watch.unpublished)
      watch.unpublished = []
      await this.#pubsub.publish(readsTopic, `${readerId} ${text}`)
    }
  }

  #watch(readerId: number): Watch | undefined {
    const watch = this.#watches.get(readerId)
    return watch !== undefined && watch.untilMs > this.#clock.millis() ? watch : undefined
  }
}

/** The newest reads that fit into one message. */
function newestThatFit(reads: readonly LatestRead[]): string {
  const kept: string[] = []
  let bytes = 0
  for (const read of reads.toReversed()) {
    const text = JSON.stringify(pack(read))
    bytes += Buffer.byteLength(text) + 1
    if (bytes > maxPayloadBytes) break
    kept.unshift(text)
  }
  return `[${kept.join(',')}]`
}
