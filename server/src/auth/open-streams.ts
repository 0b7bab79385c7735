import type { Principal, Transfer } from '../http/principal.ts'
import type { Clock } from '../kernel/clock.ts'
import { apiError } from '../kernel/errors.ts'
import { liveStreamsReached } from '../kernel/quota.ts'

interface Deps {
  clock: Clock
  maxPerPrincipal: number
  /** True if the principal would still be authenticated with the same scopes. */
  isCurrent: (principal: Principal) => Promise<boolean>
}

/** A timer cannot wait longer than this, 24 days; no stream or transfer is open for so long. */
const maxTimerMs = 2 ** 31 - 1

/**
 * The live streams, downloads and uploads that are open in this process. It ends one when its principal would no longer be
 * authenticated. It limits the number of live streams, and ends a live stream when its access token expires.
 */
export class OpenStreams {
  readonly #deps: Deps
  readonly #live = new Set<Transfer>()
  readonly #transfers = new Set<Transfer>()
  #isChecking = false
  #isCheckRequested = false

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Adds a live stream. Throws when the principal or its organization has reached its limit of open streams. */
  add(stream: Transfer, maxPerOrg: number): void {
    const { maxPerPrincipal } = this.#deps
    const { orgId, kind, subject, expiresAtMs } = stream.principal
    if (this.#count((principal) => principal.subject === subject && principal.kind === kind) >= maxPerPrincipal)
      throw apiError.tooManyOpen(`One user or API key may have ${maxPerPrincipal} live streams open at a time`)
    if (this.liveStreamsOf(orgId) >= maxPerOrg) throw liveStreamsReached(maxPerOrg)
    this.#addTo(this.#live, stream)
    this.#endAt(stream, expiresAtMs)
  }

  /** The number of live streams of an organization that are open in this process. */
  liveStreamsOf(orgId: number): number {
    return this.#count((principal) => principal.orgId === orgId)
  }

  /** Adds a download or upload, which may go on after its access token has expired, but not its key or session. */
  addTransfer(transfer: Transfer): void {
    this.#addTo(this.#transfers, transfer)
    this.#endAt(transfer, transfer.principal.credentialExpiresAtMs)
  }

  /** Ends the streams of a credential or session that was revoked or whose scopes have changed. */
  endRevoked(key: string): void {
    for (const { principal, end } of this.#all())
      if ((principal.kind === 'credential' ? principal.subject : principal.sessionId) === key) end()
  }

  /** Ends the streams whose access token was signed with a key that does not exist any more. */
  endWithoutKey(hasKey: (kid: string) => boolean): void {
    for (const { principal, end } of this.#all()) if (!hasKey(principal.kid)) end()
  }

  /** Ends every live stream, because the process stops. A client resumes at another process. */
  endAll(): void {
    for (const { end } of [...this.#live]) end()
  }

  /** Checks all open streams. Called when revocation events may have been missed. */
  async checkAll(): Promise<void> {
    this.#isCheckRequested = true
    if (this.#isChecking) return
    this.#isChecking = true
    while (this.#isCheckRequested) {
      this.#isCheckRequested = false
      for (const stream of this.#all()) await this.#check(stream)
    }
    this.#isChecking = false
  }

  #all(): Transfer[] {
    return [...this.#live, ...this.#transfers]
  }

  #addTo(set: Set<Transfer>, transfer: Transfer): void {
    set.add(transfer)
    transfer.closed.addEventListener('abort', () => set.delete(transfer))
    // A revocation may have arrived between the check of the token and this addition.
    void this.#check(transfer)
  }

  #endAt({ end, closed }: Transfer, atMs: number): void {
    const delayMs = atMs - this.#deps.clock.millis()
    if (delayMs > maxTimerMs) return
    const timer = setTimeout(end, delayMs)
    timer.unref()
    closed.addEventListener('abort', () => clearTimeout(timer))
  }

  /** If the database is unavailable, the stream stays open: it delivers nothing meanwhile and is checked again later. */
  async #check({ principal, end }: Transfer): Promise<void> {
    if (!(await this.#deps.isCurrent(principal).catch(() => true))) end()
  }

  #count(isCounted: (principal: Principal) => boolean): number {
    let count = 0
    for (const { principal } of this.#live) if (isCounted(principal)) count++
    return count
  }
}
