/** Runs the work of each key one after the other, in the order of the calls. */
export class SerialQueue {
  readonly #last = new Map<string, Promise<unknown>>()

  async run<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const result = (this.#last.get(key) ?? Promise.resolve()).then(work)
    const settled = result.catch(() => undefined)
    this.#last.set(key, settled)
    try {
      return await result
    } finally {
      if (this.#last.get(key) === settled) this.#last.delete(key)
    }
  }
}
