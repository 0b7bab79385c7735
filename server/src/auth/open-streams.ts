import type { Principal } from '../http/principal.ts'
import type { Clock } from '../kernel/clock.ts'
import { apiError } from '../kernel/errors.ts'

interface OpenStream {
  principal: Principal
  end: () => void
  /** Aborted when the stream has ended, whether the client or the server ended it. */
  closed: AbortSignal
}

interface Deps {
  clock: Clock
  maxPerPrincipal: number
  maxPerOrg: number
  /** Whether the caller would still be admitted with the same scopes. */
  isCurrent: (principal: Principal) => Promise<boolean>
}

/**
 * The live streams that are open in this process. They are counted against the limits, and each of them ends when its
 * access token expires, or as soon as its caller would not be admitted any more.
 */
export class OpenStreams {
  readonly #deps: Deps
  readonly #open = new Set<OpenStream>()
  #isChecking = false
  #checkAgain = false

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Throws when the caller or its organization has as many streams open as it may have. */
  add(stream: OpenStream): void {
    const { clock, maxPerPrincipal, maxPerOrg } = this.#deps
    const { orgId, kind, subject, expiresAtMs } = stream.principal
    if (this.#count((principal) => principal.subject === subject && principal.kind === kind) >= maxPerPrincipal)
      throw apiError.tooManyOpen(`One user or API key may have ${maxPerPrincipal} live streams open at a time`)
    if (this.#count((principal) => principal.orgId === orgId) >= maxPerOrg)
      throw apiError.tooManyOpen(`One organization may have ${maxPerOrg} live streams open at a time`)
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
    for (const { principal, end } of this.#open)
      if ((principal.kind === 'credential' ? principal.subject : principal.sessionId) === key) end()
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
  async #check({ principal, end }: OpenStream): Promise<void> {
    if (!(await this.#deps.isCurrent(principal).catch(() => true))) end()
  }

  #count(isCounted: (principal: Principal) => boolean): number {
    let count = 0
    for (const { principal } of this.#open) if (isCounted(principal)) count++
    return count
  }
}
