import type { Tx } from '../db/database.ts'
import type { RecordKind } from './counts.sql.ts'
import type { BaseRecord } from './record.ts'

interface Written<R> {
  record: R
  search: string
}

/** The bulk statements of one kind of record. All of them see live rows only. */
export interface BulkRepository<R extends BaseRecord> {
  kind: RecordKind
  byKeys: (tx: Tx, orgId: number, keys: readonly string[]) => Promise<R[]>
  /** Locks the rows until the transaction ends, in the order of their ids. */
  lock: (tx: Tx, orgId: number, keys: readonly string[]) => Promise<void>
  /** Returns the number of inserted rows; rows whose key is already in use are skipped. */
  insert: (tx: Tx, orgId: number, all: readonly Written<R>[]) => Promise<number>
  update: (tx: Tx, orgId: number, all: readonly Written<R>[]) => Promise<void>
}
