import { type Database, type Tx, longTransactionPoolSize } from '../db/database.ts'
import type { IdGenerator } from '../db/id-generator.ts'
import { withCustomPlan } from '../db/plan-cache.ts'
import { type Clock, now } from '../kernel/clock.ts'
import { ApiError, apiError } from '../kernel/errors.ts'
import { millisOf } from '../kernel/instant.ts'
import type { QuotaCheck } from '../kernel/quota.ts'
import type { ImportProgress } from './import-progress.ts'
import {
  type Import,
  type ImportJob,
  type ImportResult,
  type ImportState,
  emptyResult,
  maxImportTags,
} from './import-row.ts'
import { runImport } from './import-runner.ts'
import type { IdPool } from './import-writer.ts'
import {
  countStaged,
  deleteRows,
  findImport,
  importsIn,
  lockImports,
  setResult,
  setState,
  tryLockImport,
} from './imports.sql.ts'

interface Deps {
  /** The database for requests. */
  db: Database
  /** The database for jobs, which no request waits for. */
  background: Database
  clock: Clock
  ids: IdGenerator
  quotas: QuotaCheck
  progress: ImportProgress
  onFailure: (error: unknown) => void
  onEnded: OnJobEnded
}

export type OnJobEnded = (outcome: 'done' | 'failed', seconds: number) => void

/** An import whose state changed less than this ago is not treated as dead, because its lock may not be taken yet. */
const graceMs = 5000

/** The states of an import in progress. An organization has at most one such import. */
const working: readonly ImportState[] = ['checking', 'running']

const workState = (job: ImportJob): ImportState => (job === 'check' ? 'checking' : 'running')

type StartedImport = Pick<Import, 'id' | 'kind' | 'mode' | 'isBulk'> & { job: ImportJob }

const stoppedReason = 'The server stopped before the import finished; nothing was changed'

/** The process is stopping; the import is rolled back. */
class ServerStoppingError extends Error {}

