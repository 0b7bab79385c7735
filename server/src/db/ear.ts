import type postgres from 'postgres'

type Listening = [channel: string, heard: (payload: string) => void, resumed: () => void]

/** One connection that hears notifications. The driver listens again by itself after a loss, but only where it was. */
export class Ear {
  readonly #open: () => postgres.Sql
  readonly #listening: Listening[] = []
  #pool: postgres.Sql

  constructor(open: () => postgres.Sql) {
    this.#open = open
    this.#pool = open()
  }

  async listen(...listening: Listening): Promise<void> {
    this.#listening.push(listening)
    await this.#pool.listen(...listening)
  }

  /** Listens elsewhere from now on. */
  move(): void {
    this.#pool.end({ timeout: 0 }).catch(() => undefined)
    this.#pool = this.#open()
    for (const listening of this.#listening) this.#pool.listen(...listening).catch(() => undefined)
  }

  async close(): Promise<void> {
    await this.#pool.end({ timeout: 5 })
  }
}
