import type { Db } from '../db/database.ts'
import type { Sql } from '../db/sql.ts'
import { isAmong, isMeant } from './list.sql.ts'
import type { RecordCore, RecordRef } from './record.ts'

/** What one statement looks for at most: while the database does one, the service works on the answers of another. */
const atOnce = 32

type Find<R> = (db: Db, orgId: number, id: number) => Promise<R | null>

export interface Finders<R> {
  find: (db: Db, orgId: number, ref: RecordRef) => Promise<R | null>
  /** Together with all that are asked for in the same turn of the loop. Not for transactions, where the order matters. */
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
 * takes the place of many, and is sent no later than theirs. One that is under way is never joined, so whoever asks
 * after a write sees it.
 */
function together<R extends RecordCore>(
  findAll: (db: Db, orgId: number, ids: readonly number[]) => Promise<R[]>,
): Find<R> {
  const wanted = new Map<Db, Map<number, Wanted<R>[]>>()

  async function find(db: Db, orgId: number, some: readonly Wanted<R>[]): Promise<void> {
    try {
      const found = await findAll(db, orgId, [...new Set(some.map(({ id }) => id))])
      const byId = new Map(found.map((record) => [record.id, record]))
      for (const { id, resolve } of some) resolve(byId.get(id) ?? null)
    } catch (error) {
      for (const { reject } of some) reject(error)
    }
  }

  function findWanted(): void {
    const all = [...wanted]
    wanted.clear()
    for (const [db, organizations] of all)
      for (const [orgId, some] of organizations)
        for (let from = 0; from < some.length; from += atOnce) void find(db, orgId, some.slice(from, from + atOnce))
  }

  return (db, orgId, id) => {
    if (wanted.size === 0) setImmediate(findWanted)
    const organizations = orMake(wanted, db, () => new Map<number, Wanted<R>[]>())
    const some = orMake(organizations, orgId, () => [])
    return new Promise((resolve, reject) => some.push({ id, resolve, reject }))
  }
}

function orMake<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  let value = map.get(key)
  if (value === undefined) map.set(key, (value = make()))
  return value
}
