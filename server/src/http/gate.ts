import { refuse } from '../kernel/errors.ts'
import type { Key, Turns, Want } from './turns.ts'

export interface GateLimits {
  /** Requests that are worked on at the same time. */
  atOnce: number
  /** Requests that may wait for their turn. */
  waiting: number
  /** How long one may wait. */
  patienceMs: number
  /** How long the word is held back from those for whom there is no room. */
  refusalMs: number
  /** What comes this way is large, and never a burst of small things. */
  isLarge?: boolean
}

interface Group {
  readonly key: Key
  readonly want: Want
  running: number
  waiting: Ticket[]
  /** Let on, and about to begin. */
  called: number
}

interface Ticket {
  readonly sinceMs: number
  readonly isGone: () => boolean
  readonly admit: () => void
  readonly turnAway: (error: Error) => void
}

const lookEveryMs = 100

/** For what nobody is refused, and only turns matter. */
export const boundless: GateLimits = { atOnce: Infinity, waiting: Infinity, patienceMs: Infinity, refusalMs: 0 }

/**
 * Lets in as many requests as can be worked on, lets some wait, and turns the rest away: more at the same time would make
 * all of them slower and none of them faster. Organizations take turns, and none ever holds all places, so whoever floods
 * waits for itself.
 *
 * Who is turned away hears of it a moment later. A thousand callers who ask again at once would otherwise keep the process
 * busy with refusing them, and of what it can do at its best a fiftieth would be left.
 */
export class Gate {
  readonly #limits: GateLimits
  /** The most that one organization may hold. */
  readonly #share: number
  readonly #groups = new Map<Key, Group>()
  /** Groups of which somebody waits, whose turn is next first. */
  readonly #queue = new Set<Group>()
  readonly #turns: Turns
  #running = 0
  #waiting = 0
  #timer: NodeJS.Timeout | undefined

  constructor(limits: GateLimits, turns: Turns) {
    this.#limits = limits
    this.#share = Math.ceil(limits.atOnce * 0.75)
    this.#turns = turns
    turns.addWay(this.#letOn)
  }

  get running(): number {
    return this.#running
  }

  get waiting(): number {
    return this.#waiting
  }

  /** Undefined when there is room at once, else what to wait for. Whoever is let in must leave again. */
  enter(key: Key, isGone: () => boolean): Promise<void> | undefined {
    const nowMs = this.#turns.nowMs()
    const want = this.#turns.arrive(key, nowMs)
    const group = this.#groups.get(key) ?? { key, want, running: 0, waiting: [], called: 0 }
    const isFirst = group.waiting.length === 0 && group.called === 0
    if (isFirst && this.#running < this.#limits.atOnce && this.#hasRoom(group, nowMs)) {
      this.#groups.set(key, group)
      this.#begin(group, nowMs)
      return undefined
    }
    if (!this.#mayWait(group)) {
      this.#turns.depart(want)
      return this.#turnAway()
    }
    this.#groups.set(key, group)
    this.#queue.add(group)
    this.#waiting++
    this.#timer ??= setInterval(() => this.#lookRound(), lookEveryMs).unref()
    return new Promise((admit, turnAway) => {
      group.waiting.push({ sinceMs: nowMs, isGone, admit, turnAway })
    })
  }

  leave(key: Key): void {
    const group = this.#groups.get(key)!
    group.running--
    this.#running--
    this.#forget(group)
    this.#turns.end(group.want, this.#letOn, this.#limits.isLarge)
    if (this.#queue.size > 0) this.#letOn(this.#turns.nowMs())
  }

  #hasRoom({ want, running }: Group, nowMs: number): boolean {
    return running < this.#share && this.#turns.hasRoom(want, nowMs, this.#limits.isLarge)
  }

  /** One group fills half of the room at most, and the first of another finds room even so. */
  #mayWait({ waiting }: Group): boolean {
    const { waiting: room } = this.#limits
    if (waiting.length === 0) return this.#waiting < 2 * room
    return this.#waiting < room && waiting.length < room / 2
  }

  #turnAway(): Promise<never> {
    return new Promise((_, turnAway) => {
      setTimeout(() => turnAway(refuse.busy()), this.#limits.refusalMs)
    })
  }

  readonly #letOn = (nowMs: number): void => {
    for (const group of this.#queue) {
      if (this.#running >= this.#limits.atOnce) return
      if (!this.#hasRoom(group, nowMs)) continue
      const ticket = this.#call(group)
      // Behind the others, who have not had their turn.
      if (this.#queue.delete(group) && group.waiting.length > 0) this.#queue.add(group)
      if (ticket.isGone() || nowMs - ticket.sinceMs > this.#limits.patienceMs) this.#refuse(group, ticket)
      else {
        this.#begin(group, nowMs)
        if (group.key === null || this.#turns.hasOthers(group.key, nowMs)) this.#admitSoon(group, ticket)
        else ticket.admit()
      }
      this.#forget(group)
    }
  }

  #call(group: Group): Ticket {
    this.#waiting--
    return group.waiting.shift()!
  }

  /** In a turn of the loop of its own, so that others are heard in between. */
  #admitSoon(group: Group, ticket: Ticket): void {
    group.called++
    setImmediate(() => {
      group.called--
      ticket.admit()
    })
  }

  #refuse(group: Group, ticket: Ticket): void {
    this.#turns.depart(group.want)
    ticket.turnAway(refuse.busy())
  }

  #begin(group: Group, nowMs: number): void {
    group.running++
    this.#running++
    this.#turns.begin(group.want, nowMs)
  }

  #forget(group: Group): void {
    if (group.waiting.length === 0) this.#queue.delete(group)
    if (group.waiting.length === 0 && group.running === 0) this.#groups.delete(group.key)
  }

  #lookRound(): void {
    const nowMs = this.#turns.nowMs()
    this.#turnAwayLate(nowMs - this.#limits.patienceMs)
    this.#letOn(nowMs)
    if (this.#waiting > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  /** Those who have waited too long, and those who wait no longer. */
  #turnAwayLate(lastMs: number): void {
    for (const group of this.#queue) {
      const before = group.waiting
      group.waiting = before.filter((ticket) => ticket.sinceMs >= lastMs && !ticket.isGone())
      if (group.waiting.length === before.length) continue
      this.#waiting -= before.length - group.waiting.length
      for (const ticket of before) if (!group.waiting.includes(ticket)) this.#refuse(group, ticket)
      this.#forget(group)
    }
  }
}
