import type { Database } from '../db/database.ts'
import { type Clock, now } from '../kernel/clock.ts'
import type { Instant } from '../kernel/instant.ts'
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
import { type TagDraft, tagKey } from '../tags/tag.ts'
import { type UnknownRead, noteUnknownTags } from '../tracking/unknown-tags.sql.ts'

/** The unwritten activity of one organization. */
interface PendingActivity {
  activities: Map<number, Activity>
  /** Reads per antenna of each reader. */
  antennas: Map<number, Map<number, number>>
  unknown: Map<string, UnknownRead>
}

/** The maximum number of distinct unknown tags between two flushes; further ones are only counted as ignored. */
const maxUnknown = 1000

/** Buffers the activity of readers, unknown tags and unknown topics in memory until the next flush. */
export class ReaderActivityBuffer {
  readonly #db: Database
  readonly #clock: Clock
  #pending = new Map<number, PendingActivity>()
  #topics = new Map<string, number>()

  constructor(deps: { db: Database; clock: Clock }) {
    this.#db = deps.db
    this.#clock = deps.clock
  }

  #pendingOf(orgId: number): PendingActivity {
    const pending = this.#pending.get(orgId) ?? { activities: new Map(), antennas: new Map(), unknown: new Map() }
    this.#pending.set(orgId, pending)
    return pending
  }

  /** A `warning` of null keeps the previous warning, an empty one clears it. */
  note(
    device: Device,
    activity: { messages: number; accepted: number; ignored: number; warning: string | null },
  ): void {
    const { activities } = this.#pendingOf(device.orgId)
    const previous = activities.get(device.readerId)
    activities.set(device.readerId, {
      readerId: device.readerId,
      lastSeenAt: now(this.#clock),
      messages: (previous?.messages ?? 0) + activity.messages,
      reads: (previous?.reads ?? 0) + activity.accepted,
      ignored: (previous?.ignored ?? 0) + activity.ignored,
      warning: activity.warning ?? previous?.warning ?? null,
    })
  }

  noteAntennas(device: Device, reads: readonly { antenna: number }[]): void {
    const { antennas } = this.#pendingOf(device.orgId)
    const counts = antennas.get(device.readerId) ?? new Map<number, number>()
    antennas.set(device.readerId, counts)
    for (const { antenna } of reads)
      if (counts.size < maxAntennas || counts.has(antenna)) counts.set(antenna, (counts.get(antenna) ?? 0) + 1)
  }

  /** Counts a message whose topic belongs to no reader. */
  noteTopic(rawTopic: string): void {
    const topic = rawTopic.slice(0, maxTopicLength).replace(/[\p{Cc}\p{Cs}]/gu, '\uFFFD')
    if (this.#topics.size < maxTopics || this.#topics.has(topic))
      this.#topics.set(topic, (this.#topics.get(topic) ?? 0) + 1)
  }

  noteUnknown(device: Device, reads: readonly { tag: TagDraft; antenna: number; observedAt: Instant }[]): void {
    const { unknown } = this.#pendingOf(device.orgId)
    const { readerId } = device
    for (const { tag, antenna, observedAt } of reads) {
      const previous = unknown.get(tagKey(tag))
      if (previous === undefined && unknown.size >= maxUnknown) continue
      const isLatest = previous === undefined || observedAt >= previous.lastSeenAt
      const isFirst = previous === undefined || observedAt < previous.firstSeenAt
      unknown.set(tagKey(tag), {
        tag: previous?.tag ?? tag,
        reads: (previous?.reads ?? 0) + 1,
        firstSeenAt: isFirst ? observedAt : previous.firstSeenAt,
        ...(isLatest ? { readerId, antenna, lastSeenAt: observedAt } : latestOf(previous)),
      })
    }
  }

  /** Writes the buffered activity and returns the organizations that had any. */
  async flush(): Promise<number[]> {
    const pending = this.#pending
    this.#pending = new Map()
    const topics = this.#topics
    this.#topics = new Map()
    for (const [orgId, { activities, antennas, unknown }] of pending)
      await this.#db.withTenant(
        orgId,
        async (tx) => {
          if (activities.size > 0) await noteActivity(tx, orgId, [...activities.values()])
          const reads = readsOf(antennas)
          if (reads.length > 0) await noteAntennas(tx, orgId, reads, now(this.#clock))
          if (unknown.size > 0) await noteUnknownTags(tx, orgId, [...unknown.values()])
        },
        { asyncCommit: true },
      )
    if (topics.size > 0) await this.#db.globalTransaction((tx) => noteUnknownTopics(tx, topics, now(this.#clock)))
    return [...pending.keys()]
  }
}

const latestOf = ({ readerId, antenna, lastSeenAt }: UnknownRead) => ({ readerId, antenna, lastSeenAt })

const readsOf = (antennas: PendingActivity['antennas']): AntennaReads[] =>
  [...antennas].flatMap(([readerId, counts]) => [...counts].map(([antenna, reads]) => ({ readerId, antenna, reads })))
