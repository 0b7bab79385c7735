/** An organization, or null for everybody who has not said who they are. */
export type Key = number | null

/** What one organization wants of this process at present, over all ways in. */
export interface Want {
  readonly key: Key
  lastBegunMs: number
  running: number
  /** Running or waiting. */
  count: number
  /** Since when it is much. */
  muchSinceMs: number
  /** Places that are kept free, because as much was done in them. */
  resting: number
  /** What is to be rested for, as time under way, counted up to a moment. */
  workedMs: number
  countedMs: number
}

export interface TurnLimits {
  /** What one that wants much has under way while others ask. */
  atOnce: number
  /** Wanting so much is not much. */
  calm: number
  /** Wanting more for so long is a burst: things pile up for everybody when the process or the database stalls. */
  burstMs?: number
}

/** A way in lets on those who wait in it and may begin. */
type LetOn = (nowMs: number) => void

/** Who asked within this time counts as asking. */
const presentMs = 1000
/** After so long without a beginning there is a place more, so that what is slow does not hold up everything else. */
const slowMs = 100
/** After what was done a place rests so many times as long: others have most of the loop and of the database. */
const restFactor = 5
/** No timer for less; it is added to the next rest. */
const shortestRestMs = 1

/**
 * Does nothing while one organization has the process to itself, or wants no more than a few things at once. While others
 * ask too, one that wants more has only those few under way, over all ways in together; and when it goes on wanting more,
 * fewer still, and rests in between: others find the loop and the database free, and whoever floods waits for itself. A
 * rest is as long as what was done took, times a factor, so many small things get as much as a few large ones. It is never
 * longer than it takes until there is a place more.
 */
export class Turns {
  readonly #limits: Required<TurnLimits>
  readonly #wants = new Map<number, Want>()
  readonly #ways: LetOn[] = []
  readonly #nowMs: () => number
  readonly #later: (work: () => void, ms: number) => void
  // Two moments tell whether somebody else is here: of the last to ask, and of the last other one.
  readonly #nobody = newWant(null, 0)
  #total = 0
  #latest: Key = null
  #latestMs = -Infinity
  #otherMs = -Infinity

  constructor(
    limits: TurnLimits,
    nowMs = () => performance.now(),
    later: (work: () => void, ms: number) => void = (work, ms) => void setTimeout(work, ms).unref(),
  ) {
    this.#limits = { burstMs: 0, ...limits }
    this.#nowMs = nowMs
    this.#later = later
  }

  nowMs(): number {
    return this.#nowMs()
  }

  /** A way in, called when it may let on one of those who wait in it. */
  addWay(letOn: LetOn): void {
    this.#ways.push(letOn)
  }

  /** Somebody asks, and is to begin or to wait. What is large counts as several things. */
  arrive(key: Key, nowMs: number, things = 1): Want {
    if (key === null) return this.#nobody
    this.#note(key, nowMs)
    let want = this.#wants.get(key)
    if (want === undefined) {
      want = newWant(key, nowMs)
      this.#wants.set(key, want)
    }
    const { calm } = this.#limits
    if (want.count <= calm && want.count + things > calm) want.muchSinceMs = nowMs
    want.count += things
    this.#total += things
    return want
  }

  /** What is large is never part of a burst of small things. */
  hasRoom(want: Want, nowMs: number, isLarge = false): boolean {
    const taken = want.running + want.resting
    if (taken < this.#limits.atOnce || !this.#isHeldBack(want, nowMs)) return true
    if (!isLarge && taken < this.#limits.calm && this.#isBurst(want, nowMs)) return true
    return nowMs - want.lastBegunMs >= slowMs
  }

  /** It wants much, and others ask too. */
  #isHeldBack(want: Want, nowMs: number): boolean {
    return want.count > this.#limits.calm && this.#isMuch(want) && this.hasOthers(want.key, nowMs)
  }

  #isBurst({ muchSinceMs }: Want, nowMs: number): boolean {
    return nowMs - muchSinceMs < this.#limits.burstMs
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
    work(want, nowMs)
    want.lastBegunMs = nowMs
    want.running++
  }

  /** It is done. Who waits elsewhere comes before who waits in the same way in. */
  end(want: Want, own: LetOn, isLarge = false): void {
    const nowMs = this.#nowMs()
    work(want, nowMs)
    want.running--
    this.depart(want)
    const isWaitedFor = want.count > want.running
    const mayRest = isLarge || !this.#isBurst(want, nowMs)
    if (isWaitedFor && mayRest && this.#isHeldBack(want, nowMs)) this.#rest(want, own)
    else want.workedMs = 0
    if (isWaitedFor) this.#letOnElsewhere(own, nowMs)
  }

  #letOnElsewhere(own: LetOn, nowMs: number): void {
    for (const way of this.#ways) if (way !== own) way(nowMs)
  }

  #rest(want: Want, own: LetOn): void {
    const forMs = Math.min(want.workedMs * restFactor, slowMs)
    if (forMs < shortestRestMs) return
    want.workedMs = 0
    want.resting++
    this.#later(() => {
      want.resting--
      const nowMs = this.#nowMs()
      this.#letOnElsewhere(own, nowMs)
      own(nowMs)
    }, forMs)
  }

  /** It is done, or will not be done. */
  depart(want: Want, things = 1): void {
    if (want.key === null) return
    this.#total -= things
    want.count -= things
    if (want.count === 0) this.#wants.delete(want.key)
  }

  #note(key: number, nowMs: number): void {
    if (key !== this.#latest) {
      this.#otherMs = this.#latestMs
      this.#latest = key
    }
    this.#latestMs = nowMs
  }
}

const newWant = (key: Key, nowMs: number): Want => {
  return {
    key,
    lastBegunMs: nowMs,
    running: 0,
    count: 0,
    muchSinceMs: nowMs,
    resting: 0,
    workedMs: 0,
    countedMs: nowMs,
  }
}

/** Counts what was under way until now. */
function work(want: Want, nowMs: number): void {
  want.workedMs += want.running * (nowMs - want.countedMs)
  want.countedMs = nowMs
}

/** Where nobody has to wait for a turn. */
export const noTurns = (): Turns => new Turns({ atOnce: Infinity, calm: Infinity })
