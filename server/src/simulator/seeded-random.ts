/** A pseudorandom number generator (mulberry32): the same seed yields the same numbers. */
export class SeededRandom {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** A number in [0, 1). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  below(limit: number): number {
    return Math.floor(this.next() * limit)
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)]!
  }

  hex(digits: number): string {
    return Array.from({ length: digits }, () => this.below(16).toString(16))
      .join('')
      .toUpperCase()
  }
}
