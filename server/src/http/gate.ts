import { refuse } from '../kernel/errors.ts'
import { Company, type Key } from './company.ts'

export interface GateLimits {
  /** Requests that are worked on at the same time. */
  atOnce: number
  /** Requests of one organization at the same time while others ask too and it does not pause. */
  turns: number
  /** Requests that may wait for their turn. */
  waiting: number
  /** How long one may wait. */
  patienceMs: number
  /** How long the word is held back from those for whom there is no room. */
  refusalMs: number
}

interface Group {
  readonly key: Key
  /** It has had something to do ever since. */
  readonly busySinceMs: number
  lastBegunMs: number
  running: number
  waiting: Ticket[]
}

interface Ticket {
  readonly sinceMs: number
  readonly isGone: () => boolean
  readonly admit: () => void
  readonly turnAway: (error: Error) => void
}

const lookEveryMs = 100
/** Whoever has just begun may ask for a few things together, as a page of the web app does. */
const burst = { ms: 100, places: 8 }
/** After so long without a beginning an organization gets one more place, so that what is slow does not hold it up. */
const slowMs = 100

/**
 * Lets in as many requests as can be worked on, lets some wait, and turns the rest away: more at the same time would make
 * all of them slower and none of them faster. Organizations take turns, and none ever holds all places, so whoever floods
 * waits for itself.
 *
 * While others ask too, one that asks without a pause has only a few requests under way, and each of those that wait
 * begins in a turn of the loop of its own: others are served in between, and find the database free.
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
  readonly #turns = new Set<Group>()
  #running = 0
  #waiting = 0
  #timer: NodeJS.Timeout | undefined
  readonly #company: Company
  readonly #nowMs: () => number

  constructor(limits: GateLimits, company = new Company(), nowMs = () => performance.now()) {
    this.#limits = limits
    this.#share = Math.ceil(limits.atOnce * 0.75)
    this.#company = company
    this.#nowMs = nowMs
  }

  get running(): number {
    return this.#running
  }

  get waiting(): number {
    return this.#waiting
  }

  /** Undefined when there is room at once, else what to wait for. Whoever is let in must leave again. */
  enter(key: Key, isGone: () => boolean): Promise<void> | undefined {
    const nowMs = this.#nowMs()
    this.#company.note(key, nowMs)
    const group = this.#groups.get(key) ?? { key, busySinceMs: nowMs, lastBegunMs: nowMs, running: 0, waiting: [] }
    if (group.waiting.length === 0 && this.#running < this.#limits.atOnce && this.#hasRoom(group, nowMs)) {
      this.#groups.set(key, group)
      this.#begin(group, nowMs)
      return undefined
    }
    if (!this.#mayWait(group)) return this.#turnAway()
    this.#groups.set(key, group)
    this.#turns.add(group)
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
    if (this.#turns.size > 0) this.#admitNext(this.#nowMs())
  }

  #hasRoom({ key, busySinceMs, lastBegunMs, running }: Group, nowMs: number): boolean {
    if (running >= this.#share) return false
    if (running < this.#limits.turns || key === null || !this.#company.hasOthers(key, nowMs)) return true
    if (nowMs - busySinceMs < burst.ms) return running < burst.places
    return nowMs - lastBegunMs >= slowMs
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

  #admitNext(nowMs: number): void {
    for (const group of this.#turns) {
      if (this.#running >= this.#limits.atOnce) return
      if (!this.#hasRoom(group, nowMs)) continue
      const ticket = this.#call(group)
      // Behind the others, who have not had their turn.
      if (this.#turns.delete(group) && group.waiting.length > 0) this.#turns.add(group)
      if (ticket.isGone() || nowMs - ticket.sinceMs > this.#limits.patienceMs) ticket.turnAway(refuse.busy())
      else {
        this.#begin(group, nowMs)
        if (this.#company.hasOthers(group.key, nowMs)) setImmediate(ticket.admit)
        else ticket.admit()
      }
      this.#forget(group)
    }
  }

  #call(group: Group): Ticket {
    this.#waiting--
    return group.waiting.shift()!
  }

  #begin(group: Group, nowMs: number): void {
    group.lastBegunMs = nowMs
    group.running++
    this.#running++
  }

  #forget(group: Group): void {
    if (group.waiting.length === 0) this.#turns.delete(group)
    if (group.waiting.length === 0 && group.running === 0) this.#groups.delete(group.key)
  }

  #lookRound(): void {
    const nowMs = this.#nowMs()
    this.#turnAwayLate(nowMs - this.#limits.patienceMs)
    this.#admitNext(nowMs)
    if (this.#waiting > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #turnAwayLate(lastMs: number): void {
    for (const group of this.#turns) {
      while (group.waiting.length > 0 && group.waiting[0]!.sinceMs < lastMs) this.#call(group).turnAway(refuse.busy())
      this.#forget(group)
    }
  }
}
