import type { Database } from '../db/database.ts'
import type { Principal } from '../http/principal.ts'
import type { Clock } from '../kernel/clock.ts'
import { instantFromMillis } from '../kernel/instant.ts'
import { noteUse } from './credentials.sql.ts'

/** Records in memory when each credential was last used, and writes it to the database between requests. */
export class LastUsedRecorder {
  readonly #db: Database
  readonly #clock: Clock
  #uses = new Map<string, { orgId: number; atMs: number }>()

  constructor(db: Database, clock: Clock) {
    this.#db = db
    this.#clock = clock
  }

  note(principal: Principal): void {
    if (principal.kind !== 'credential') return
    const known = this.#uses.get(principal.subject)
    if (known === undefined) this.#uses.set(principal.subject, { orgId: principal.orgId, atMs: this.#clock.millis() })
    else known.atMs = this.#clock.millis()
  }

  async flush(): Promise<void> {
    const uses = this.#uses
    this.#uses = new Map()
    const byOrganization = new Map<number, { clientId: string; at: ReturnType<typeof instantFromMillis> }[]>()
    for (const [clientId, { orgId, atMs }] of uses) {
      const list = byOrganization.get(orgId) ?? []
      list.push({ clientId, at: instantFromMillis(atMs) })
      byOrganization.set(orgId, list)
    }
    // Every process sorts in the same order, so that two processes that write at the same time do not deadlock.
    for (const [orgId, list] of byOrganization) {
      list.sort((a, b) => (a.clientId < b.clientId ? -1 : 1))
      await this.#db.withTenant(orgId, (tx) => noteUse(tx, orgId, list), { asyncCommit: true })
    }
  }
}
