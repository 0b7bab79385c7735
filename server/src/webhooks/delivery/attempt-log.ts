import type { Database, Tx } from '../../db/database.ts'
import { type Attempt, insertAttempts } from '../attempts.sql.ts'
import { event } from '../webhook.ts'

/** Limits the memory for attempts that are not written yet; further attempts are not logged. */
const maxPending = 20_000
const batchSize = 1000

interface Pending {
  orgId: number
  attempts: Attempt[]
}

/** Buffers attempts and writes them in batches, so that deliveries do not wait for the log. */
export class AttemptLog {
  readonly #db: Database
  /** By webhook. */
  #pending = new Map<number, Pending>()
  #size = 0
  #writing: Promise<void> = Promise.resolve()

  constructor(db: Database) {
    this.#db = db
  }

  note(orgId: number, webhookId: number, attempt: Attempt): void {
    if (this.#size >= maxPending) return
    this.#size++
    const pending = this.#pending.get(webhookId)
    if (pending === undefined) this.#pending.set(webhookId, { orgId, attempts: [attempt] })
    else pending.attempts.push(attempt)
  }

  /** Attempts that cannot be written are lost. This is acceptable, because the log is informational. */
  flush(): Promise<void> {
    this.#writing = this.#writing.catch(() => undefined).then(() => this.#write())
    return this.#writing
  }

  async #write(): Promise<void> {
    const pending = this.#pending
    this.#pending = new Map()
    this.#size = 0
    for (const [webhookId, { orgId, attempts }] of pending)
      for (let start = 0; start < attempts.length; start += batchSize) {
        const batch = attempts.slice(start, start + batchSize)
        const write = (tx: Tx): Promise<void> => insertAttempts(tx, orgId, { webhookId, event }, batch)
        await this.#db.withTenant(orgId, write, { asyncCommit: true })
      }
  }
}
