import { memoryParameters } from './client.ts'
import { longTransactionPoolSize, snapshotPoolSize } from './database.ts'
import { StatementPool } from './pool.ts'
import type { Sql } from './sql.ts'
import { FairTransactionPool, openTransactionPool } from './transactions.ts'

export const writerRole = 'lastseen_writer'
export const readerRole = 'lastseen_reader'

/**
 * The cost of an index lookup for reads that mostly hit memory. With the default, which is meant for hard disks, generic
 * plans scan whole tables: beside a tenant of a million assets, the first page of the report of one location takes a tenant
 * of 300 assets 400 ms instead of 0.2.
 */
const planning = { random_page_cost: '1.1' }

/** Statement timeouts by purpose, and the lock timeout of request transactions. */
const timeoutsMs = { slowRead: 5000, read: 10_000, transaction: 10_000, lock: 3000 }

/** Connections reserved for authentication. */
const authenticationPool = { transactions: 4, reads: 1, writes: 2 }

/** Idle time after which connections for long transactions are closed. */
const longIdleMs = 10_000

/** Larger than the pools for single statements: a transaction is mostly idle between statements or waits for the disk. */
export const transactionPoolSize = (poolSize: number): number => 2 * poolSize

export interface PoolOptions {
  url: string
  /** A replica for reads that may be slightly stale; without it they go to the primary. */
  replicaUrl?: string | undefined
  poolSize: number
  /** Called with every statement before it runs; tests check each one for tenant isolation. */
  onStatement?: (statement: Sql) => void
}

type Parameters = Record<string, string>

/** The parameters of connections by what they run. */
export function connectionParameters(maxStatementMs: number) {
  const capped = (ms: number): string => String(Math.min(ms, maxStatementMs))
  const statement = { max_parallel_workers_per_gather: '0', ...planning, ...memoryParameters }
  const writer = {
    role: writerRole,
    statement_timeout: capped(timeoutsMs.transaction),
    lock_timeout: capped(timeoutsMs.lock),
    ...planning,
    ...memoryParameters,
  }
  return {
    write: { ...statement, ...writer },
    read: { role: readerRole, statement_timeout: capped(timeoutsMs.read), ...statement },
    slowRead: { role: readerRole, statement_timeout: capped(timeoutsMs.slowRead), ...statement },
    // On Citus, `set local app.org_id` must reach the node that stores the tenant's rows.
    transaction: { ...writer, 'citus.propagate_set_commands': 'local' },
  }
}

/** The connections for single statements. */
export function openStatementPools(
  { url, replicaUrl, poolSize, onStatement }: PoolOptions,
  queryTimeoutMs: number,
  { write, read, slowRead }: ReturnType<typeof connectionParameters>,
) {
  const open = (parameters: Parameters, size = poolSize, at = url): StatementPool =>
    new StatementPool({ url: at, size, queryTimeoutMs, onStatement, parameters })
  return {
    writer: open(write),
    reader: open(read),
    slowReader: open(slowRead),
    replicaReader: replicaUrl === undefined ? null : open(slowRead, poolSize, replicaUrl),
    authenticationReader: open(read, authenticationPool.reads),
    authenticationWriter: open(write, authenticationPool.writes),
  }
}

export type TransactionPools = Record<'ordinary' | 'authenticating' | 'long' | 'snapshots', FairTransactionPool>

export function openTransactionPools(
  { url, poolSize, onStatement }: PoolOptions,
  timeoutMs: number,
  parameters: Parameters,
): TransactionPools {
  const openFair = (max: number, idleTimeoutMillis = 0): FairTransactionPool =>
    new FairTransactionPool({
      max,
      open: () => openTransactionPool(url, { max, idleTimeoutMillis, timeoutMs, parameters }),
      timeoutMs,
      onStatement,
    })
  return {
    ordinary: openFair(transactionPoolSize(poolSize)),
    authenticating: openFair(authenticationPool.transactions),
    long: openFair(longTransactionPoolSize, longIdleMs),
    snapshots: openFair(snapshotPoolSize, longIdleMs),
  }
}
