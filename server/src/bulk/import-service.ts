import { LRUCache } from 'lru-cache'
import { type Database, type Tx, longTransactionPoolSize } from '../db/database.ts'
import type { IdGenerator } from '../db/id-generator.ts'
import { withCustomPlan } from '../db/plan-cache.ts'
import type { PubSub } from '../db/pubsub.ts'
import { type Clock, now } from '../kernel/clock.ts'
import { ApiError, apiError } from '../kernel/errors.ts'
import { type Instant, instantFromMillis, millisOf } from '../kernel/instant.ts'
import type { Page, PageRequest } from '../kernel/page.ts'
import { type QuotaCheck, quotaReached } from '../kernel/quota.ts'
import type { IdPool } from './import-writer.ts'
import {
  type Import,
  type ImportJob,
  type ImportKind,
  type ImportOptions,
  type ImportState,
  type LineError,
  type StagedRow,
  type ImportResult,
  emptyResult,
  maxIdempotencyKeys,
  maxImportBytes,
  maxRows,
  withinBounds,
} from './import-row.ts'
import {
  type ImportInState,
  countIdempotencyKeys,
  countStaged,
  deleteImport,
  deleteRows,
  findByIdempotencyKey,
  findImport,
  importErrors,
  tryLockImport,
  tryLockRow,
  importsIn,
  insertImport,
  lockImports,
  setIdempotencyKey,
  setState,
  setResult,
  stageRows,
  trimImport,
} from './imports.sql.ts'
import { runImport } from './import-runner.ts'

interface Deps {
  /** The database for requests. */
  db: Database
  /** The database for jobs, which no request waits for. */
  background: Database
  clock: Clock
  ids: IdGenerator
  quotas: QuotaCheck
  pubsub: Pick<PubSub, 'publish'>
  onFailure: (error: unknown) => void
  onEnded: OnJobEnded
}

export type OnJobEnded = (outcome: 'done' | 'failed', seconds: number) => void

export const progressTopic = 'import'

/** An import whose state changed less than this ago is not treated as dead, because its lock may not be taken yet. */
const graceMs = 5000
const progressIntervalMs = 300

/** An import that was idle for this long may be replaced. */
const abandonedAfterMs = 3_600_000

const idle: readonly ImportState[] = ['open', 'checked', 'failed', 'done']

/** The states of an import in progress. An organization has at most one such import. */
const working: readonly ImportState[] = ['checking', 'running']

const workState = (job: ImportJob): ImportState => (job === 'check' ? 'checking' : 'running')

/** How long a request with the same idempotency key returns the job of the first one. Imports are kept as long. */
const idempotencyMs = 86_400_000

/** A request whose rows arrive in one body. */
interface BulkRequest extends ImportOptions {
  kind: ImportKind
  idempotencyKey: string | null
}

/** An earlier request has the same idempotency key. */
class RepeatedKey extends Error {
  readonly earlier: { id: number; hash: string }

  constructor(earlier: { id: number; hash: string }) {
    super('the idempotency key was used before')
    this.earlier = earlier
  }
}

/** The run found invalid rows; nothing was written. */
class InvalidRows extends Error {
  readonly result: ImportResult

  constructor(result: ImportResult) {
    super('rows are invalid')
    this.result = result
  }
}

/**
 * Runs imports. A job is one transaction that also sets the final state, so a process that dies leaves everything
 * unchanged: its lock on the import ends with its connection, and the next request for the import marks it as failed. The
 * progress is not visible outside the transaction, so it is published as events.
 *
 * An organization has one import in progress at a time, over all processes. A process runs as many imports as it has
 * connections for long transactions; further imports wait in the database. When an import ends, its process starts the
 * next one of the same organization. Organizations that wait for a connection are served round-robin.
 */
