import { setImmediate as nextTick } from 'node:timers/promises'
import { type Clock, now } from '../kernel/clock.ts'
import { type Instant, instantFromMillis, millisOf } from '../kernel/instant.ts'
import type { Database } from '../db/database.ts'
import { type RecordedMove, recentMoves } from './moves.sql.ts'

export type LiveEvent = { kind: 'move'; move: RecordedMove } | { kind: 'readers' } | { kind: 'gap' }

type Listener = (events: readonly LiveEvent[]) => void

interface Audience {
  listeners: Set<Listener>
  since: Instant
  told: Set<string>
  isLooking: boolean
  lookAgain: boolean
}

/** Moves committed a little out of order are still found: each look reaches back this far. */
const overlapMs = 10_000
const atOnce = 500
/** Sockets are flushed between event-loop ticks: a burst of moves fills the buffer of no client that reads. */
const movesPerTick = 10

/**
 * Passes on what happens in an organization to whoever watches, in this process or another. News only say that there is
 * something; what it is, is read from the database, so that no process needs to be told everything.
 */
export class LiveFeed {
  readonly #db: Database
  readonly #clock: Clock
  readonly #audiences = new Map<number, Audience>()

  constructor(deps: { db: Database; clock: Clock }) {
    this.#db = deps.db
    this.#clock = deps.clock
  }

  watch(orgId: number, listener: Listener, closed: AbortSignal): void {
    const audience = this.#audiences.get(orgId) ?? this.#newAudience(orgId)
    audience.listeners.add(listener)
    closed.addEventListener('abort', () => {
      audience.listeners.delete(listener)
      if (audience.listeners.size === 0) this.#audiences.delete(orgId)
    })
  }

  #newAudience(orgId: number): Audience {
    const audience = { listeners: new Set<Listener>(), since: now(this.#clock), told: new Set<string>() }
    const whole = { ...audience, isLooking: false, lookAgain: false }
    this.#audiences.set(orgId, whole)
    return whole
  }

  /** There are new moves in the organization. */
  async moved(orgId: number): Promise<void> {
    const audience = this.#audiences.get(orgId)
    if (audience === undefined) return
    audience.lookAgain = true
    if (audience.isLooking) return
    audience.isLooking = true
    try {
      while (audience.lookAgain) {
        audience.lookAgain = false
        await this.#look(orgId, audience)
      }
    } finally {
      audience.isLooking = false
    }
  }

  readersActive(orgId: number): void {
    this.#tell(this.#audiences.get(orgId), [{ kind: 'readers' }])
  }

  /** News may have been missed: everybody looks for themselves. */
  gap(): void {
    for (const [orgId, audience] of this.#audiences) {
      this.#tell(audience, [{ kind: 'gap' }])
      void this.moved(orgId).catch(() => undefined)
    }
  }

  async #look(orgId: number, audience: Audience): Promise<void> {
    const from = instantFromMillis(Math.max(millisOf(audience.since) - overlapMs, 0))
    const moves = await recentMoves(this.#db.read, orgId, from > audience.since ? audience.since : from, atOnce)
    const fresh = moves.filter((move) => !audience.told.has(move.deliveryId) && move.recordedAt >= audience.since)
    if (moves.length === atOnce && fresh.length === atOnce) this.#tell(audience, [{ kind: 'gap' }])
    const events = fresh.reverse().map((move) => ({ kind: 'move', move }) as const)
    for (let start = 0; start < events.length; start += movesPerTick) {
      if (start > 0) await nextTick()
      this.#tell(audience, events.slice(start, start + movesPerTick))
    }
    audience.told = new Set(moves.map((move) => move.deliveryId))
  }

  #tell(audience: Audience | undefined, events: readonly LiveEvent[]): void {
    for (const listener of audience?.listeners ?? []) listener(events)
  }
}
