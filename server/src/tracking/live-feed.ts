import { setImmediate as nextTick } from 'node:timers/promises'
import { type Clock, now } from '../kernel/clock.ts'
import { type Instant, instantFromMillis, millisOf } from '../kernel/instant.ts'
import type { Database } from '../db/database.ts'
import {
  type MovePosition,
  type RecordedMove,
  countMovesSince,
  latestPositions,
  movesAfter,
  movesAt,
} from './moves.sql.ts'

export type LiveEvent = { kind: 'move'; move: RecordedMove } | { kind: 'readers' } | { kind: 'gap' }

type Listener = (events: readonly LiveEvent[]) => void

/** The live streams of one organization. */
interface Subscribers {
  listeners: Set<Listener>
  /** Moves that were recorded before this instant are not read any more. */
  since: Instant
  /** The delivery ids of the moves that were read last. They were published, or are older than the first stream. */
  known: ReadonlySet<string>
  isReading: boolean
  mustReadAgain: boolean
}

/** Each query overlaps the previous one by this much, because transactions do not end in the order in which they began. */
const overlapMs = 10_000
/** A query reads at most this many positions, so in an organization with more moves per second the overlap is shorter. */
const maxPositions = 2000
/** When more moves than this are new, streams get a gap and the latest ones. */
const maxNewMoves = 500
/** A client that resumes gets at most this many moves, of at most this age. */
export const maxReplayedMoves = 10_000
const maxReplayAgeMs = 86_400_000
const replayBatchSize = 200
const firstId = '00000000-0000-0000-0000-000000000000'

/** Sockets are flushed between event-loop ticks, so a burst of moves does not fill the buffer of a client that reads. */
const movesPerTick = 10

/**
 * Publishes the moves of an organization to its live streams. Events between processes only announce that there are new
 * moves; each process with subscribers reads the moves from the database.
 */
export class LiveFeed {
  readonly #db: Database
  readonly #clock: Clock
  readonly #subscribers = new Map<number, Subscribers>()

  constructor(deps: { db: Database; clock: Clock }) {
    this.#db = deps.db
    this.#clock = deps.clock
  }

  /** The recent moves that are committed already. A stream that is opened after this call does not get them. */
  earlierMoves(orgId: number): Promise<readonly MovePosition[]> {
    return latestPositions(this.#db.read, orgId, this.#overlapStart(), maxPositions)
  }

  /** Calls the listener for all moves but the earlier ones until the signal is aborted. */
  watch(orgId: number, earlier: readonly MovePosition[], listener: Listener, closed: AbortSignal): void {
    const subscribers = this.#subscribers.get(orgId) ?? this.#addOrganization(orgId, earlier)
    subscribers.listeners.add(listener)
    closed.addEventListener('abort', () => {
      subscribers.listeners.delete(listener)
      if (subscribers.listeners.size === 0) this.#subscribers.delete(orgId)
    })
  }

  /** The position of a stream that is opened now. */
  position(): MovePosition {
    return { recordedAt: now(this.#clock), deliveryId: firstId }
  }

  /**
   * The moves after a position in batches, or null when they are too many or too old. Moves that were recorded shortly
   * before the position come again, because they may have been committed after it. They are read over the connections of
   * searches, so that replays do not delay point reads.
   */
  async replay(orgId: number, { recordedAt, deliveryId }: MovePosition): Promise<AsyncIterable<RecordedMove[]> | null> {
    const millis = millisOf(recordedAt)
    if (millis < this.#clock.millis() - maxReplayAgeMs) return null
    const since = instantFromMillis(Math.max(millis - overlapMs, 0))
    const count = await countMovesSince(this.#db.searches(orgId), orgId, since, maxReplayedMoves + 1)
    return count > maxReplayedMoves ? null : this.#movesSince(orgId, since, deliveryId)
  }

  async *#movesSince(orgId: number, since: Instant, excludedId: string): AsyncGenerator<RecordedMove[]> {
    for (let after: MovePosition = { recordedAt: since, deliveryId: firstId }; ;) {
      const moves = await movesAfter(this.#db.searches(orgId), orgId, after, replayBatchSize)
      yield moves.filter((move) => move.deliveryId !== excludedId)
      if (moves.length < replayBatchSize) return
      after = moves.at(-1)!
    }
  }

  #addOrganization(orgId: number, earlier: readonly MovePosition[]): Subscribers {
    const subscribers: Subscribers = {
      listeners: new Set(),
      since: this.#overlapStart(),
      known: new Set(earlier.map((move) => move.deliveryId)),
      isReading: false,
      mustReadAgain: false,
    }
    this.#subscribers.set(orgId, subscribers)
    // Moves that were announced since the earlier moves were read.
    void this.moved(orgId).catch(() => undefined)
    return subscribers
  }

  #overlapStart(): Instant {
    return instantFromMillis(Math.max(this.#clock.millis() - overlapMs, 0))
  }

  /** Called when the organization has new moves. */
  async moved(orgId: number): Promise<void> {
    const subscribers = this.#subscribers.get(orgId)
    if (subscribers === undefined) return
    subscribers.mustReadAgain = true
    if (subscribers.isReading) return
    subscribers.isReading = true
    try {
      while (subscribers.mustReadAgain) {
        subscribers.mustReadAgain = false
        await this.#readMoves(orgId, subscribers)
      }
    } finally {
      subscribers.isReading = false
    }
  }

  readersActive(orgId: number): void {
    this.#publish(this.#subscribers.get(orgId), [{ kind: 'readers' }])
  }

  /** Called when events may have been missed: every client is asked to reload, and new moves are read. */
  missedEvents(): void {
    for (const [orgId, subscribers] of this.#subscribers) {
      this.#publish(subscribers, [{ kind: 'gap' }])
      void this.moved(orgId).catch(() => undefined)
    }
  }

  async #readMoves(orgId: number, subscribers: Subscribers): Promise<void> {
    const nextSince = this.#overlapStart()
    const positions = await latestPositions(this.#db.read, orgId, subscribers.since, maxPositions)
    const fresh = positions.filter(({ deliveryId }) => !subscribers.known.has(deliveryId))
    if (fresh.length > maxNewMoves) this.#publish(subscribers, [{ kind: 'gap' }])
    if (fresh.length > 0) {
      const moves = await movesAt(this.#db.read, orgId, fresh.slice(0, maxNewMoves))
      const events = moves.map((move) => ({ kind: 'move', move }) as const)
      for (let start = 0; start < events.length; start += movesPerTick) {
        if (start > 0) await nextTick()
        this.#publish(subscribers, events.slice(start, start + movesPerTick))
      }
    }
    subscribers.known = new Set(positions.map((move) => move.deliveryId))
    subscribers.since = nextSince
  }

  #publish(subscribers: Subscribers | undefined, events: readonly LiveEvent[]): void {
    for (const listener of subscribers?.listeners ?? []) listener(events)
  }
}
