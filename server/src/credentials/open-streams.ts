import type { Caller } from '../http/caller.ts'
import type { Clock } from '../kernel/clock.ts'
import { refuse } from '../kernel/errors.ts'

interface OpenStream {
  caller: Caller
  end: () => void
  /** Aborted when the stream has ended, whether the client or the server ended it. */
  closed: AbortSignal
}

interface Needs {
  clock: Clock
  maxPerPrincipal: number
  maxPerOrg: number
  /** Whether the caller would still be admitted with the same scopes. */
  isCurrent: (caller: Caller) => Promise<boolean>
}

/**
 * The live streams that are open in this process. They are counted against the limits, and each of them ends when its
 * access token expires, or as soon as its caller would not be admitted any more.
 */
export class OpenStreams {
  readonly #needs: Needs
  readonly #open = new Set<OpenStream>()
  #isChecking = false
  #checkAgain = false

  constructor(needs: Needs) {
    this.#needs = needs
  }

  /** Throws when the caller or its organization has as many streams open as it may have. */
  add(stream: OpenStream): void {
    const { clock, maxPerPrincipal, maxPerOrg } = this.#needs
    const { orgId, kind, subject, expiresAtMs } = stream.caller
    if (this.#count((caller) => caller.subject === subject && caller.kind === kind) >= maxPerPrincipal)
      throw refuse.tooManyOpen(`One user or API key may have ${maxPerPrincipal} live streams open at a time`)
    if (this.#count((caller) => caller.orgId === orgId) >= maxPerOrg)
      throw refuse.tooManyOpen(`One organization may have ${maxPerOrg} live streams open at a time`)
    this.#open.add(stream)
    const timer = setTimeout(() => stream.end(), expiresAtMs - clock.millis())
    timer.unref()
    stream.closed.addEventListener('abort', () => {
      clearTimeout(timer)
      this.#open.delete(stream)
    })
    // A revocation that arrived after the token was checked found no stream to end.
    void this.#check(stream)
  }

  /** Ends the streams of a credential or session that was revoked, or whose scopes have changed. */
  endRevoked(key: string): void {
    for (const { caller, end } of this.#open)
      if ((caller.kind === 'credential' ? caller.subject : caller.sessionId) === key) end()
  }

  /** Checks every stream, for use when notifications of revocations may have been missed. */
  async checkAll(): Promise<void> {
    this.#checkAgain = true
    if (this.#isChecking) return
    this.#isChecking = true
    while (this.#checkAgain) {
      this.#checkAgain = false
      for (const stream of [...this.#open]) await this.#check(stream)
    }
    this.#isChecking = false
  }

  /** A database that does not answer leaves the stream open: it delivers nothing meanwhile, and is checked again. */
  async #check({ caller, end }: OpenStream): Promise<void> {
    if (!(await this.#needs.isCurrent(caller).catch(() => true))) end()
  }

  #count(isCounted: (caller: Caller) => boolean): number {
    let count = 0
    for (const { caller } of this.#open) if (isCounted(caller)) count++
    return count
  }
}
