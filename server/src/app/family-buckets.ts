import type { Worker } from 'node:cluster'
import type { BucketHome } from '../credentials/shared-buckets.ts'
import { type Drawn, type HeldBucket, type MemoryLimiter, memoryLimiter } from '../http/rate-limit.ts'

/** What a worker says to its supervisor. */
interface Said {
  draw?: [id: number, key: string][]
  /** What is left in buckets that were lent to it. */
  spent?: HeldBucket[]
  /** Buckets that were lent to it and are no longer its own. */
  returned?: HeldBucket[]
  leave?: true
  left?: true
}

/** What it hears. */
interface Heard {
  drawn?: [id: number, outcome: Outcome][]
  /** Buckets it is to return. */
  recall?: string[]
  held?: HeldBucket[]
  haveLeft?: true
}

/** Decided by the supervisor, perhaps for the last time; or for the worker to decide, who has the bucket; or null: they have left. */
type Outcome = (Drawn & { isLent?: true }) | 'yours' | null

/** After so many draws in a row a bucket is lent to the one that drew them. */
const steadyAfter = 3
/** How long the supervisor may not know what a worker drew. When one is killed, that much is forgiven. */
const tellMs = 50

/** Who ends meanwhile hears nothing any more; without somebody to tell, it would be an error of the whole process. */
const atTheEnd = (): void => undefined

/** The way to one worker: what it is to hear goes out together. */
class Line {
  readonly drawn: [id: number, outcome: Outcome][] = []
  readonly recall: string[] = []
  readonly #worker: Worker

  constructor(worker: Worker) {
    this.#worker = worker
  }

  tell(heard: Heard): void {
    if (this.#worker.isConnected()) this.#worker.send(heard, atTheEnd)
  }

  flush(): void {
    const drawn = this.drawn.splice(0)
    const recall = this.recall.splice(0)
    if (drawn.length > 0 || recall.length > 0)
      this.tell({ ...(drawn.length > 0 && { drawn }), ...(recall.length > 0 && { recall }) })
  }
}

interface Loan {
  readonly to: Line
  /** As far as is known. */
  bucket: HeldBucket
  /** What waits for its return, once it was asked for. */
  waiting: (() => void)[] | null
}

/**
 * The token buckets of all workers of one start, in the memory of the process that supervises them: it decides one draw
 * after the other, so they are exact, and the database has nothing to do with it. Most callers keep their connection, and
 * so their worker: it is lent the bucket and decides by itself. When another worker is asked by the same caller, the
 * supervisor takes the bucket back first. Nobody but the one that has a bucket draws from it.
 */
export class FamilyBuckets {
  readonly #here: MemoryLimiter
  readonly #loans = new Map<string, Loan>()
  /** Of what is here: who drew last, and how often in a row. */
  readonly #runs = new Map<string, { by: Line; length: number }>()
  readonly #lines = new Set<Line>()
  #taker: Line | null = null
  #isTaken = false
  #haveLeft = false
  /** What waits until the taker is done. */
  #waiting: (() => void)[] = []

  constructor(millis: () => number) {
    this.#here = memoryLimiter(millis, (full) => full.forEach(({ key }) => this.#runs.delete(key)))
  }

  serve(worker: Worker): void {
    const line = new Line(worker)
    this.#lines.add(line)
    const afterwards = (): void => this.#lines.forEach((each) => each.flush())
    worker.on('message', (said: Said) => {
      this.#hear(line, said)
      afterwards()
    })
    // Told after its last message, and always, unlike the end of its line. What a taker held that is gone is forgiven.
    worker.process.on('close', () => {
      this.#lines.delete(line)
      for (const loan of this.#loans.values()) if (loan.to === line) this.#takeBack(loan, loan.bucket)
      this.#leave(line)
      afterwards()
    })
  }

  #hear(line: Line, { draw = [], spent = [], returned = [], leave, left }: Said): void {
    for (const [id, key] of draw) this.#inTurn(() => this.#draw(line, id, key))
    for (const bucket of spent) {
      const loan = this.#loans.get(bucket.key)
      if (loan?.to === line) loan.bucket = bucket
    }
    for (const bucket of returned) {
      const loan = this.#loans.get(bucket.key)
      if (loan?.to !== line) continue
      // One that had filled up, and was not asked for, is lent again with the next draw.
      if (loan.waiting === null) this.#runs.set(bucket.key, { by: line, length: steadyAfter - 1 })
      this.#takeBack(loan, bucket)
    }
    if (leave !== undefined) this.#inTurn(() => this.#handOver(line))
    if (left !== undefined) this.#leave(line)
  }

  #inTurn(work: () => void): void {
    if (this.#taker === null) work()
    else this.#waiting.push(work)
  }

