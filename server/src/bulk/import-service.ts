import type { Database, Tx } from '../db/database.ts'
import type { IdGenerator } from '../db/id-generator.ts'
import { type Clock, now } from '../kernel/clock.ts'
import { apiError } from '../kernel/errors.ts'
import { type Instant, instantFromMillis, millisOf } from '../kernel/instant.ts'
import type { Page, PageRequest } from '../kernel/page.ts'
import { type QuotaCheck, quotaReached } from '../kernel/quota.ts'
import type { ImportProgress } from './import-progress.ts'
import type { ImportQueue } from './import-queue.ts'
import {
  type Import,
  type ImportKind,
  type ImportOptions,
  type ImportState,
  type LineError,
  type StagedRow,
  emptyResult,
  maxIdempotencyKeys,
  maxImportBytes,
  maxRows,
  withinBounds,
} from './import-row.ts'
import {
  type ImportInState,
  countIdempotencyKeys,
  deleteImport,
  findByIdempotencyKey,
  findImport,
  importErrors,
  importsIn,
  insertImport,
  lockImports,
  setIdempotencyKey,
  setResult,
  setState,
  stageRows,
  trimImport,
  tryLockImport,
  tryLockRow,
} from './imports.sql.ts'

interface Deps {
  db: Database
  clock: Clock
  ids: IdGenerator
  quotas: QuotaCheck
  queue: ImportQueue
  progress: ImportProgress
  onFailure: (error: unknown) => void
}

/** An import that was idle for this long may be replaced. */
const abandonedAfterMs = 3_600_000

const idle: readonly ImportState[] = ['open', 'checked', 'failed', 'done']

/** How long a request with the same idempotency key returns the job of the first one. Imports are kept as long. */
const idempotencyMs = 86_400_000

/** A request whose rows arrive in one body. */
interface BulkRequest extends ImportOptions {
  kind: ImportKind
  idempotencyKey: string | null
}

/** An earlier request has the same idempotency key. */
class RepeatedKeyError extends Error {
  readonly earlier: { id: number; hash: string }

  constructor(earlier: { id: number; hash: string }) {
    super('the idempotency key was used before')
    this.earlier = earlier
  }
}

/** The imports of the web app, the API and the command line: their rows, and the requests for their jobs. */
export class ImportService {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** At the organization's quota, the new import replaces an import that has ended or is abandoned. */
  async create(orgId: number, kind: ImportKind, options: ImportOptions | null = null): Promise<number> {
    const { db, clock, ids, quotas } = this.#deps
    const id = await ids.next(orgId)
    await quotas.assertRoom(orgId, 'stored_bytes')
    const { left, limit } = await quotas.roomFor(orgId, 'imports')
    await db.withTenant(orgId, async (tx) => {
      await lockImports(tx, orgId)
      if (left === 0) {
        const replaced = await this.#lockAbandoned(tx, orgId)
        if (replaced === null) throw quotaReached('imports', limit)
        const isKeyKept = replaced.hasKey && replaced.createdAt > this.#idempotencyStart()
        await (isKeyKept ? trimImport : deleteImport)(tx, orgId, replaced.id)
      }
      await insertImport(tx, orgId, id, kind, options, now(clock))
    })
    return id
  }

