import type { Tx } from '../db/database.ts'
import type { RecordKind } from './counts.sql.ts'
import type { RecordCore } from './record.ts'

interface Written<R> {
  record: R
  search: string
}

/** The statements of one kind of record for many rows at once. All of them see live rows only. */
export interface BulkRepository<R extends RecordCore> {
  kind: RecordKind
  byKeys: (tx: Tx, orgId: number, keys: readonly string[]) => Promise<R[]>
  /** Holds the rows until the transaction ends, in the order of their ids. */
  lock: (tx: Tx, orgId: number, keys: readonly string[]) => Promise<void>
  /** Says how many went in; a key that was taken meanwhile stays out. */
  insert: (tx: Tx, orgId: number, all: readonly Written<R>[]) => Promise<number>
  update: (tx: Tx, orgId: number, all: readonly Written<R>[]) => Promise<void>
}
