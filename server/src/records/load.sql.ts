import DataLoader from 'dataloader'
import type { Db } from '../db/database.ts'
import { type Sql, sql } from '../db/sql.ts'
import { fromDatabase } from '../kernel/instant.ts'
import { type TagRow, onFirstTagRow, tagOf } from '../tags/tags.sql.ts'
import type { BaseRecord, RecordRef } from './record.ts'

export interface RecordRow extends TagRow {
  id: number
  external_key: string
  name: string
  description: string | null
  is_active: boolean
  valid_from: string
  valid_to: string | null
  created_at: string
  updated_at: string
  deleted_at: string | null
}

const otherColumns: Sql = sql`r.is_active, r.valid_from, r.valid_to, r.created_at, r.updated_at, r.deleted_at`

export const recordColumns: Sql = sql`r.id, r.external_key, r.name, r.description, ${otherColumns}`

/** The columns of a statement that ends with `orderTagRows`. The texts are only in the first row of a record. */
export const recordRowColumns: Sql = sql`r.id, ${onFirstTagRow(sql`r.external_key`)} as external_key,
  ${onFirstTagRow(sql`r.name`)} as name, ${onFirstTagRow(sql`r.description`)} as description, ${otherColumns}`

/** A condition on `r` for the live record with this id or key. */
export const whereRef = (orgId: number, ref: RecordRef): Sql =>
  typeof ref === 'number'
    ? sql`r.org_id = ${orgId} and r.id = ${ref} and r.deleted_at is null`
    : sql`r.org_id = ${orgId} and r.external_key = ${ref.key} and r.deleted_at is null`

/** A condition on `r` for the live records with these ids. */
const whereIds = (orgId: number, ids: readonly number[]): Sql =>
  sql`r.org_id = ${orgId} and r.id = any(${ids}::bigint[]) and r.deleted_at is null`

/** There is one row per tag, ordered by record; consecutive rows of a record are merged. */
export function groupRows<Row extends RecordRow, Record extends BaseRecord>(
  rows: readonly Row[],
  build: (row: Row) => Record,
): Record[] {
  const records: Record[] = []
  let last: Record | undefined
  for (const row of rows) {
    if (row.id === null) continue
    const tag = tagOf(row)
    if (last?.id !== row.id) {
      last = build(row)
      records.push(last)
    }
    if (tag !== null) last.tags.push(tag)
  }
  return records
}

export function toRecord(row: RecordRow): BaseRecord {
  return {
    id: row.id,
    externalKey: row.external_key,
    name: row.name,
    description: row.description,
    isActive: row.is_active,
    validFrom: fromDatabase(row.valid_from),
    validTo: row.valid_to === null ? null : fromDatabase(row.valid_to),
    createdAt: fromDatabase(row.created_at),
    updatedAt: fromDatabase(row.updated_at),
    deletedAt: row.deleted_at === null ? null : fromDatabase(row.deleted_at),
    tags: [],
  }
}

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
export function createRecordLoader<R extends BaseRecord>(
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
