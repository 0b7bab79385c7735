import type { Worker } from 'node:cluster'
import type { BucketHome, HeldBucket } from '../credentials/shared-buckets.ts'
import { type Drawn, memoryLimiter } from '../http/rate-limit.ts'

/** What a worker asks of its supervisor. */
interface Question {
  draw?: string[]
  leave?: true
  left?: true
}

/** What it hears. */
interface Answer {
  /** In the order they were asked for; null when the buckets have left. */
  drawn?: (Drawn | null)[]
  held?: HeldBucket[]
  haveLeft?: true
}

/** Who ends meanwhile hears nothing any more; without somebody to tell, it would be an error of the whole process. */
const atTheEnd = (): void => undefined

/**
 * The token buckets of all workers of one start, in the memory of the process that supervises them: it decides one draw
 * after the other, so they are exact, and the database has nothing to do with it.
 */
export class FamilyBuckets {
  readonly #limiter
  #taker: Worker | null = null
  #haveLeft = false
  /** What waits until the taker is done. */
  #waiting: (() => void)[] = []

  constructor(millis: () => number) {
    this.#limiter = memoryLimiter(millis)
  }

  serve(worker: Worker): void {
    const answer = (given: Answer): void => {
      if (worker.isConnected()) worker.send(given, atTheEnd)
    }
    worker.on('message', ({ draw, leave, left }: Question) => {
      if (draw !== undefined) this.#inTurn(() => answer({ drawn: this.#draw(draw) }))
      if (leave !== undefined) this.#inTurn(() => this.#handOver(worker, answer))
      if (left !== undefined) this.#leave(worker)
    })
    // Told after its last message. What a taker held that is gone is forgiven.
    worker.on('disconnect', () => this.#leave(worker))
  }

  #draw(keys: readonly string[]): (Drawn | null)[] {
    return keys.map((key) => (this.#haveLeft ? null : this.#limiter.draw(key)))
  }

  #inTurn(work: () => void): void {
    if (this.#taker === null) work()
    else this.#waiting.push(work)
  }

  #handOver(worker: Worker, answer: (given: Answer) => void): void {
    if (this.#haveLeft) return answer({ haveLeft: true })
    this.#taker = worker
    answer({ held: this.#limiter.contents() })
  }

  #leave(worker: Worker): void {
    if (this.#taker !== worker) return
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

/** A worker's way to the buckets of its family. Draws of the same turn of the loop travel together. */
export function familyHome(): BucketHome {
  let wanted: Draw[] = []
  const underWay: Draw[][] = []
  let onLeave: ((held: HeldBucket[] | null) => void) | undefined
  const ask = (question: Question): void => void process.send?.(question, atTheEnd)

  process.on('message', ({ drawn, held, haveLeft }: Answer) => {
    if (drawn !== undefined) underWay.shift()!.forEach(({ resolve }, index) => resolve(drawn[index]!))
    if (held !== undefined) onLeave?.(held)
    if (haveLeft !== undefined) onLeave?.(null)
  })

  function askForWanted(): void {
    underWay.push(wanted)
    ask({ draw: wanted.map(({ key }) => key) })
    wanted = []
  }

  return {
    draw(key) {
      if (wanted.length === 0) setImmediate(askForWanted)
      return new Promise((resolve) => wanted.push({ key, resolve }))
    },
    async leave(take) {
      const held = await new Promise<HeldBucket[] | null>((resolve) => {
        onLeave = resolve
        ask({ leave: true })
      })
      if (held === null) return
      await take(held).finally(() => ask({ left: true }))
    },
  }
}
