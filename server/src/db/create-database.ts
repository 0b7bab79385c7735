import { FairQueue } from '../admission/fair-queue.ts'
import { memoryParameters } from './client.ts'
import {
  type Database,
  type Db,
  type Transactions,
  type TxOptions,
  longTransactionPoolSize,
  snapshotPoolSize,
} from './database.ts'
import { parseHosts } from './failover/primary-discovery.ts'
import { NotificationListener } from './listener.ts'
import { Replica } from './failover/replica.ts'
import { type PoolUsage, StatementPool } from './pool.ts'
import { HealthProbe } from './failover/health-probe.ts'
import { type Sql, sql } from './sql.ts'
import { FairTransactionPool, beginTransaction, openTransactionPool, pipelined, stepwise } from './transactions.ts'

export const writerRole = 'lastseen_writer'
export const readerRole = 'lastseen_reader'

/**
 * For connections that create or alter tables. Plain PostgreSQL ignores these settings. On Citus they prevent the
 * implicit conversion of tables to Citus local tables and change shards sequentially.
 */
export const citusDdlSettings = {
  'citus.enable_local_reference_table_foreign_keys': 'off',
  'citus.multi_shard_modify_mode': 'sequential',
}

/**
 * The cost of an index lookup for reads that mostly hit memory. With the default, which is meant for hard disks, generic
 * plans scan whole tables: beside a tenant of a million assets, the first page of the report of one location takes a tenant
 * of 300 assets 400 ms instead of 0.2.
 */
const planning = { random_page_cost: '1.1' }

/** Every role can see the names of connections, so a publisher knows which processes must acknowledge. */
const listenerName = 'lastseen pubsub '

