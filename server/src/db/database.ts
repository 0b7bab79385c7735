import type { Sql } from './sql.ts'

declare const open: unique symbol

export interface Db {
  query<Row extends object>(statement: Sql): Promise<Row[]>
}

/** An open transaction. The brand keeps callers from passing a pool where a transaction is required. */
export interface Tx extends Db {
  readonly [open]: true
}

/**
 * Access to the data. A tenant's rows are written only through `withTenant` and `withTenantPipelined`, where row level
 * security restricts the transaction to that organization. `read` serves frequent reads with a role that cannot write.
 * `searches` and `replica` serve slow reads on separate connections that are shared fairly among tenants; `replica` may
 * return slightly stale rows from a read replica, if one is configured. `global` (one statement) and `globalTransaction`
 * reach the few tables that belong to no tenant.
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
   * A transaction in a single round trip: begin, all statements that `work` sends before its first await, and commit
   * travel in one packet. Only a failing statement rolls it back; an error thrown by `work` comes after the commit.
   */
  withTenantPipelined<Result>(orgId: number, work: (tx: Tx) => Promise<Result>): Promise<Result>
  globalTransaction<Result>(work: (tx: Tx) => Promise<Result>): Promise<Result>
}

export interface TxOptions {
  /** Commit without waiting for the disk: only for data whose loss in a crash is acceptable. */
  asyncCommit?: boolean
  /** Run on a connection reserved for long transactions, so that requests do not wait for it. */
  isLong?: boolean
  /**
   * Every statement sees the same snapshot, and none writes. The snapshot uses dedicated connections and may stay open
   * for long.
   */
  isSnapshot?: boolean
}

/** Connections per process reserved for long transactions. */
export const longTransactionPoolSize = 2

/** Connections per process for snapshots. */
export const snapshotPoolSize = 4
