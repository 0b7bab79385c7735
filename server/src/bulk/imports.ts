import { LRUCache } from 'lru-cache'
import type { Database, Tx } from '../db/database.ts'
import type { IdSource } from '../db/id-source.ts'
import { withCustomPlan } from '../db/plans.ts'
import type { Wake } from '../db/wake.ts'
import { type Clock, now } from '../kernel/clock.ts'
import { Refusal, refuse } from '../kernel/errors.ts'
import { millisOf } from '../kernel/instant.ts'
import type { IdPool } from './apply.ts'
import { type Import, type ImportKind, type ImportState, type StagedRow, type Tally, emptyTally } from './import.ts'
import {
  deleteImport,
  findImport,
  holdImport,
  insertImport,
  setState,
  setTally,
  stageRows,
  stagedRows,
} from './imports.sql.ts'
import { workThrough } from './work.ts'

interface Needs {
  db: Database
  clock: Clock
  ids: IdSource
  wake: Pick<Wake, 'send'>
  onFailure: (error: unknown) => void
}

export const progressTopic = 'import'
export const mostRows = 200_000

/** Between being announced and being held, work is given this long before it counts as dead. */
const graceMs = 5000
const tellMs = 300

/** The rows turned out to be wrong; nothing was written. */
class WrongRows extends Error {
  readonly tally: Tally

  constructor(tally: Tally) {
    super('rows are wrong')
    this.tally = tally
  }
}

/**
 * Imports and the work on them. The work is one transaction that also says "done", so a process that dies leaves
 * everything as it was: its hold on the import ends with its connection, and whoever looks next calls the import
 * failed. How far the work is cannot be read from outside its transaction, so it is told by news.
 */
export class Imports {
  readonly #needs: Needs
  readonly #running = new Map<number, Promise<void>>()
  /** What is known of each import's work, by its state and id: news of a check says nothing about the run. */
  readonly #progress = new LRUCache<string, number>({ max: 1000 })
  #isStopping = false

  constructor(needs: Needs) {
    this.#needs = needs
  }

  /** News of how far some import is. */
  heard(payload: string): void {
    const [state = '', id = '', done = ''] = payload.split(' ')
    this.#progress.set(`${state} ${id}`, Number(done))
  }

  async create(orgId: number, kind: ImportKind): Promise<number> {
    const id = await this.#needs.ids.next(orgId)
    await this.#needs.db.inOrganization(orgId, (tx) => insertImport(tx, orgId, id, kind, now(this.#needs.clock)))
    return id
  }

  /** With how many of its rows are done. An import whose worker died is failed from now on. */
  async get(orgId: number, id: number): Promise<Import & { doneRows: number }> {
    const { db, clock } = this.#needs
    let found = await findImport(db.read, orgId, id)
    if (found === null) throw refuse.notFound('Import')
    const isBusy = found.state === 'checking' || found.state === 'running'
    const isDue = isBusy && !this.#running.has(id) && clock.millis() - millisOf(found.changedAt) > graceMs
    if (isDue && (await this.#buryDead(orgId, found))) found = (await findImport(db.read, orgId, id)) ?? found
    const doneRows = { open: 0, checked: found.rows, done: found.rows, failed: 0 } as Partial<
      Record<ImportState, number>
    >
    return { ...found, doneRows: doneRows[found.state] ?? this.#progress.get(`${found.state} ${id}`) ?? 0 }
  }

  async addRows(orgId: number, id: number, rows: readonly StagedRow[]): Promise<void> {
    await this.#change(orgId, id, ['open', 'checked', 'failed'], 'open', async (tx) => {
      if (rows.length === 0 || (await stageRows(tx, orgId, id, rows)) <= mostRows) return
      const message = `An import holds ${mostRows} rows at most`
      throw refuse.invalid({ field: 'rows', code: 'too_long', message, params: { max_length: mostRows } })
    })
  }

  async check(orgId: number, id: number): Promise<void> {
    const from: ImportState[] = ['open', 'checked', 'failed']
    const { kind } = await this.#change(orgId, id, from, 'checking', (tx) => setTally(tx, orgId, id, emptyTally()))
    this.#start(orgId, id, 'checking', async (tx) => {
      await setTally(tx, orgId, id, await this.#work(tx, orgId, id, kind, null))
      return 'checked'
    })
  }

