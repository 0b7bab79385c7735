import type { Db } from '../db/database.ts'
import type { Sql } from '../db/sql.ts'
import { isAmong, isMeant } from './list.sql.ts'
import type { RecordCore, RecordRef } from './record.ts'

/** What one statement looks for at most: while the database does one, the service works on the answers of another. */
const atOnce = 32
/** Fewer wait while many are under way, for more to come or for their answers, and never longer than this. */
const few = 16
const many = 8
const longestWaitMs = 5

type Find<R> = (db: Db, orgId: number, id: number) => Promise<R | null>

export interface Finders<R> {
  find: (db: Db, orgId: number, ref: RecordRef) => Promise<R | null>
  /** Together with others that are asked for at about the same time. Not for transactions, where the order matters. */
  findTogether: Find<R>
}

/** The statement gets a condition on `r`. */
export function findersOf<R extends RecordCore>(
  select: (db: Db, orgId: number, which: Sql) => Promise<R[]>,
): Finders<R> {
  return {
    find: async (db, orgId, ref) => (await select(db, orgId, isMeant(orgId, ref)))[0] ?? null,
    findTogether: together((db, orgId, ids) => select(db, orgId, isAmong(orgId, ids))),
  }
}

interface Wanted<R> {
  id: number
  resolve: (record: R | null) => void
  reject: (error: unknown) => void
}

/**
 * Records of one organization that are asked for in the same turn of the loop are found by one statement: under load it
 * takes the place of many. A statement costs as much as ten records, so a few wait a moment while many are under way.
 * One that is under way is never joined: whoever asks after a write sees it.
 */
class Gathering<R extends RecordCore> {
  #wanted: Wanted<R>[] = []
  #underWay = 0
  #isDue = false
  #waiting: NodeJS.Timeout | undefined
  readonly #findAll: (ids: readonly number[]) => Promise<R[]>
  readonly #onIdle: () => void

  constructor(findAll: (ids: readonly number[]) => Promise<R[]>, onIdle: () => void) {
    this.#findAll = findAll
    this.#onIdle = onIdle
  }

  find(id: number): Promise<R | null> {
    this.#sendAfterThisTurn()
    return new Promise((resolve, reject) => this.#wanted.push({ id, resolve, reject }))
  }

  #sendAfterThisTurn(): void {
    if (this.#isDue) return
    this.#isDue = true
    setImmediate(() => this.#send())
  }

  #send(): void {
    this.#isDue = false
    while (this.#wanted.length >= few || (this.#wanted.length > 0 && this.#underWay < many)) this.#sendNext()
    if (this.#wanted.length > 0) this.#waiting ??= setTimeout(() => this.#sendNext(), longestWaitMs)
  }

  #sendNext(): void {
    clearTimeout(this.#waiting)
    this.#waiting = undefined
    void this.#ask(this.#wanted.splice(0, atOnce))
  }

  async #ask(some: readonly Wanted<R>[]): Promise<void> {
    this.#underWay += some.length
    try {
      const found = await this.#findAll([...new Set(some.map(({ id }) => id))])
      const byId = new Map(found.map((record) => [record.id, record]))
      for (const { id, resolve } of some) resolve(byId.get(id) ?? null)
    } catch (error) {
      for (const { reject } of some) reject(error)
    }
    this.#underWay -= some.length
    if (this.#wanted.length > 0) this.#sendAfterThisTurn()
    else if (this.#underWay === 0) this.#onIdle()
  }
}

function together<R extends RecordCore>(
  findAll: (db: Db, orgId: number, ids: readonly number[]) => Promise<R[]>,
): Find<R> {
  const busy = new Map<Db, Map<number, Gathering<R>>>()
  return (db, orgId, id) => {
    const organizations = orMake(busy, db, () => new Map<number, Gathering<R>>())
    const gathering = orMake(
      organizations,
      orgId,
      () =>
        new Gathering(
          (ids) => findAll(db, orgId, ids),
          () => organizations.delete(orgId),
        ),
    )
    return gathering.find(id)
  }
}

function orMake<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  let value = map.get(key)
  if (value === undefined) map.set(key, (value = make()))
  return value
}
