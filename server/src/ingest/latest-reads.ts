import { LRUCache } from 'lru-cache'
import type { Instant } from '../kernel/instant.ts'
import type { LatestRead } from '../readers/reader.ts'
import type { TagType } from '../tags/tag.ts'

/** So many reads are shown of a reader, and so many of them are told at once. */
export const shown = 50
/** A message between processes may be 8,000 bytes long. */
const mostBytes = 7000
/** Who watches asks again long before this is over; each watch is announced at most this often. */
const watchedMs = 30_000
const announceMs = 10_000

export const wantedTopic = 'reads-wanted'
export const readsTopic = 'reads'

interface Watch {
  untilMs: number
  /** Taken by this process and not told yet. */
  untold: LatestRead[]
  /** Told by any process, this one included; newest last. */
  told: LatestRead[]
}

type Packed = [type: TagType, value: string, antenna: number, rssi: number | null, observed: string | null, at: string]

const pack = (one: LatestRead): Packed => [
  one.tag.type,
  one.tag.value,
  one.antenna,
  one.rssiDbm,
  one.observedAt,
  one.receivedAt,
]

const unpack = ([type, value, antenna, rssiDbm, observedAt, receivedAt]: Packed): LatestRead => ({
  tag: { type, value },
  antenna,
  rssiDbm,
  observedAt: observedAt as Instant | null,
  receivedAt: receivedAt as Instant,
})

/**
 * The latest reads of the readers that somebody watches, the same in every process: who watches is told to all of them,
 * and each tells all what it takes from then on, once a second at most. Nothing of it is written down, and readers that
 * nobody watches cost a little memory and no more.
 */
export class LatestReads {
  readonly #millis: () => number
  readonly #send: (topic: string, payload: string) => Promise<void>
  readonly #own = new LRUCache<number, LatestRead[]>({ max: 1000 })
  readonly #watches = new LRUCache<number, Watch>({ max: 100 })
  readonly #announced = new LRUCache<number, number>({ max: 100 })
  readonly #pending = new Set<number>()

  constructor(deps: { millis: () => number; send: (topic: string, payload: string) => Promise<void> }) {
    this.#millis = deps.millis
    this.#send = deps.send
  }

  /** This process took reads of the reader. */
  note(readerId: number, reads: readonly LatestRead[]): void {
    this.#own.set(readerId, [...(this.#own.get(readerId) ?? []), ...reads].slice(-shown))
    const watch = this.#watch(readerId)
    if (watch === undefined) return
    watch.untold = [...watch.untold, ...reads].slice(-shown)
    this.#pending.add(readerId)
  }

  /** What is known of a reader's latest reads, newest first; from now on it is watched. */
  async latest(readerId: number): Promise<LatestRead[]> {
    const nowMs = this.#millis()
    if (this.#watch(readerId) === undefined || nowMs - (this.#announced.get(readerId) ?? 0) > announceMs) {
      this.#announced.set(readerId, nowMs)
      await this.#send(wantedTopic, String(readerId))
    }
    return this.#watches.get(readerId)?.told.toReversed() ?? []
  }

  /** Somebody watches the reader, in this process or another: what is here already is told first. */
  heardWanted(payload: string): void {
    const readerId = Number(payload)
    const untilMs = this.#millis() + watchedMs
    const watch = this.#watch(readerId)
    if (watch !== undefined) watch.untilMs = untilMs
    else this.#watches.set(readerId, { untilMs, untold: [...(this.#own.get(readerId) ?? [])], told: [] })
    this.#pending.add(readerId)
  }

  heardReads(payload: string): void {
    const [, id, text] = /^(\d+) (.*)$/s.exec(payload) ?? []
    const watch = this.#watch(Number(id))
    if (watch === undefined || text === undefined) return
    const all = [...watch.told, ...(JSON.parse(text) as Packed[]).map(unpack)]
    watch.told = all
      .toSorted((a, b) => Number(a.receivedAt > b.receivedAt) - Number(a.receivedAt < b.receivedAt))
      .slice(-shown)
  }

  /** Tells everybody what was taken since the last time. */
  async tell(): Promise<void> {
    const readerIds = [...this.#pending]
    this.#pending.clear()
    for (const readerId of readerIds) {
      const watch = this.#watch(readerId)
      if (watch === undefined || watch.untold.length === 0) continue
      const text = fitting(watch.untold)
      watch.untold = []
      await this.#send(readsTopic, `${readerId} ${text}`)
    }
  }

  #watch(readerId: number): Watch | undefined {
    const watch = this.#watches.get(readerId)
    return watch !== undefined && watch.untilMs > this.#millis() ? watch : undefined
  }
}

/** The newest of them, as many as one message holds. */
function fitting(reads: readonly LatestRead[]): string {
  const kept: string[] = []
  let bytes = 0
  for (const read of reads.toReversed()) {
    const text = JSON.stringify(pack(read))
    bytes += Buffer.byteLength(text) + 1
    if (bytes > mostBytes) break
    kept.unshift(text)
  }
  return `[${kept.join(',')}]`
}