  async run(orgId: number, id: number, options: { skipErrors: boolean }): Promise<void> {
    const { kind } = await this.#change(orgId, id, ['checked'], 'running', async (_tx, found) => {
      if (found.errorsTotal > 0 && !options.skipErrors) throw refuse.conflict('The import has errors')
    })
    const pool = this.#idPool(orgId, id)
    this.#start(
      orgId,
      id,
      'running',
      async (tx) => {
        const ids = await pool
        const tally = await this.#work(tx, orgId, id, kind, { records: [...ids.records], tags: [...ids.tags] })
        if (tally.errorsTotal > 0 && !options.skipErrors) throw new WrongRows(tally)
        await setTally(tx, orgId, id, tally)
        return 'done'
      },
      pool,
    )
  }

  async remove(orgId: number, id: number): Promise<void> {
    await this.get(orgId, id)
    await this.#change(orgId, id, ['open', 'checked', 'failed', 'done'], 'open', (tx) => deleteImport(tx, orgId, id))
  }

  /** Work under way is given up; nothing of it stays. */
  async close(): Promise<void> {
    this.#isStopping = true
    await Promise.all(this.#running.values())
  }

  /** Moves the import on, together with what goes with it. */
  async #change(
    orgId: number,
    id: number,
    from: readonly ImportState[],
    to: ImportState,
    work: (tx: Tx, found: Import) => Promise<void>,
  ): Promise<Import> {
    const { db, clock } = this.#needs
    return db.inOrganization(orgId, async (tx) => {
      const isMoved = await setState(tx, orgId, id, from, to, now(clock))
      const found = await findImport(tx, orgId, id)
      if (found === null) throw refuse.notFound('Import')
      if (!isMoved) throw refuse.conflict(`The import is ${found.state}`)
      await work(tx, found)
      return found
    })
  }

  /** As many ids as the rows could need at most. */
  async #idPool(orgId: number, id: number): Promise<IdPool> {
    const { db, ids } = this.#needs
    let [rows, tags] = [0, 0]
    for (let after = 0; ;) {
      const staged = await stagedRows(db.read, orgId, id, after, 5000)
      if (staged.length === 0) break
      rows += staged.length
      for (const { content } of staged) {
        const wanted = (content as { tags?: unknown }).tags
        if (Array.isArray(wanted)) tags += wanted.length
      }
      after = staged.at(-1)!.line
    }
    return { records: await ids.many(orgId, rows), tags: await ids.many(orgId, tags) }
  }

  /** Runs the work in one transaction behind the request; its last step says what the import is then. */
  #start(
    orgId: number,
    id: number,
    state: ImportState,
    work: (tx: Tx) => Promise<ImportState>,
    ready: Promise<unknown> = Promise.resolve(),
  ): void {
    const { db, clock, onFailure } = this.#needs
    const whole = async (tx: Tx): Promise<void> => {
      if (!(await holdImport(tx, id))) throw new Error('another process works on this import')
      await withCustomPlan(tx)
      const next = await work(tx)
      if (!(await setState(tx, orgId, id, [state], next, now(clock)))) throw new Error('the import was given up')
    }
    void this.#needs.wake.send(progressTopic, `${state} ${id} 0`).catch(() => undefined)
    const running = ready
      .then(() => db.inOrganization(orgId, whole))
      .catch((error: unknown) => this.#fail(orgId, id, state, error))
      .catch(onFailure)
      .finally(() => this.#running.delete(id))
    this.#running.set(id, running)
  }

  #work(tx: Tx, orgId: number, importId: number, kind: ImportKind, ids: IdPool | null): Promise<Tally> {
    const { clock, wake } = this.#needs
    const state: ImportState = ids === null ? 'checking' : 'running'
    let toldAt = performance.now()
    const progress = (done: number): void => {
      if (this.#isStopping) throw new Error('the server stops')
      this.heard(`${state} ${importId} ${done}`)
      if (performance.now() - toldAt < tellMs) return
      toldAt = performance.now()
      void wake.send(progressTopic, `${state} ${importId} ${done}`).catch(() => undefined)
    }
    return workThrough(kind, { tx, orgId, importId, clock, ids, progress })
  }

  async #fail(orgId: number, id: number, state: ImportState, error: unknown): Promise<void> {
    const { db, clock, onFailure } = this.#needs
    const isExpected = error instanceof WrongRows || error instanceof Refusal
    if (!isExpected) onFailure(error)
    const reason = error instanceof Refusal ? error.message : 'The import was given up before its end'
    const failed = { ...emptyTally(), errorsTotal: 1, errors: [{ line: 0, field: '', message: reason }] }
    await db.inOrganization(orgId, async (tx) => {
      if (!(await setState(tx, orgId, id, [state], 'failed', now(clock)))) return
      await setTally(tx, orgId, id, error instanceof WrongRows ? error.tally : failed)
    })
  }

  /** Nobody holds the import although somebody should: true when it is failed now. */
  async #buryDead(orgId: number, { id, state }: Import): Promise<boolean> {
    const { db, clock } = this.#needs
    return db.inOrganization(orgId, async (tx) => {
      if (!(await holdImport(tx, id))) return false
      if (!(await setState(tx, orgId, id, [state], 'failed', now(clock)))) return true
      const message = 'The server stopped before the import was through; nothing was changed'
      await setTally(tx, orgId, id, { ...emptyTally(), errorsTotal: 1, errors: [{ line: 0, field: '', message }] })
      return true
    })
  }
}

/** Removes an import unless somebody works on it at this moment. */
export async function forgetImport(tx: Tx, orgId: number, id: number): Promise<void> {
  if (await holdImport(tx, id)) await deleteImport(tx, orgId, id)
}