  /**
   * Stores the rows of one request and starts the job, which is only a check for a dry run. Returns the id of the job. A
   * request with the idempotency key of an earlier one returns the job of that one if their hashes are equal. `hash` is
   * called when all rows are read.
   */
  async submit(
    orgId: number,
    request: BulkRequest,
    batches: AsyncIterable<StagedRow[]>,
    hash: () => string,
  ): Promise<number> {
    const { db, queue, onFailure } = this.#deps
    const { kind, isDryRun, onError, idempotencyKey: key } = request
    const earlier = key === null ? null : await findByIdempotencyKey(db.read, orgId, key, this.#idempotencyStart())
    if (earlier !== null) {
      for await (const _rows of batches);
      return sameRequest(earlier, hash())
    }
    if (key !== null) await this.#assertKeysLeft(orgId)
    const id = await this.create(orgId, kind, request)
    let digest = ''
    try {
      for await (const rows of batches) await this.addRows(orgId, id, rows)
      digest = hash()
      const job = isDryRun ? 'check' : onError === 'skip' ? 'run_skipping_errors' : 'run'
      await queue.enqueue(orgId, id, ['open'], job, async (tx) => {
        if (key === null) return
        const repeated = await findByIdempotencyKey(tx, orgId, key, this.#idempotencyStart())
        if (repeated !== null) throw new RepeatedKeyError(repeated)
        await setIdempotencyKey(tx, orgId, id, key, digest)
      })
      return id
    } catch (error) {
      await db.withTenant(orgId, (tx) => deleteImport(tx, orgId, id)).catch(onFailure)
      if (error instanceof RepeatedKeyError) return sameRequest(error.earlier, digest)
      throw error
    }
  }

  async #assertKeysLeft(orgId: number): Promise<void> {
    const used = await countIdempotencyKeys(this.#deps.db.read, orgId, this.#idempotencyStart())
    if (used < maxIdempotencyKeys) return
    throw apiError.conflict(
      `Quota idempotency_keys reached: the organization may use at most ${maxIdempotencyKeys} Idempotency-Keys within 24 hours`,
    )
  }

  errors(orgId: number, id: number, request: PageRequest): Promise<Page<LineError>> {
    return importErrors(this.#deps.db.read, orgId, id, request)
  }

  /** Includes the number of rows done. An import whose process died is marked as failed, and the next one starts. */
  async get(orgId: number, id: number): Promise<Import & { doneRows: number }> {
    const { db, queue } = this.#deps
    const found = await findImport(db.read, orgId, id)
    if (found === null) throw apiError.notFound('Import')
    const current = (await queue.failDead(orgId, found)) ? ((await findImport(db.read, orgId, id)) ?? found) : found
    return { ...current, doneRows: queue.doneRows(current) }
  }

  async addRows(orgId: number, id: number, rows: readonly StagedRow[]): Promise<void> {
    await this.#reopen(orgId, id, ['open', 'checked', 'failed'], async (tx) => {
      if (rows.length === 0) return
      const total = await stageRows(tx, orgId, id, rows.map(withinBounds))
      if (total.rows > maxRows) {
        const message = `An import holds ${maxRows} rows at most`
        throw apiError.invalid({ field: 'rows', code: 'too_long', message, params: { max_length: maxRows } })
      }
      if (total.bytes > maxImportBytes) {
        const message = `The rows of an import have ${maxImportBytes} bytes at most`
        throw apiError.invalid({ field: 'rows', code: 'too_large', message, params: { max: maxImportBytes } })
      }
    })
  }

  check(orgId: number, id: number): Promise<void> {
    return this.#deps.queue.enqueue(orgId, id, ['open', 'checked', 'failed'], 'check', (tx) =>
      setResult(tx, orgId, id, emptyResult()),
    )
  }

  run(orgId: number, id: number, { skipErrors }: { skipErrors: boolean }): Promise<void> {
    return this.#deps.queue.enqueue(
      orgId,
      id,
      ['checked'],
      skipErrors ? 'run_skipping_errors' : 'run',
      async (_tx, found) => {
        if (found.errorsTotal > 0 && !skipErrors) throw apiError.conflict('The import has errors')
      },
    )
  }

  async remove(orgId: number, id: number): Promise<void> {
    await this.get(orgId, id)
    const from: ImportState[] = ['open', 'waiting', 'checked', 'failed', 'done']
    await this.#reopen(orgId, id, from, (tx) => deleteImport(tx, orgId, id))
    this.#deps.progress.removed(id)
  }

  /** Requests after this instant keep their idempotency keys. */
  #idempotencyStart(): Instant {
    return instantFromMillis(this.#deps.clock.millis() - idempotencyMs)
  }

  /** Locks the import that may be replaced, unless a request is changing it. */
  async #lockAbandoned(tx: Tx, orgId: number): Promise<ImportInState | null> {
    for (const one of await importsIn(tx, orgId, idle))
      if (this.#isAbandoned(one) && (await tryLockRow(tx, orgId, one))) return one
    return null
  }

  /** The import has ended, or was idle for an hour. */
  #isAbandoned({ state, changedAt }: ImportInState): boolean {
    return state === 'done' || state === 'failed' || this.#deps.clock.millis() - millisOf(changedAt) > abandonedAfterMs
  }

  /** Sets the import to `open` and runs `work` in the same transaction. */
  async #reopen(
    orgId: number,
    id: number,
    from: readonly ImportState[],
    work: (tx: Tx) => Promise<void>,
  ): Promise<void> {
    const { db, clock } = this.#deps
    await db.withTenant(orgId, async (tx) => {
      const isReopened = await setState(tx, orgId, id, { from, to: 'open', at: now(clock) })
      const found = await findImport(tx, orgId, id)
      if (found === null) throw apiError.notFound('Import')
      if (!isReopened) throw apiError.conflict(`The import is ${found.state}`)
      await work(tx)
    })
  }
}

function sameRequest(earlier: { id: number; hash: string }, hash: string): number {
  if (earlier.hash !== hash) throw apiError.conflict('Another request was sent with this Idempotency-Key')
  return earlier.id
}

/** Deletes an import unless it is in progress or was changed since it was read. */
export async function deleteImportJob(
  tx: Tx,
  orgId: number,
  { id, changedAt }: { id: number; changedAt: Instant },
): Promise<void> {
  if ((await tryLockImport(tx, id)) && (await tryLockRow(tx, orgId, { id, changedAt })))
    await deleteImport(tx, orgId, id)
}
