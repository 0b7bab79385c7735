/** An organization, or null for everybody who has not said who they are. */
export type Key = number | null

/** What one organization wants of this process at present, over all ways in. */
export interface Want {
  readonly key: Key
  lastBegunMs: number
  running: number
  /** Running or waiting. */
  count: number
}

/** Who asked within this time counts as asking. */
const presentMs = 1000
/** After so long without a beginning there is a place more, so that what is slow does not hold up everything else. */
const slowMs = 100

/**
 * Does nothing while one organization has the process to itself, or wants no more than a few things at once. While others
 * ask too, one that wants more has few of them under way, over all ways in together: others find the loop and the database
 * free, and whoever floods waits for itself.
 */
export class Turns {
  /** Of one that wants much, while others ask. */
  readonly #atOnce: number
  /** Wanting so much is not much. */
  readonly #calm: number
  readonly #wants = new Map<number, Want>()
  readonly #ways: ((nowMs: number) => void)[] = []
  readonly #nowMs: () => number
  // Two moments tell whether somebody else is here: of the last to ask, and of the last other one.
  readonly #nobody: Want = { key: null, lastBegunMs: 0, running: 0, count: 0 }
  #total = 0
  #latest: Key = null
  #latestMs = -Infinity
  #otherMs = -Infinity

  constructor({ atOnce, calm }: { atOnce: number; calm: number }, nowMs = () => performance.now()) {
    this.#atOnce = atOnce
    this.#calm = calm
    this.#nowMs = nowMs
  }

  nowMs(): number {
    return this.#nowMs()
  }

  /** A way in, called when it may let on one of those who wait in it. */
  addWay(letOn: (nowMs: number) => void): void {
    this.#ways.push(letOn)
  }

  /** Somebody asks, and is to begin or to wait. */
  arrive(key: Key, nowMs: number): Want {
    if (key === null) return this.#nobody
    this.#note(key, nowMs)
    let want = this.#wants.get(key)
    if (want === undefined) {
      want = { key, lastBegunMs: nowMs, running: 0, count: 0 }
      this.#wants.set(key, want)
    }
    want.count++
    this.#total++
    return want
  }

  hasRoom(want: Want, nowMs: number): boolean {
    if (want.running < this.#atOnce || !this.isHeldBack(want, nowMs)) return true
    return nowMs - want.lastBegunMs >= slowMs
  }

  /** It wants much, and others ask too. */
  isHeldBack(want: Want, nowMs: number): boolean {
    return want.count > this.#calm && this.#isMuch(want) && this.hasOthers(want.key, nowMs)
  }

  /** At least half of what organizations want on average: one that others made late is not held up for it. */
  #isMuch({ count }: Want): boolean {
    return count * 2 * this.#wants.size >= this.#total
  }

  /** Whether another organization asks too. */
  hasOthers(key: Key, nowMs: number): boolean {
    return key !== null && nowMs - (key === this.#latest ? this.#otherMs : this.#latestMs) < presentMs
  }

  begin(want: Want, nowMs: number): void {
    want.lastBegunMs = nowMs
    want.running++
  }

  /** It is done. Who waits elsewhere comes before who waits in the same way in. */
  end(want: Want, own: (nowMs: number) => void): void {
    want.running--
    this.depart(want)
    if (want.count === want.running) return
    const nowMs = this.#nowMs()
    for (const way of this.#ways) if (way !== own) way(nowMs)
  }

  /** It is done, or will not be done. */
  depart(want: Want): void {
    if (want.key === null) return
    this.#total--
    if (--want.count === 0) this.#wants.delete(want.key)
  }

  #note(key: number, nowMs: number): void {
    if (key !== this.#latest) {
      this.#otherMs = this.#latestMs
      this.#latest = key
    }
    this.#latestMs = nowMs
  }
}

/** Where nobody has to wait for a turn. */
export const noTurns = (): Turns => new Turns({ atOnce: Infinity, calm: Infinity })
