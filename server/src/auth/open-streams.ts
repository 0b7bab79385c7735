import type { Principal } from '../http/principal.ts'
import type { Clock } from '../kernel/clock.ts'
import { apiError } from '../kernel/errors.ts'

interface OpenStream {
  principal: Principal
  end: () => void
  /** Aborted when the client or the server has ended the stream. */
  closed: AbortSignal
}

interface Deps {
  clock: Clock
  maxPerPrincipal: number
  maxPerOrg: number
  /** True if the principal would still be authenticated with the same scopes. */
  isCurrent: (principal: Principal) => Promise<boolean>
}

/**
 * The live streams that are open in this process. It enforces the limits, and ends a stream when its access token expires
 * or its principal would no longer be authenticated.
 */
export class OpenStreams {
  readonly #deps: Deps
  readonly #open = new Set<OpenStream>()
  #isChecking = false
  #isCheckRequested = false

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Throws when the principal or its organization has reached its limit of open streams. */
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
    // A revocation may have arrived between the check of the token and the addition of the stream.
    void this.#check(stream)
  }

  /** Ends the streams of a credential or session that was revoked or whose scopes have changed. */
  endRevoked(key: string): void {
    for (const { principal, end } of this.#open)
      if ((principal.kind === 'credential' ? principal.subject : principal.sessionId) === key) end()
  }

  /** Ends every stream, because the process stops. A client resumes at another process. */
  endAll(): void {
    for (const { end } of [...this.#open]) end()
  }

  /** Checks every stream. Called when revocation events may have been missed. */
  async checkAll(): Promise<void> {
    this.#isCheckRequested = true
    if (this.#isChecking) return
    this.#isChecking = true
    while (this.#isCheckRequested) {
      this.#isCheckRequested = false
      for (const stream of [...this.#open]) await this.#check(stream)
    }
    this.#isChecking = false
  }

  /** If the database is unavailable, the stream stays open: it delivers nothing meanwhile and is checked again later. */
  async #check({ principal, end }: OpenStream): Promise<void> {
    if (!(await this.#deps.isCurrent(principal).catch(() => true))) end()
  }

  #count(isCounted: (principal: Principal) => boolean): number {
    let count = 0
    for (const { principal } of this.#open) if (isCounted(principal)) count++
    return count
  }
}