export interface ConnectOptions {
  url: string
  /** A replica for reads that may be slightly stale; without it they go to the primary. */
  replicaUrl?: string | undefined
  poolSize: number
  /** Shared by all processes that were started by the same command. */
  instanceGroup?: string | undefined
  /** The longest wait for an answer of the database, and for a free connection. */
  timeoutMs?: number
  /** Limits the time of each organization's searches, reports and long lists. */
  queryTime?: QueryTimeLimit
  /** Called with every statement before it runs; tests check each one for tenant isolation. */
  onStatement?: (statement: Sql) => void
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

/** Idle time after which connections for long transactions are closed. */
const longIdleMs = 10_000

/** Larger than the pools for single statements: a transaction is mostly idle between statements or waits for the disk. */
export const transactionPoolSize = (poolSize: number): number => 2 * poolSize

export const randomName = (): string => Math.random().toString(36).slice(2)

/** Whether a listening process belongs to this instance group. */
export const isSameInstanceGroup = (name: string, instanceGroup: string): boolean =>
  name.startsWith(`${instanceGroup}/`)

const unlimitedQueryTime: QueryTimeLimit = {
  assertLeft: async () => undefined,
  measure: (_orgId, work) => work(),
}

/** Statement timeouts by purpose, and the lock timeout of request transactions. */
const timeoutsMs = { slowRead: 5000, read: 10_000, transaction: 10_000, lock: 3000 }

export const defaultTimeoutMs = 40_000

/** Connections reserved for authentication. */
const authenticationPool = { transactions: 4, reads: 1, writes: 2 }

/** Transactions without a tenant share the connections as if they were one more tenant. */
const installation = 0

export function createDatabase(options: ConnectOptions): Connection {
  const { url, replicaUrl, poolSize, queryTime = unlimitedQueryTime, onStatement } = options
  const timeoutMs = options.timeoutMs ?? defaultTimeoutMs
  // The server cancels a statement before the driver closes the connection.
  const maxStatementMs = Math.floor(timeoutMs * 0.75)
  const capped = (ms: number): string => String(Math.min(ms, maxStatementMs))
  const parameters = { max_parallel_workers_per_gather: '0', ...planning, ...memoryParameters }
  const poolOptions = { size: poolSize, queryTimeoutMs: timeoutMs, onStatement }
  const writerParameters = {
    role: writerRole,
    statement_timeout: capped(timeoutsMs.transaction),
    lock_timeout: capped(timeoutsMs.lock),
    ...planning,
    ...memoryParameters,
  }
  const writer = new StatementPool({ ...poolOptions, url, parameters: { ...parameters, ...writerParameters } })
  const authenticationWriter = new StatementPool({
    ...poolOptions,
    url,
    size: authenticationPool.writes,
    parameters: { ...parameters, ...writerParameters },
  })
  const readOptions = (ms: number) => ({
    ...poolOptions,
    parameters: { role: readerRole, statement_timeout: capped(ms), ...parameters },
  })
  const reader = new StatementPool({ ...readOptions(timeoutsMs.read), url })
  const authenticationReader = new StatementPool({
    ...readOptions(timeoutsMs.read),
    url,
    size: authenticationPool.reads,
  })
  const slowReadOptions = readOptions(timeoutsMs.slowRead)
  const slowReader = new StatementPool({ ...slowReadOptions, url })
  const replicaReader = replicaUrl === undefined ? null : new StatementPool({ ...slowReadOptions, url: replicaUrl })
  const replica = replicaReader === null ? null : new Replica(replicaUrl!, replicaReader, slowReader)
  const name = `${options.instanceGroup ?? ''}/${process.pid}-${randomName()}`
  const listener = new NotificationListener(url, { role: writerRole, application_name: `${listenerName}${name}` })
  // On Citus, `set local app.org_id` must reach the node that stores the tenant's rows.
  const transactionParameters = { ...writerParameters, 'citus.propagate_set_commands': 'local' }
  const openFairPool = (max: number, idleTimeoutMillis = 0): FairTransactionPool =>
    new FairTransactionPool({
      max,
      open: () => openTransactionPool(url, { max, idleTimeoutMillis, timeoutMs, parameters: transactionParameters }),
      timeoutMs,
      onStatement,
    })
  const ordinary = openFairPool(transactionPoolSize(poolSize))
  const authenticating = openFairPool(authenticationPool.transactions)
  const long = openFairPool(longTransactionPoolSize, longIdleMs)
  const snapshots = openFairPool(snapshotPoolSize, longIdleMs)
  const fairPools = [ordinary, authenticating, long, snapshots]
  let probe = new HealthProbe(parseHosts(url).current, 'select 1 as one')
  // One slow read per connection. The queue keeps one tenant from occupying all connections with slow statements.
  const slowReads = new FairQueue({ maxInFlight: poolSize, timeoutMs })
  const stopWatching = parseHosts(url).watch(() => {
    for (const pool of [writer, reader, slowReader, authenticationReader, authenticationWriter]) pool.destroyAll()
    for (const pool of fairPools) pool.reconnect()
    probe.close()
    probe = new HealthProbe(parseHosts(url).current, 'select 1 as one')
    listener.reconnect()
  })

  // Once the first statement of a request is admitted, the others are too, because its response may have begun.
  const queued = (orgId: number, db: Db): Db => {
    let isAdmitted = false
    const admit = async (): Promise<void> => {
      if (!isAdmitted) await queryTime.assertLeft(orgId)
    }
    return {
      async query(statement) {
        await admit()
        return slowReads.run(orgId, 1, async () => {
          // The query time of the organization may have been used up while the statement was queued.
          await admit()
          isAdmitted = true
          return queryTime.measure(orgId, () => db.query(statement))
        })
      },
    }
  }

  const transactionsOn = (pool: FairTransactionPool, settings = ''): Transactions => ({
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
  })

  const requests: Database = {
    read: reader,
    searches: (orgId) => queued(orgId, slowReader),
    replica: (orgId) => queued(orgId, replica ?? slowReader),
    global: writer,
    ...transactionsOn(ordinary),
  }
  const backgroundTransactions = transactionsOn(
    ordinary,
    `set local statement_timeout = ${maxStatementMs}; set local lock_timeout = 0`,
  )

  return {
    name,
    ...requests,
    background: {
      ...requests,
      ...backgroundTransactions,
      global: { query: (statement) => backgroundTransactions.globalTransaction((tx) => tx.query(statement)) },
    },
    authentication: {
      ...requests,
      ...transactionsOn(authenticating),
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
      transactions: ordinary.usage,
      authentication: authenticating.usage,
      long_transactions: long.usage,
      snapshots: snapshots.usage,
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
        ...fairPools.map((pool) => pool.close()),
      ])
    },
  }
}
