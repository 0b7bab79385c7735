/** Limits the number of open connections, in total and per client network. */
export class ConnectionLimits {
  readonly #max: number
  readonly #maxPerNetwork: number
  readonly #open = new Map<string, number>()
  #total = 0

  constructor(max: number, maxPerNetwork: number) {
    this.#max = max
    this.#maxPerNetwork = maxPerNetwork
  }

  /** Counts a connection and returns null, or returns the limit that it would exceed. */
  add(network: string): string | null {
    const open = this.#open.get(network) ?? 0
    if (this.#total >= this.#max) return `${this.#max} connections`
    if (open >= this.#maxPerNetwork) return `${this.#maxPerNetwork} connections from one address`
    this.#open.set(network, open + 1)
    this.#total++
    return null
  }

  remove(network: string): void {
    const open = this.#open.get(network)! - 1
    if (open === 0) this.#open.delete(network)
    else this.#open.set(network, open)
    this.#total--
  }
}
