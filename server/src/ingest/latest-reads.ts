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

export const wantedTopic = 'reads-wanted'
export const readsTopic = 'reads'

interface Watch {
  untilMs: number
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
  readonly #pubsub: PubSub
  readonly #own = new LRUCache<number, LatestRead[]>({ max: 1000 })
  readonly #watches = new LRUCache<number, Watch>({ max: 100 })
  readonly #watchPublishedAtMs = new LRUCache<number, number>({ max: 100 })
  readonly #pending = new Set<number>()

  constructor(clock: Clock, pubsub: PubSub) {
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
  async latest(readerId: number): Promise<LatestRead[]> {
    const nowMs = this.#clock.millis()
    if (
      this.#watch(readerId) === undefined ||
      nowMs - (this.#watchPublishedAtMs.get(readerId) ?? 0) > watchEventIntervalMs
    ) {
      this.#watchPublishedAtMs.set(readerId, nowMs)
      await this.#pubsub.publish(wantedTopic, String(readerId))
    }
    return this.#watches.get(readerId)?.published.toReversed() ?? []
  }

  /**
   * Called when a client watches the reader, in this process or another. The reads that this process has kept are
   * published first.
   */
  onWatch(payload: string): void {
    const readerId = Number(payload)
    const untilMs = this.#clock.millis() + watchMs
    const watch = this.#watch(readerId)
    if (watch !== undefined) watch.untilMs = untilMs
    else this.#watches.set(readerId, { untilMs, unpublished: [...(this.#own.get(readerId) ?? [])], published: [] })
    this.#pending.add(readerId)
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
