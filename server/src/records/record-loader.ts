import DataLoader from 'dataloader'
import type { Db } from '../db/database.ts'
import type { Sql } from '../db/sql.ts'
import { whereIds, whereRef } from './list.sql.ts'
import type { RecordCore, RecordRef } from './record.ts'

/** The maximum number of records per statement. */
const batchSize = 32

export interface RecordLoader<R> {
  find: (db: Db, orgId: number, ref: RecordRef) => Promise<R | null>
  /**
   * Requests of one organization in the same event-loop tick share a statement. A statement that was already sent is never
   * reused, so a read issued after a write always sees it. Not for transactions, where the order matters.
   */
  load: (db: Db, orgId: number, id: number) => Promise<R | null>
}

/** `where` is a condition on `r`. */
export function createRecordLoader<R extends RecordCore>(
  select: (db: Db, orgId: number, where: Sql) => Promise<R[]>,
): RecordLoader<R> {
  const loaders = new Map<Db, Map<number, DataLoader<number, R | null>>>()

  function loaderOf(db: Db, orgId: number): DataLoader<number, R | null> {
    const tenants = loaders.get(db) ?? new Map<number, DataLoader<number, R | null>>()
    loaders.set(db, tenants)
    const existing = tenants.get(orgId)
    if (existing !== undefined) return existing
    const loadAll = async (ids: readonly number[]): Promise<(R | null)[]> => {
      tenants.delete(orgId)
      const records = await select(db, orgId, whereIds(orgId, [...new Set(ids)]))
      const byId = new Map(records.map((record) => [record.id, record]))
      return ids.map((id) => byId.get(id) ?? null)
    }
    const loader = new DataLoader(loadAll, {
      cache: false,
      maxBatchSize: batchSize,
      batchScheduleFn: (send) => void setImmediate(send),
    })
    tenants.set(orgId, loader)
    return loader
  }

  return {
    find: async (db, orgId, ref) => (await select(db, orgId, whereRef(orgId, ref)))[0] ?? null,
    load: (db, orgId, id) => loaderOf(db, orgId).load(id),
  }
}
