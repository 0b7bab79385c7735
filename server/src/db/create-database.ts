import { FairQueue } from '../admission/fair-queue.ts'
import {
  type PoolOptions,
  type TransactionPools,
  connectionParameters,
  openStatementPools,
  openTransactionPools,
  writerRole,
} from './connection-pools.ts'
import type { Database, Db, Transactions, TxOptions } from './database.ts'
import { HealthProbe } from './failover/health-probe.ts'
import { parseHosts } from './failover/primary-discovery.ts'
import { Replica } from './failover/replica.ts'
import { NotificationListener } from './listener.ts'
import type { PoolUsage } from './pool.ts'
import { sql } from './sql.ts'
import { type FairTransactionPool, beginTransaction, pipelined, stepwise } from './transactions.ts'

/**
 * For connections that create or alter tables. Plain PostgreSQL ignores these settings. On Citus they prevent the
 * implicit conversion of tables to Citus local tables and change shards sequentially.
 */
export const citusDdlSettings = {
  'citus.enable_local_reference_table_foreign_keys': 'off',
  'citus.multi_shard_modify_mode': 'sequential',
}

/** Every role can see the names of connections, so a publisher knows which processes must acknowledge. */
const listenerName = 'lastseen pubsub '

export interface ConnectOptions extends PoolOptions {
  /** Shared by all processes that were started by the same command. */
  instanceGroup?: string | undefined
  /** The longest wait for an answer of the database, and for a free connection. */
  timeoutMs?: number
  /** Limits the time of each organization's searches, reports and long lists. */
  queryTime?: QueryTimeLimit
}

interface QueryTimeLimit {
  /** Throws when the organization has used up its time. */
  assertLeft(orgId: number): Promise<void>
  measure<Result>(orgId: number, work: () => Promise<Result>): Promise<Result>
}

export interface Connection extends Database {
  /** For background work that no request waits for: statement and lock timeouts are longer. */
  readonly background: Database
  /** For token checks, token exchanges, sign-ins and shared rate limits: connections that no other work can occupy. */
  readonly authentication: Database
  /** Identifies this process among all processes connected to the database. */
  readonly name: string
  /** `onListening` is called at first and after each reconnection, when notifications may have been missed. */
  listen(channel: string, onNotification: (payload: string) => void, onListening: () => void): Promise<void>
  notify(channel: string, payload: string): Promise<void>
  /** The names of all processes that have a listening connection. */
  listeners(): Promise<string[]>
  /** Rejects when the database does not answer. It uses a dedicated connection, so it never waits for the pools. */
  ping(): Promise<void>
  /** How much of each pool is in use now. */
  poolUsage(): Record<string, PoolUsage>
  close(): Promise<void>
}

export const randomName = (): string => Math.random().toString(36).slice(2)

/** Whether a listening process belongs to this instance group. */
export const isSameInstanceGroup = (name: string, instanceGroup: string): boolean =>
  name.startsWith(`${instanceGroup}/`)

const unlimitedQueryTime: QueryTimeLimit = {
  assertLeft: async () => undefined,
  measure: (_orgId, work) => work(),
}

export const defaultTimeoutMs = 40_000

/** Transactions without a tenant share the connections as if they were one more tenant. */
const installation = 0

