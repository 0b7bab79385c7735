import type { Database, Tx } from '../../db/database.ts'
import { type Attempt, insertAttempts } from '../attempts.sql.ts'
import { event } from '../webhook.ts'

/** Attempts that are not written down yet never take more memory than this many. */
const most = 20_000
const atOnce = 1000

interface Pending {
  orgId: number
  attempts: Attempt[]
}

/** Gathers attempts and writes them down together, so that a delivery does not wait for its record. */
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
    if (this.#size >= most) return
    this.#size++
    const own = this.#pending.get(webhookId)
    if (own === undefined) this.#pending.set(webhookId, { orgId, attempts: [attempt] })
    else own.attempts.push(attempt)
  }

  /** What cannot be written is lost: it is a record for people, and nothing hangs on it. */
  flush(): Promise<void> {
    this.#writing = this.#writing.catch(() => undefined).then(() => this.#write())
    return this.#writing
  }

  async #write(): Promise<void> {
    const pending = this.#pending
    this.#pending = new Map()
    this.#size = 0
    for (const [webhookId, { orgId, attempts }] of pending)
      for (let start = 0; start < attempts.length; start += atOnce) {
        const some = attempts.slice(start, start + atOnce)
        const write = (tx: Tx): Promise<void> => insertAttempts(tx, orgId, { webhookId, event }, some)
        await this.#db.withTenant(orgId, write, { asyncCommit: true })
      }
  }
}
