import type { Sql } from './sql.ts'

declare const open: unique symbol

export interface Db {
  query<Row extends object>(statement: Sql): Promise<Row[]>
}

/** An open transaction: what takes a `Tx` cannot be handed a pool by mistake. */
export interface Tx extends Db {
  readonly [open]: true
}

/**
 * The doors to the data. A tenant's rows are written only through `inOrganization` and `sendInOrganization`, where row
 * level security admits that organization alone; `read` serves hot reads on a role that cannot write; `searches` and
 * `reports` serve reads that may take long, on connections of their own of which no tenant holds all; a report may be a
 * moment old, from a replica where there is one; `common` (one statement) and `shared` (a transaction) reach the few
 * tables that belong to no tenant.
 */
export interface Database extends Transactions {
  readonly read: Db
  readonly global: Db
  searches(orgId: number): Db
  replica(orgId: number): Db
}

export interface Transactions {
  withTenant<Result>(orgId: number, work: (tx: Tx) => Promise<Result>, options?: TxOptions): Promise<Result>
  /**
   * A transaction in a single round trip: it opens and commits in the packet of what `work` asks before it first waits.
   * Only the database can take it back, by failing one of the statements; what `work` throws comes too late.
   */
  withTenantPipelined<Result>(orgId: number, work: (tx: Tx) => Promise<Result>): Promise<Result>
  globalTransaction<Result>(work: (tx: Tx) => Promise<Result>): Promise<Result>
}

export interface TxOptions {
  /** Commit without waiting for the disk: only for what may be lost in a crash without anybody noticing. */
  asyncCommit?: boolean
  /** Run on one of the connections that no request uses, because the transaction takes long. */
  isLong?: boolean
}

/** Connections of a process for long transactions. */
export const longTransactionPoolSize = 2