export function createDatabase(options: ConnectOptions): Connection {
  const { url, poolSize, queryTime = unlimitedQueryTime } = options
  const timeoutMs = options.timeoutMs ?? defaultTimeoutMs
  // The server cancels a statement before the driver closes the connection.
  const maxStatementMs = Math.floor(timeoutMs * 0.75)
  const parameters = connectionParameters(maxStatementMs)
  const statements = openStatementPools(options, timeoutMs, parameters)
  const { writer, reader, slowReader, replicaReader, authenticationReader, authenticationWriter } = statements
  const replica = replicaReader === null ? null : new Replica(options.replicaUrl!, replicaReader, slowReader)
  const transactions = openTransactionPools(options, timeoutMs, parameters.transaction)
  const name = `${options.instanceGroup ?? ''}/${process.pid}-${randomName()}`
  const listener = new NotificationListener(url, { role: writerRole, application_name: `${listenerName}${name}` })
  const newProbe = (): HealthProbe => new HealthProbe(parseHosts(url).current, 'select 1 as one')
  let probe = newProbe()
  // One slow read per connection. The queue keeps one tenant from occupying all connections with slow statements.
  const slowReads = new FairQueue({ maxInFlight: poolSize, timeoutMs })
  const stopWatching = parseHosts(url).watch(() => {
    for (const pool of [writer, reader, slowReader, authenticationReader, authenticationWriter]) pool.destroyAll()
    for (const pool of Object.values(transactions)) pool.reconnect()
    probe.close()
    probe = newProbe()
    listener.reconnect()
  })

  const requests: Database = {
    read: reader,
    searches: (orgId) => queuedReads(orgId, slowReader, slowReads, queryTime),
    replica: (orgId) => queuedReads(orgId, replica ?? slowReader, slowReads, queryTime),
    global: writer,
    ...transactionsOn(transactions.ordinary, transactions, maxStatementMs),
  }
  const backgroundSettings = `set local statement_timeout = ${maxStatementMs}; set local lock_timeout = 0`
  const background = transactionsOn(transactions.ordinary, transactions, maxStatementMs, backgroundSettings)

  return {
    name,
    ...requests,
    background: {
      ...requests,
      ...background,
      global: { query: (statement) => background.globalTransaction((tx) => tx.query(statement)) },
    },
    authentication: {
      ...requests,
      ...transactionsOn(transactions.authenticating, transactions, maxStatementMs),
      read: authenticationReader,
      global: authenticationWriter,
    },
    listen: (channel, onNotification, onListening) => listener.listen(channel, onNotification, onListening),
    async notify(channel, payload) {
      await writer.query(sql`select pg_notify(${channel}, ${payload})`)
    },
    async listeners() {
      const rows = await writer.query<{ application_name: string }>(sql`
        select application_name from pg_stat_activity
        where datname = current_database() and starts_with(application_name, ${listenerName})`)
      return rows.map((row) => row.application_name.slice(listenerName.length))
    },
    async ping() {
      const answer = await probe.check()
      if (typeof answer === 'string') throw new Error(answer)
    },
    poolUsage: () => ({
      writes: writer.usage,
      reads: reader.usage,
      searches: { ...slowReader.usage, waiting: slowReader.usage.waiting + slowReads.waiting },
      ...(replicaReader === null ? {} : { replica: replicaReader.usage }),
      authentication_reads: authenticationReader.usage,
      authentication_writes: authenticationWriter.usage,
      transactions: transactions.ordinary.usage,
      authentication: transactions.authenticating.usage,
      long_transactions: transactions.long.usage,
      snapshots: transactions.snapshots.usage,
    }),
    async close() {
      stopWatching()
      slowReads.close()
      probe.close()
      await Promise.all([
        writer.close(),
        reader.close(),
        slowReader.close(),
        authenticationReader.close(),
        authenticationWriter.close(),
        replica?.close(),
        listener.close(),
        ...Object.values(transactions).map((pool) => pool.close()),
      ])
    },
  }
}

/** `settings` are statements at the begin of each transaction that is not a snapshot. */
function transactionsOn(
  pool: FairTransactionPool,
  { long, snapshots }: TransactionPools,
  maxStatementMs: number,
  settings = '',
): Transactions {
  return {
    withTenant(orgId, work, { asyncCommit = false, isLong = false, isSnapshot = false }: TxOptions = {}) {
      const snapshotSettings = `set local statement_timeout = ${maxStatementMs}`
      const begin = beginTransaction(orgId, isSnapshot ? snapshotSettings : settings, { asyncCommit, isSnapshot })
      return (isSnapshot ? snapshots : isLong ? long : pool).transact(orgId, begin, stepwise(work))
    },
    withTenantPipelined(orgId, work) {
      return pool.transact(orgId, beginTransaction(orgId, settings), pipelined(work))
    },
    globalTransaction: (work) =>
      pool.transact(installation, ['begin', ...(settings === '' ? [] : [settings])], stepwise(work)),
  }
}

/** Once the first statement of a request is admitted, the others are too, because its response may have begun. */
function queuedReads(orgId: number, db: Db, queue: FairQueue, queryTime: QueryTimeLimit): Db {
  let isAdmitted = false
  const admit = async (): Promise<void> => {
    if (!isAdmitted) await queryTime.assertLeft(orgId)
  }
  return {
    async query(statement) {
      await admit()
      return queue.run(orgId, 1, async () => {
        // The query time of the organization may have been used up while the statement was queued.
        await admit()
        isAdmitted = true
        return queryTime.measure(orgId, () => db.query(statement))
      })
    },
  }
}
