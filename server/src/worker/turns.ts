/**
 * Lets a few at a time do something, in the order in which they asked. Whoever asks again while waiting keeps the place
 * it has, so that one who asks often gets no more than the others.
 */
export class Turns {
  readonly #atOnce: number
  readonly #waiting = new Map<number, () => Promise<void>>()
  readonly #running = new Set<Promise<void>>()

  constructor(atOnce: number) {
    this.#atOnce = atOnce
  }

  ask(who: number, work: () => Promise<void>): void {
    if (!this.#waiting.has(who)) this.#waiting.set(who, work)
    this.#next()
  }

  /** Forgets whoever waits, and ends when nobody's turn is running. */
  async close(): Promise<void> {
    this.#waiting.clear()
    await Promise.all(this.#running)
  }

  #next(): void {
    while (this.#running.size < this.#atOnce) {
      const [first] = this.#waiting
      if (first === undefined) return
      this.#waiting.delete(first[0])
      const turn = first[1]().finally(() => {
        this.#running.delete(turn)
        this.#next()
      })
      this.#running.add(turn)
    }
  }
}