  #draw(line: Line, id: number, key: string): void {
    const loan = this.#loans.get(key)
    if (this.#haveLeft) line.drawn.push([id, null])
    else if (loan === undefined) line.drawn.push([id, this.#drawHere(line, key)])
    // Asked for before it heard that it has the bucket.
    else if (loan.to === line && loan.waiting === null) line.drawn.push([id, 'yours'])
    else this.#recall(loan).push(() => this.#draw(line, id, key))
  }

  #drawHere(line: Line, key: string): Outcome {
    const drawn = this.#here.draw(key)
    // What one asked for that is gone since is still decided, but nothing is lent to it.
    const mayLend = this.#taker === null && this.#lines.has(line)
    if (!this.#isSteady(line, key) || !mayLend) return drawn
    const bucket = this.#here.take(key)!
    this.#runs.delete(key)
    this.#loans.set(key, { to: line, bucket, waiting: null })
    return { ...drawn, isLent: true }
  }

  #isSteady(by: Line, key: string): boolean {
    const run = this.#runs.get(key)
    if (run?.by === by) return ++run.length >= steadyAfter
    this.#runs.set(key, { by, length: 1 })
    return false
  }

  #recall(loan: Loan): (() => void)[] {
    if (loan.waiting !== null) return loan.waiting
    loan.to.recall.push(loan.bucket.key)
    return (loan.waiting = [])
  }

  #takeBack(loan: Loan, bucket: HeldBucket): void {
    this.#loans.delete(bucket.key)
    this.#here.put(bucket)
    for (const work of loan.waiting ?? []) work()
    this.#giveWhenAllAreHere()
  }

  #handOver(line: Line): void {
    if (this.#haveLeft) return line.tell({ haveLeft: true })
    this.#taker = line
    for (const loan of this.#loans.values()) this.#recall(loan)
    this.#giveWhenAllAreHere()
  }

  #giveWhenAllAreHere(): void {
    if (this.#taker === null || this.#isTaken || this.#loans.size > 0) return
    this.#isTaken = true
    this.#taker.tell({ held: this.#here.contents() })
  }

  #leave(line: Line): void {
    if (this.#taker !== line) return
    this.#taker = null
    this.#haveLeft = true
    const waiting = this.#waiting
    this.#waiting = []
    for (const work of waiting) work()
  }
}

interface Draw {
  readonly key: string
  readonly resolve: (drawn: Drawn | null) => void
}

/** The line from a worker to its supervisor. */
export interface Supervisor {
  say: (said: Said) => void
  onHeard: (hear: (heard: Heard) => void) => void
}

const ownSupervisor: Supervisor = {
  say: (said) => void process.send?.(said, atTheEnd),
  onHeard: (hear) => void process.on('message', hear),
}

/**
 * A worker's way to the buckets of its family: those that were lent to it, and for all others the supervisor. Draws of
 * the same turn of the loop travel together.
 */
export function familyHome(millis: () => number, { say, onHeard }: Supervisor = ownSupervisor): BucketHome {
  const own = memoryLimiter(millis, (full) => say({ returned: full }))
  const underWay = new Map<number, Draw>()
  const untold = new Set<string>()
  let wanted: [id: number, key: string][] = []
  let lastId = 0
  let onLeave: ((held: HeldBucket[] | null) => void) | undefined

  function ask(draw: Draw): void {
    if (wanted.length === 0) setImmediate(askForWanted)
    underWay.set(++lastId, draw)
    wanted.push([lastId, draw.key])
  }

  function askForWanted(): void {
    say({ draw: wanted })
    wanted = []
  }

  function drawOwn(key: string): Drawn {
    if (untold.size === 0) setTimeout(tell, tellMs).unref()
    untold.add(key)
    return own.draw(key)
  }

  function tell(): void {
    const spent = [...untold].flatMap((key) => own.look(key) ?? [])
    untold.clear()
    if (spent.length > 0) say({ spent })
  }

  function settle(draw: Draw, outcome: Outcome): void {
    const { key, resolve } = draw
    if (outcome === 'yours') return own.has(key) ? resolve(drawOwn(key)) : ask(draw)
    if (outcome?.isLent) own.put({ key, tokens: outcome.tokens, filledAt: outcome.filledAt })
    resolve(outcome)
  }

  onHeard(({ drawn = [], recall = [], held, haveLeft }) => {
    for (const [id, outcome] of drawn) {
      const draw = underWay.get(id)!
      underWay.delete(id)
      settle(draw, outcome)
    }
    // One that is no longer here was returned when it had filled up.
    const returned = recall.flatMap((key) => own.take(key) ?? [])
    if (returned.length > 0) say({ returned })
    if (held !== undefined) onLeave?.(held)
    if (haveLeft !== undefined) onLeave?.(null)
  })

  return {
    draw: (key) => (own.has(key) ? drawOwn(key) : new Promise((resolve) => ask({ key, resolve }))),
    async leave(take) {
      const held = await new Promise<HeldBucket[] | null>((resolve) => {
        onLeave = resolve
        say({ leave: true })
      })
      if (held === null) return
      await take(held).finally(() => say({ left: true }))
    },
  }
}