/** The run found invalid rows; nothing was written. */
class InvalidRowsError extends Error {
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
export class ImportQueue {
  readonly #deps: Deps
  readonly #running = new Map<number, Promise<void>>()
  /** Organizations with waiting imports, in the order in which they get the next free connection. */
  readonly #pending = new Set<number>()
  readonly #starting = new Set<Promise<void>>()
  /** Connections that are in use or reserved. */
  #inUse = 0
  #isStopping = false

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** The number of imports that this process runs, and of those that it has put in the queue. */
  get load(): { running: number; waiting: number } {
    return { running: this.#running.size, waiting: this.#deps.progress.waiting }
  }

  /** Starts the job if the organization has no import in progress and this process has a connection; else the job waits. */
  async enqueue(
    orgId: number,
    id: number,
    from: readonly ImportState[],
    job: ImportJob,
    prepare: (tx: Tx, found: Import) => Promise<void>,
  ): Promise<void> {
    const { db, clock, progress } = this.#deps
    const hasConnection = this.#reserve()
    try {
      const started = await db.withTenant(orgId, async (tx) => {
        await lockImports(tx, orgId)
        const found = await findImport(tx, orgId, id)
        if (found === null) throw apiError.notFound('Import')
        const others = await importsIn(tx, orgId, [...working, 'waiting'])
        const mayStart = hasConnection && others.length === 0
        const to = mayStart ? workState(job) : 'waiting'
        if (!(await setState(tx, orgId, id, { from, to, at: now(clock), job })))
          throw apiError.conflict(`The import is ${found.state}`)
        await prepare(tx, found)
        if (mayStart) return { ...found, job }
        progress.queued(id)
        return null
      })
      if (started === null) this.#startWaiting(orgId)
      else this.#start(orgId, started)
      if (started === null && hasConnection) this.#release()
    } catch (error) {
      if (hasConnection) this.#release()
      throw error
    }
  }

  /** The number of rows that the job in progress has processed, or that an ended job had. */
  doneRows({ id, state, rows }: Import): number {
    if (state === 'checked' || state === 'done') return rows
    return working.includes(state) ? this.#deps.progress.doneRows(state, id) : 0
  }

  /** If the import's process may have died, marks it as failed, starts the next one, and returns true. */
  async failDead(orgId: number, { id, state, changedAt }: Import): Promise<boolean> {
    const isBusy = state === 'waiting' || working.includes(state)
    if (!isBusy || !this.#isDue({ id, changedAt })) return false
    await this.#failDeadImports(orgId)
    this.#startWaiting(orgId)
    return true
  }

  /** This process does not run the import, and its lock must have been taken if another one does. */
  #isDue({ id, changedAt }: Pick<Import, 'id' | 'changedAt'>): boolean {
    return !this.#running.has(id) && this.#deps.clock.millis() - millisOf(changedAt) > graceMs
  }

  /** Aborts the imports in progress, which rolls back their changes. */
  async close(): Promise<void> {
    this.#isStopping = true
    this.#pending.clear()
    await Promise.all(this.#starting)
    await Promise.all(this.#running.values())
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
      const starting = this.#takeWaiting(orgId)
        .then((taken) => (taken === null ? this.#release() : this.#start(orgId, taken)))
        .catch((error: unknown) => {
          this.#deps.onFailure(error)
          this.#release()
        })
        .finally(() => this.#starting.delete(starting))
      this.#starting.add(starting)
    }
  }

  /** Takes the import that has waited longest; null when none waits or another one is in progress. */
  #takeWaiting(orgId: number): Promise<StartedImport | null> {
    const { background, clock } = this.#deps
    return background.withTenant(orgId, async (tx) => {
      await lockImports(tx, orgId)
      const all = await importsIn(tx, orgId, [...working, 'waiting'])
      const [first] = all
      if (first === undefined || all.some(({ state }) => state !== 'waiting')) return null
      const job = first.job!
      await setState(tx, orgId, first.id, { from: ['waiting'], to: workState(job), at: now(clock), job })
      return { ...first, job }
    })
  }

  /** Reserves the maximum number of ids that the rows could need. */
  async #idPool(tx: Tx, orgId: number, id: number): Promise<IdPool> {
    const { ids } = this.#deps
    const { rows, tags } = await countStaged(tx, orgId, id)
    return { records: await ids.nextMany(orgId, rows), tags: await ids.nextMany(orgId, Math.min(tags, maxImportTags)) }
  }

  /** Runs the job in one transaction in the background; its last step sets the final state. */
  #start(orgId: number, started: StartedImport): void {
    const { background, clock, progress, onFailure, onEnded } = this.#deps
    const { id, job, isBulk } = started
    const startedAtMs = performance.now()
    const secondsSoFar = (): number => (performance.now() - startedAtMs) / 1000
    const state = workState(job)
    const reportDone = progress.started(state, id)
    const report = (done: number): void => {
      if (this.#isStopping) throw new ServerStoppingError()
      reportDone(done)
    }
    // The rows of a bulk job are not needed again, also when they were only checked.
    const isFinal = job !== 'check' || isBulk
    const runJob = async (tx: Tx): Promise<void> => {
      if (!(await tryLockImport(tx, id))) throw new Error('another process works on this import')
      await withCustomPlan(tx)
      const ids = job === 'check' ? null : await this.#idPool(tx, orgId, id)
      const result = await this.#work(tx, orgId, started, ids, report)
      if (job === 'run' && result.errorsTotal > 0) throw new InvalidRowsError(result)
      await setResult(tx, orgId, id, result)
      if (isFinal) await deleteRows(tx, orgId, id)
      if (!(await setState(tx, orgId, id, { from: [state], to: isFinal ? 'done' : 'checked', at: now(clock) })))
        throw new Error('the import is no longer in progress')
    }
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

  async #work(
    tx: Tx,
    orgId: number,
    { id: importId, kind, mode }: StartedImport,
    ids: IdPool | null,
    progress: (done: number) => void,
  ): Promise<ImportResult> {
    const { clock, quotas } = this.#deps
    if (ids !== null) await quotas.assertRoom(orgId, 'stored_bytes')
    const room = await quotas.roomFor(orgId, kind)
    return runImport(kind, { tx, orgId, importId, clock, mode, ids, room, progress })
  }

  async #fail(orgId: number, { id, job, isBulk }: StartedImport, error: unknown): Promise<void> {
    const { background, clock, onFailure } = this.#deps
    const isStopping = error instanceof ServerStoppingError
    if (!(isStopping || error instanceof InvalidRowsError || error instanceof ApiError)) onFailure(error)
    const unexpected = isStopping ? stoppedReason : 'The import was aborted'
    const reason = error instanceof ApiError ? error.message : unexpected
    const failed = { ...emptyResult(), errorsTotal: 1, errors: [{ line: 0, field: '', message: reason }] }
    await background.withTenant(orgId, async (tx) => {
      if (!(await setState(tx, orgId, id, { from: [workState(job)], to: 'failed', at: now(clock) }))) return
      await setResult(tx, orgId, id, error instanceof InvalidRowsError ? error.result : failed)
      if (isBulk) await deleteRows(tx, orgId, id)
    })
  }

  /** Marks the organization's import in progress as failed when no process holds its lock. */
  async #failDeadImports(orgId: number): Promise<void> {
    const { db, clock } = this.#deps
    await db.withTenant(orgId, async (tx) => {
      for (const one of await importsIn(tx, orgId, working)) {
        if (!this.#isDue(one) || !(await tryLockImport(tx, one.id))) continue
        if (!(await setState(tx, orgId, one.id, { from: [one.state], to: 'failed', at: now(clock) }))) continue
        const errors = [{ line: 0, field: '', message: stoppedReason }]
        await setResult(tx, orgId, one.id, { ...emptyResult(), errorsTotal: 1, errors })
        if (one.isBulk) await deleteRows(tx, orgId, one.id)
      }
    })
  }
}
