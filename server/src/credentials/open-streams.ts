import type { Caller } from '../http/caller.ts'
import { refuse } from '../kernel/errors.ts'

interface OpenStream {
  caller: Caller
  end: () => void
  /** Aborted when the stream is over, whoever ended it. */
  closed: AbortSignal
}

interface Needs {
  maxPerPrincipal: number
  maxPerOrg: number
}

/** The live streams that are open in this process, counted against the limits. */
export class OpenStreams {
  readonly #needs: Needs
  readonly #open = new Set<OpenStream>()

  constructor(needs: Needs) {
    this.#needs = needs
  }

  /** Throws when the caller or its organization has as many streams open as it may have. */
  add(stream: OpenStream): void {
    const { maxPerPrincipal, maxPerOrg } = this.#needs
    const { orgId, kind, subject } = stream.caller
    if (this.#count((caller) => caller.subject === subject && caller.kind === kind) >= maxPerPrincipal)
      throw refuse.tooManyOpen(`One user or API key may have ${maxPerPrincipal} live streams open at a time`)
    if (this.#count((caller) => caller.orgId === orgId) >= maxPerOrg)
      throw refuse.tooManyOpen(`One organization may have ${maxPerOrg} live streams open at a time`)
    this.#open.add(stream)
    stream.closed.addEventListener('abort', () => this.#open.delete(stream))
  }

  #count(isCounted: (caller: Caller) => boolean): number {
    let count = 0
    for (const { caller } of this.#open) if (isCounted(caller)) count++
    return count
  }
}
