import type { Database } from '../db/database.ts'
import { type Clock, now } from '../kernel/clock.ts'
import { type Activity, noteActivity } from '../readers/readers.sql.ts'
import type { Device } from '../readers/reader.ts'
import {
  type AntennaReads,
  maxAntennas,
  maxTopicLength,
  maxTopics,
  noteAntennas,
  noteUnknownTopics,
} from '../readers/unknown.sql.ts'
import type { TagDraft } from '../tags/tag.ts'
import { type UnknownRead, noteUnknownTags } from '../tracking/unknown-tags.sql.ts'
import { tagKey } from '../tracking/tag-read.ts'

interface Ledger {
  activities: Map<number, Activity>
  /** Reads per antenna of each reader. */
  antennas: Map<number, Map<number, number>>
  unknown: Map<string, UnknownRead>
}

/** How many different unknown tags are remembered between two writings; past that they are only counted as ignored. */
const maxUnknown = 1000

/** Keeps book on readers and on tags nobody knows, in memory, and writes it down every few moments. */
export class ReaderActivityBuffer {
  readonly #db: Database
  readonly #clock: Clock
  #ledgers = new Map<number, Ledger>()
  #topics = new Map<string, number>()

  constructor(deps: { db: Database; clock: Clock }) {
    this.#db = deps.db
    this.#clock = deps.clock
  }

  #ledger(orgId: number): Ledger {
    const ledger = this.#ledgers.get(orgId) ?? { activities: new Map(), antennas: new Map(), unknown: new Map() }
    this.#ledgers.set(orgId, ledger)
    return ledger
  }

  /** `warning` null leaves the last one standing, an empty one clears it. */
  note(device: Device, taken: { messages: number; accepted: number; ignored: number; warning: string | null }): void {
    const { activities } = this.#ledger(device.orgId)
    const known = activities.get(device.readerId)
    activities.set(device.readerId, {
      readerId: device.readerId,
      lastSeenAt: now(this.#clock),
      messages: (known?.messages ?? 0) + taken.messages,
      reads: (known?.reads ?? 0) + taken.accepted,
      ignored: (known?.ignored ?? 0) + taken.ignored,
      warning: taken.warning ?? known?.warning ?? null,
    })
  }

  noteAntennas(device: Device, reads: readonly { antenna: number }[]): void {
    const { antennas } = this.#ledger(device.orgId)
    const counts = antennas.get(device.readerId) ?? new Map<number, number>()
    antennas.set(device.readerId, counts)
    for (const { antenna } of reads)
      if (counts.size < maxAntennas || counts.has(antenna)) counts.set(antenna, (counts.get(antenna) ?? 0) + 1)
  }

  /** A message came under a topic that leads to no reader. */
  noteTopic(given: string): void {
    const topic = given.slice(0, maxTopicLength).replace(/[\p{Cc}\p{Cs}]/gu, '\uFFFD')
    if (this.#topics.size < maxTopics || this.#topics.has(topic))
      this.#topics.set(topic, (this.#topics.get(topic) ?? 0) + 1)
  }

  noteUnknown(device: Device, tags: readonly { tag: TagDraft; antenna: number }[]): void {
    const { unknown } = this.#ledger(device.orgId)
    for (const { tag, antenna } of tags) {
      const known = unknown.get(tagKey(tag))
      if (known !== undefined) known.reads++
      else if (unknown.size < maxUnknown)
        unknown.set(tagKey(tag), { tag, readerId: device.readerId, antenna, reads: 1 })
    }
  }

  /** Writes down what is noted; the organizations it did so for. */
  async flush(): Promise<number[]> {
    const ledgers = this.#ledgers
    this.#ledgers = new Map()
    const topics = this.#topics
    this.#topics = new Map()
    for (const [orgId, { activities, antennas, unknown }] of ledgers)
      await this.#db.withTenant(
        orgId,
        async (tx) => {
          if (activities.size > 0) await noteActivity(tx, orgId, [...activities.values()])
          const reads = readsOf(antennas)
          if (reads.length > 0) await noteAntennas(tx, orgId, reads, now(this.#clock))
          if (unknown.size > 0) await noteUnknownTags(tx, orgId, [...unknown.values()], now(this.#clock))
        },
        { asyncCommit: true },
      )
    if (topics.size > 0) await this.#db.globalTransaction((tx) => noteUnknownTopics(tx, topics, now(this.#clock)))
    return [...ledgers.keys()]
  }
}

const readsOf = (antennas: Ledger['antennas']): AntennaReads[] =>
  [...antennas].flatMap(([readerId, counts]) => [...counts].map(([antenna, reads]) => ({ readerId, antenna, reads })))