export class ImportService {
  readonly #deps: Deps
  readonly #running = new Map<number, Promise<void>>()
  /** Organizations with waiting imports, in the order in which they get the next free connection. */
  readonly #pending = new Set<number>()
  readonly #claiming = new Set<Promise<void>>()
  /** Connections that are in use or reserved. */
  #inUse = 0
  /** The number of rows done, by state and id, because the progress of a check must not be used for the run. */
  readonly #progress = new LRUCache<string, number>({ max: 1000 })
  #isStopping = false

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Handles a progress event of any process. */
  onProgress(payload: string): void {
    const [state = '', id = '', done = ''] = payload.split(' ')
    this.#progress.set(`${state} ${id}`, Number(done))
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
    const { db, onFailure } = this.#deps
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
      await this.#enqueue(orgId, id, ['open'], job, async (tx) => {
        if (key === null) return
        const repeated = await findByIdempotencyKey(tx, orgId, key, this.#idempotencyStart())
        if (repeated !== null) throw new RepeatedKey(repeated)
        await setIdempotencyKey(tx, orgId, id, key, digest)
      })
      return id
    } catch (error) {
      await db.withTenant(orgId, (tx) => deleteImport(tx, orgId, id)).catch(onFailure)
      if (error instanceof RepeatedKey) return sameRequest(error.earlier, digest)
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
    const { db, clock } = this.#deps
    let found = await findImport(db.read, orgId, id)
    if (found === null) throw apiError.notFound('Import')
    const isBusy = found.state === 'waiting' || working.includes(found.state)
    const isDue = isBusy && !this.#running.has(id) && clock.millis() - millisOf(found.changedAt) > graceMs
    if (isDue) {
      await this.#failDead(orgId)
      this.#startWaiting(orgId)
      found = (await findImport(db.read, orgId, id)) ?? found
    }
    const doneRows = { open: 0, waiting: 0, checked: found.rows, done: found.rows, failed: 0 } as Partial<
      Record<ImportState, number>
    >
    return { ...found, doneRows: doneRows[found.state] ?? this.#progress.get(`${found.state} ${id}`) ?? 0 }
  }

  async addRows(orgId: number, id: number, rows: readonly StagedRow[]): Promise<void> {
    await this.#change(orgId, id, ['open', 'checked', 'failed'], 'open', async (tx) => {
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
    return this.#enqueue(orgId, id, ['open', 'checked', 'failed'], 'check', (tx) =>
      setResult(tx, orgId, id, emptyResult()),
    )
  }

  run(orgId: number, id: number, { skipErrors }: { skipErrors: boolean }): Promise<void> {
    return this.#enqueue(orgId, id, ['checked'], skipErrors ? 'run_skipping_errors' : 'run', async (_tx, found) => {
      if (found.errorsTotal > 0 && !skipErrors) throw apiError.conflict('The import has errors')
    })
  }

  async remove(orgId: number, id: number): Promise<void> {
    await this.get(orgId, id)
    const from: ImportState[] = ['open', 'waiting', 'checked', 'failed', 'done']
    await this.#change(orgId, id, from, 'open', (tx) => deleteImport(tx, orgId, id))
  }

  /** Aborts the imports in progress, which rolls back their changes. */
  async close(): Promise<void> {
    this.#isStopping = true
    this.#pending.clear()
    await Promise.all(this.#claiming)
    await Promise.all(this.#running.values())
  }

  /** Starts the job if the organization has no import in progress and this process has a connection; else the job waits. */
  async #enqueue(
    orgId: number,
    id: number,
    from: readonly ImportState[],
    job: ImportJob,
    prepare: (tx: Tx, found: Import) => Promise<void>,
  ): Promise<void> {
    const { db, clock } = this.#deps
    const hasConnection = this.#reserve()
    try {
      const started = await db.withTenant(orgId, async (tx) => {
        await lockImports(tx, orgId)
        const found = await findImport(tx, orgId, id)
        if (found === null) throw apiError.notFound('Import')
        const others = await importsIn(tx, orgId, [...working, 'waiting'])
        const mayStart = hasConnection && others.length === 0
        if (!(await setState(tx, orgId, id, from, mayStart ? workState(job) : 'waiting', now(clock), job)))
          throw apiError.conflict(`The import is ${found.state}`)
        await prepare(tx, found)
        return mayStart ? { ...found, job } : null
      })
      if (started === null) this.#startWaiting(orgId)
      else this.#start(orgId, started)
      if (started === null && hasConnection) this.#release()
    } catch (error) {
      if (hasConnection) this.#release()
      throw error
    }
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

  #reserve(): boolean {
    if (this.#inUse >= longTransactionPoolSize || this.#isStopping) return false
    this.#inUse++
    return true
  }

  #release(): void {
    this.#inUse--
    this.#dispatch()
  }

  #startWaiting(orgId: number): void {
    this.#pending.add(orgId)
    this.#dispatch()
  }

  /** Assigns free connections to waiting organizations. */
  #dispatch(): void {
    for (const orgId of this.#pending) {
      if (!this.#reserve()) return
      this.#pending.delete(orgId)
      const claiming = this.#claim(orgId)
        .then((claimed) => (claimed === null ? this.#release() : this.#start(orgId, claimed)))
        .catch((error: unknown) => {
          this.#deps.onFailure(error)
          this.#release()
        })
        .finally(() => this.#claiming.delete(claiming))
      this.#claiming.add(claiming)
    }
  }

  /** Claims the import that has waited longest; null when none waits or another one is in progress. */
  #claim(orgId: number): Promise<StartedImport | null> {
    const { background, clock } = this.#deps
    return background.withTenant(orgId, async (tx) => {
      await lockImports(tx, orgId)
      const all = await importsIn(tx, orgId, [...working, 'waiting'])
      const [first] = all
      if (first === undefined || all.some(({ state }) => state !== 'waiting')) return null
      const job = first.job!
      await setState(tx, orgId, first.id, ['waiting'], workState(job), now(clock), job)
      return { ...first, job }
    })
  }

  /** Changes the state of the import and runs `work` in the same transaction. */
  async #change(
    orgId: number,
    id: number,
    from: readonly ImportState[],
    to: ImportState,
    work: (tx: Tx, found: Import) => Promise<void>,
  ): Promise<Import> {
    const { db, clock } = this.#deps
    return db.withTenant(orgId, async (tx) => {
      const isMoved = await setState(tx, orgId, id, from, to, now(clock))
      const found = await findImport(tx, orgId, id)
      if (found === null) throw apiError.notFound('Import')
      if (!isMoved) throw apiError.conflict(`The import is ${found.state}`)
      await work(tx, found)
      return found
    })
  }

  /** Reserves the maximum number of ids that the rows could need. */
  async #idPool(tx: Tx, orgId: number, id: number): Promise<IdPool> {
    const { ids } = this.#deps
    const { rows, tags } = await countStaged(tx, orgId, id)
    return { records: await ids.nextMany(orgId, rows), tags: await ids.nextMany(orgId, tags) }
  }

  /** Runs the job in one transaction in the background; its last step sets the final state. */
  #start(orgId: number, started: StartedImport): void {
    const { background, clock, onFailure, onEnded } = this.#deps
    const { id, job, isBulk } = started
    const startedAtMs = performance.now()
    const secondsSoFar = (): number => (performance.now() - startedAtMs) / 1000
    const state = workState(job)
    // The rows of a bulk job are not needed again, also when they were only checked.
    const isFinal = job !== 'check' || isBulk
    const runJob = async (tx: Tx): Promise<void> => {
      if (!(await tryLockImport(tx, id))) throw new Error('another process works on this import')
      await withCustomPlan(tx)
      const ids = job === 'check' ? null : await this.#idPool(tx, orgId, id)
      const result = await this.#work(tx, orgId, started, ids)
      if (job === 'run' && result.errorsTotal > 0) throw new InvalidRows(result)
      await setResult(tx, orgId, id, result)
      if (isFinal) await deleteRows(tx, orgId, id)
      if (!(await setState(tx, orgId, id, [state], isFinal ? 'done' : 'checked', now(clock))))
        throw new Error('the import is no longer in progress')
    }
    void this.#deps.pubsub.publish(progressTopic, `${state} ${id} 0`).catch(() => undefined)
    const running = background
      .withTenant(orgId, runJob, { isLong: true })
      .then(() => onEnded('done', secondsSoFar()))
      .catch((error: unknown) => {
        onEnded('failed', secondsSoFar())
        return this.#fail(orgId, started, error)
      })
      .catch(onFailure)
      .finally(() => {
        this.#running.delete(id)
        if (!this.#isStopping) this.#pending.add(orgId)
        this.#release()
      })
    this.#running.set(id, running)
  }

  async #work(tx: Tx, orgId: number, started: StartedImport, ids: IdPool | null): Promise<ImportResult> {
    const { clock, pubsub, quotas } = this.#deps
    const { id: importId, kind, mode } = started
    if (ids !== null) await quotas.assertRoom(orgId, 'stored_bytes')
    const room = await quotas.roomFor(orgId, kind)
    const state: ImportState = ids === null ? 'checking' : 'running'
    let publishedAtMs = performance.now()
    const progress = (done: number): void => {
      if (this.#isStopping) throw new Error('the server is stopping')
      this.onProgress(`${state} ${importId} ${done}`)
      if (performance.now() - publishedAtMs < progressIntervalMs) return
      publishedAtMs = performance.now()
      void pubsub.publish(progressTopic, `${state} ${importId} ${done}`).catch(() => undefined)
    }
    return runImport(kind, { tx, orgId, importId, clock, mode, ids, room, progress })
  }

  async #fail(orgId: number, { id, job, isBulk }: StartedImport, error: unknown): Promise<void> {
    const { background, clock, onFailure } = this.#deps
    const isExpected = error instanceof InvalidRows || error instanceof ApiError
    if (!isExpected) onFailure(error)
    const reason = error instanceof ApiError ? error.message : 'The import was aborted'
    const failed = { ...emptyResult(), errorsTotal: 1, errors: [{ line: 0, field: '', message: reason }] }
    await background.withTenant(orgId, async (tx) => {
      if (!(await setState(tx, orgId, id, [workState(job)], 'failed', now(clock)))) return
      await setResult(tx, orgId, id, error instanceof InvalidRows ? error.result : failed)
      if (isBulk) await deleteRows(tx, orgId, id)
    })
  }

  /** Marks the organization's import in progress as failed when no process holds its lock. */
  async #failDead(orgId: number): Promise<void> {
    const { db, clock } = this.#deps
    const isDead = ({ id, changedAt }: ImportInState): boolean =>
      !this.#running.has(id) && clock.millis() - millisOf(changedAt) > graceMs
    await db.withTenant(orgId, async (tx) => {
      for (const one of await importsIn(tx, orgId, working)) {
        if (!isDead(one) || !(await tryLockImport(tx, one.id))) continue
        if (!(await setState(tx, orgId, one.id, [one.state], 'failed', now(clock)))) continue
        const message = 'The server stopped before the import finished; nothing was changed'
        const errors = [{ line: 0, field: '', message }]
        await setResult(tx, orgId, one.id, { ...emptyResult(), errorsTotal: 1, errors })
        if (one.isBulk) await deleteRows(tx, orgId, one.id)
      }
    })
  }
}

type StartedImport = Pick<Import, 'id' | 'kind' | 'mode' | 'isBulk'> & { job: ImportJob }

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
