import { refuse } from '../kernel/errors.ts'

export interface GateLimits {
  /** Requests that are worked on at the same time. */
  atOnce: number
  /** Requests that may wait for their turn. */
  waiting: number
  /** How long one may wait. */
  patienceMs: number
  /** How long the word is held back from those for whom there is no room. */
  refusalMs: number
}

/** An organization, or null for everybody who has not said who they are. */
type Key = number | null

interface Group {
  readonly key: Key
  running: number
  waiting: Ticket[]
}

interface Ticket {
  readonly sinceMs: number
  readonly isGone: () => boolean
  readonly admit: () => void
  readonly turnAway: (error: Error) => void
}

const lookEveryMs = 500

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
  readonly #turns = new Set<Group>()
  #running = 0
  #waiting = 0
  #timer: NodeJS.Timeout | undefined

  constructor(limits: GateLimits) {
    this.#limits = limits
    this.#share = Math.ceil(limits.atOnce * 0.75)
  }

  get running(): number {
    return this.#running
  }

  get waiting(): number {
    return this.#waiting
  }

  /** Undefined when there is room at once, else what to wait for. Whoever is let in must leave again. */
  enter(key: Key, isGone: () => boolean): Promise<void> | undefined {
    const group = this.#groups.get(key) ?? { key, running: 0, waiting: [] }
    if (group.waiting.length === 0 && this.#running < this.#limits.atOnce && group.running < this.#share) {
      this.#groups.set(key, group)
      this.#begin(group)
      return undefined
    }
    if (!this.#mayWait(group)) return this.#turnAway()
    this.#groups.set(key, group)
    this.#turns.add(group)
    this.#waiting++
    this.#timer ??= setInterval(() => this.#turnAwayLate(), lookEveryMs).unref()
    return new Promise((admit, turnAway) => {
      group.waiting.push({ sinceMs: performance.now(), isGone, admit, turnAway })
    })
  }

  leave(key: Key): void {
    const group = this.#groups.get(key)!
    group.running--
    this.#running--
    this.#forget(group)
    this.#admitNext()
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

  #admitNext(): void {
    const nowMs = performance.now()
    for (const group of this.#turns) {
      if (this.#running >= this.#limits.atOnce) return
      if (group.running >= this.#share) continue
      const ticket = this.#call(group)
      // Behind the others, who have not had their turn.
      if (this.#turns.delete(group) && group.waiting.length > 0) this.#turns.add(group)
      if (ticket.isGone() || nowMs - ticket.sinceMs > this.#limits.patienceMs) ticket.turnAway(refuse.busy())
      else {
        this.#begin(group)
        ticket.admit()
      }
      this.#forget(group)
    }
  }

  #call(group: Group): Ticket {
    this.#waiting--
    return group.waiting.shift()!
  }

  #begin(group: Group): void {
    group.running++
    this.#running++
  }

  #forget(group: Group): void {
    if (group.waiting.length === 0) this.#turns.delete(group)
    if (group.waiting.length === 0 && group.running === 0) this.#groups.delete(group.key)
  }

  #turnAwayLate(): void {
    const lastMs = performance.now() - this.#limits.patienceMs
    for (const group of this.#turns) {
      while (group.waiting.length > 0 && group.waiting[0]!.sinceMs < lastMs) this.#call(group).turnAway(refuse.busy())
      this.#forget(group)
    }
    if (this.#waiting > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}
