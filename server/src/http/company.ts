/** An organization, or null for everybody who has not said who they are. */
export type Key = number | null

/** Who asked within this time counts as asking. */
const presentMs = 1000

/** Knows whether an organization has the process to itself. Two moments are enough: of the last to ask, and of the last other one. */
export class Company {
  #latest: Key = null
  #latestMs = -Infinity
  #otherMs = -Infinity

  note(key: Key, nowMs: number): void {
    if (key === null) return
    if (key !== this.#latest) {
      this.#otherMs = this.#latestMs
      this.#latest = key
    }
    this.#latestMs = nowMs
  }

  /** Whether another organization asks too. */
  hasOthers(key: Key, nowMs: number): boolean {
    return nowMs - (key === this.#latest ? this.#otherMs : this.#latestMs) < presentMs
  }
}
