import pg from 'pg'
import { FairQueue } from '../admission/fair-queue.ts'
import { type Parameters, clientConfig, destroy } from './client.ts'
import {
  type Database,
  type Db,
  type Transactions,
  type Tx,
  type TxOptions,
  longTransactionPoolSize,
} from './database.ts'
import { parseHosts } from './failover/primary-discovery.ts'
import { NotificationListener } from './listener.ts'
import { forceGenericPlans } from './plan-cache.ts'
import { StatementPool } from './statement-pool.ts'
import { Replica } from './failover/replica.ts'
import { PipelinedPool } from './pool.ts'
import { HealthProbe } from './failover/health-probe.ts'
import { limitTemporaryFiles, memoryParameters } from './resources.ts'
import { rejectStandby } from './session.ts'
import { type Sql, render } from './sql.ts'
import { toConflict, toOverload, isRetryable } from './constraint-errors.ts'

export const writerRole = 'lastseen_writer'
export const readerRole = 'lastseen_reader'

/**
 * For connections that make or change tables. A plain PostgreSQL ignores them; on Citus no table is turned into a
 * local one implicitly, and shards are changed one after the other.
 */
export const citusDdlSettings = {
  'citus.enable_local_reference_table_foreign_keys': 'off',
  'citus.multi_shard_modify_mode': 'sequential',
}

/** Most of what is read is in memory. With the default for spinning disks, a page of fifty rows costs more than the table. */
const planning = { random_page_cost: '1.1' }

/** Connections are visible to every role by name, so that a publisher knows which processes must acknowledge. */
const listenerName = 'lastseen news '

export interface ConnectOptions {
  url: string
  /** A replica for reads that may be a moment old; the primary when absent. */
  replicaUrl?: string | undefined
  poolSize: number
  /** Shared by all processes of one start of the program. */
  instanceGroup?: string | undefined
  /** How long an answer of the database is waited for at most, and how long a transaction waits for a connection. */
  patienceMs?: number
  /** Called with every statement before it runs; tests check each one for tenant isolation. */
  onStatement?: (statement: Sql) => void
}

export interface Connection extends Database {
  /** For work that no request waits for: its statements and its waits for locks may take longer. */
  readonly background: Database
  /** For token checks, token exchanges and sign-ins: connections that no other work can occupy. */
  readonly authentication: Database
  /** Identifies this process among those on the database. */
  readonly name: string
  /** Calls back for every notification on the channel, from any process, and after every gap in listening. */
  listen(channel: string, onNotification: (payload: string) => void, onListening: () => void): Promise<void>
  notify(channel: string, payload: string): Promise<void>
  /** The names of all processes that have a connection for listening. */
  listeners(): Promise<string[]>
  /** Rejects when the database does not answer. It has a connection of its own, so that it never waits for the pools. */
  ping(): Promise<void>
  close(): Promise<void>
}

/** Idle time after which connections for long transactions are closed. */
const longIdleMs = 10_000

/** More than there are for single statements: a transaction mostly waits for its next statement or for the disk. */
export const transactionPoolSize = (poolSize: number): number => 2 * poolSize

export const randomName = (): string => Math.random().toString(36).slice(2)

/** Whether a process that listens was made by the same start of the program. */
export const isSameInstanceGroup = (name: string, instanceGroup: string): boolean => name.startsWith(`${instanceGroup}/`)

const ignore = (): void => undefined

/** How long one statement may run, by what it is for, and how long a transaction of a request waits for a lock. */
const timeoutMs = { slowRead: 5000, read: 10_000, transaction: 10_000, lock: 3000 }

/** Connections for the transactions, and for the reads, of authentication. */
const authenticationPool = { transactions: 4, reads: 1 }

/** Transactions that belong to no tenant share the connections as one more tenant. */
const installation = 0

export function createDatabase(options: ConnectOptions): Connection {
  const { url, replicaUrl, poolSize, onStatement } = options
  const patienceMs = options.patienceMs ?? 40_000
  // The database gives up a statement before the driver gives up the connection.
  const longestMs = Math.floor(patienceMs * 0.75)
  const bounded = (ms: number): string => String(Math.min(ms, longestMs))
  const parameters = { max_parallel_workers_per_gather: '0', ...planning, ...memoryParameters }
  const statements = { size: poolSize, queryTimeoutMs: patienceMs }
  const writing = {
    role: writerRole,
    statement_timeout: bounded(timeoutMs.transaction),
    lock_timeout: bounded(timeoutMs.lock),
    ...planning,
    ...memoryParameters,
  }
  const writer = new PipelinedPool({
    ...statements,
    url,
    parameters: { ...parameters, ...writing },
    onConnect: (client) => client.query(limitTemporaryFiles),
  })
  const reading = (ms: number) => ({
    ...statements,
    parameters: { role: readerRole, statement_timeout: bounded(ms), ...parameters },
  })
  const reader = new StatementPool({ ...reading(timeoutMs.read), url })
  const authenticationReader = new StatementPool({ ...reading(timeoutMs.read), url, size: authenticationPool.reads })
  const slowReading = reading(timeoutMs.slowRead)
  const slowReader = new StatementPool({ ...slowReading, url })
  const replica =
    replicaUrl === undefined
      ? null
      : new Replica(replicaUrl, new StatementPool({ ...slowReading, url: replicaUrl }), slowReader)
  const name = `${options.instanceGroup ?? ''}/${process.pid}-${randomName()}`
  const listener = new NotificationListener(url, { role: writerRole, application_name: `${listenerName}${name}` })
  // On Citus the tenant that a transaction names must be known where its rows live.
  const transacting = { ...writing, 'citus.propagate_set_commands': 'local' }
  const openFairPool = (max: number, idleTimeoutMillis = 0): FairPool => {
    const open = (): TransactionPool =>
      openTransactionPool(url, { max, idleTimeoutMillis, patienceMs, parameters: transacting })
    return { open, pool: open(), slots: new FairQueue({ maxInFlight: max, timeoutMs: patienceMs }) }
  }
  const ordinary = openFairPool(transactionPoolSize(poolSize))
  const authenticating = openFairPool(authenticationPool.transactions)
  const long = openFairPool(longTransactionPoolSize, longIdleMs)
  const fairPools = [ordinary, authenticating, long]
  let probe = new HealthProbe(parseHosts(url).current, 'select 1 as one')
  // One slow read per connection. No tenant holds all connections, however long its statements take.
  const slowReads = new FairQueue({ maxInFlight: poolSize, timeoutMs: patienceMs })
  const stopWatching = parseHosts(url).watch(() => {
    for (const pool of [writer, reader, slowReader, authenticationReader]) pool.destroyAll()
    for (const fair of fairPools) {
      fair.pool.destroyAll()
      fair.pool = fair.open()
    }
    probe.close()
    probe = new HealthProbe(parseHosts(url).current, 'select 1 as one')
    listener.reconnect()
  })

  const on = (pool: Pick<StatementPool, 'query'>): Db => ({
    async query<Row extends object>(statement: Sql) {
      onStatement?.(statement)
      try {
        return await pool.query<Row>(statement)
      } catch (error) {
        throw toOverload(error) ?? error
      }
    },
  })

  const inTurn = (orgId: number, db: Db): Db => ({
    query: (statement) => slowReads.run(orgId, 1, () => db.query(statement)),
  })

  const onClient = (client: pg.ClientBase): Db => ({
    async query<Row extends object>(statement: Sql) {
      onStatement?.(statement)
      return (await client.query<Row>(render(statement))).rows
    },
  })

  async function attempt<Result>(
    fair: FairPool,
    opening: readonly string[],
    run: (client: pg.PoolClient, begun: Promise<unknown>) => Promise<Result>,
  ): Promise<Result> {
    const client = await fair.pool.connect()
    // A connection lost between two statements fails the next one; without a listener it would end the process.
    client.on('error', ignore)
    let isBroken = false
    try {
      // One packet holds the opening and what `run` asks before it first waits. Should the opening fail, the rest fails too.
      const { stream } = client.connection
      stream.cork()
      const begun = Promise.all(opening.map((text) => client.query(text)))
      begun.catch(ignore)
      const result = run(client, begun)
      stream.uncork()
      return await result
    } catch (error) {
      // After an error of the server and its commit, a pipelined transaction is over. In doubt it is rolled back.
      const isOver = error instanceof pg.DatabaseError && client.getTransactionStatus() === 'I'
      if (!isOver) await client.query('rollback').catch(() => (isBroken = true))
      throw error
    } finally {
      client.off('error', ignore)
      client.release(isBroken)
    }
  }

  const runStepwise =
    <Result>(work: (tx: Tx) => Promise<Result>) =>
    async (client: pg.PoolClient, begun: Promise<unknown>): Promise<Result> => {
      const result = await work(onClient(client) as Tx)
      await begun
      await commit(client)
      return result
    }

  /** Everything is sent before anything is answered, in this order. After a failure the commit rolls all of it back. */
  const runPipelined =
    <Result>(work: (tx: Tx) => Promise<Result>) =>
    async (client: pg.PoolClient, begun: Promise<unknown>): Promise<Result> => {
      const db = onClient(client)
      const sent: Promise<unknown>[] = [begun]
      let isOpen = true
      const query = <Row extends object>(statement: Sql): Promise<Row[]> => {
        if (!isOpen) return Promise.reject(new Error('a statement came after the commit'))
        const rows = db.query<Row>(statement)
        sent.push(rows)
        return rows
      }
      const result = work({ query } as Tx)
      result.catch(ignore)
      isOpen = false
      sent.push(client.query('commit'))
      const failed = (await Promise.allSettled(sent)).find((one) => one.status === 'rejected')
      if (failed !== undefined) throw failed.reason
      return result
    }

  async function transact<Result>(
    fair: FairPool,
    tenant: number,
    opening: readonly string[],
    run: (client: pg.PoolClient, begun: Promise<unknown>) => Promise<Result>,
  ): Promise<Result> {
    for (let tries = 1; ; tries++) {
      try {
        return await fair.slots.run(tenant, 1, () => attempt(fair, opening, run))
      } catch (error) {
        if (isRetryable(error) && tries < 4) continue
        throw toConflict(error) ?? toOverload(error) ?? error
      }
    }
  }

  const transactionsOn = (fair: FairPool, settings = ''): Transactions => ({
    withTenant(orgId, work, { asyncCommit = false, isLong = false }: TxOptions = {}) {
      return transact(isLong ? long : fair, orgId, openingOf(orgId, settings, asyncCommit), runStepwise(work))
    },
    withTenantPipelined(orgId, work) {
      return transact(fair, orgId, openingOf(orgId, settings), runPipelined(work))
    },
    globalTransaction: (work) =>
      transact(fair, installation, ['begin', ...(settings === '' ? [] : [settings])], runStepwise(work)),
  })

  const requests: Database = {
    read: on(reader),
    searches: (orgId) => inTurn(orgId, on(slowReader)),
    replica: (orgId) => inTurn(orgId, on(replica ?? slowReader)),
    global: on({ query: (statement) => writer.query(render(statement)) }),
    ...transactionsOn(ordinary),
  }
  const unhurried = transactionsOn(ordinary, `set local statement_timeout = ${longestMs}; set local lock_timeout = 0`)

  return {
    name,
    ...requests,
    background: {
      ...requests,
      ...unhurried,
      global: { query: (statement) => unhurried.globalTransaction((tx) => tx.query(statement)) },
    },
    authentication: {
      ...requests,
      ...transactionsOn(authenticating),
      read: on(authenticationReader),
    },
    listen: (channel, onNotification, onListening) => listener.listen(channel, onNotification, onListening),
    async notify(channel, payload) {
      await writer.query({ text: 'select pg_notify($1, $2)', values: [channel, payload] })
    },
    async listeners() {
      const rows = await writer.query<{ application_name: string }>({
        text: 'select application_name from pg_stat_activity where datname = current_database() and starts_with(application_name, $1)',
        values: [listenerName],
      })
      return rows.map((row) => row.application_name.slice(listenerName.length))
    },
    async ping() {
      const answer = await probe.ask()
      if (typeof answer === 'string') throw new Error(answer)
    },
    async close() {
      stopWatching()
      for (const fair of fairPools) fair.slots.close()
      slowReads.close()
      probe.close()
      await Promise.all([
        writer.close(),
        reader.close(),
        slowReader.close(),
        authenticationReader.close(),
        replica?.close(),
        listener.close(),
        ...fairPools.map((fair) => fair.pool.close()),
      ])
    },
  }
}

/** Connections for transactions, and the queue that shares them among tenants. */
interface FairPool {
  readonly open: () => TransactionPool
  pool: TransactionPool
  readonly slots: FairQueue
}

interface TransactionPool {
  connect(): Promise<pg.PoolClient>
  destroyAll(): void
  close(): Promise<void>
}

interface TransactionPoolOptions {
  max: number
  /** Idle connections are closed after this time; 0 keeps them open. */
  idleTimeoutMillis: number
  patienceMs: number
  parameters: Parameters
}

function openTransactionPool(
  url: string,
  { max, idleTimeoutMillis, patienceMs, parameters }: TransactionPoolOptions,
): TransactionPool {
  const clients = new Set<pg.Client>()
  const pool = new pg.Pool({
    ...clientConfig(parseHosts(url).current, parameters),
    pipeline: true,
    query_timeout: patienceMs,
    connectionTimeoutMillis: patienceMs,
    max,
    idleTimeoutMillis,
    // eslint-disable-next-line @typescript-eslint/no-misused-promises -- the pool awaits it; its types do not say so
    onConnect: async (client) => {
      await rejectStandby(client, url)
      await Promise.all([client.query(limitTemporaryFiles), client.query(forceGenericPlans)])
    },
  })
  pool.on('error', ignore)
  pool.on('connect', (client) => void clients.add(client))
  pool.on('remove', (client) => void clients.delete(client))
  const end = (): Promise<void> => pool.end().catch(ignore)
  return {
    connect: () => pool.connect(),
    destroyAll() {
      for (const client of clients) destroy(client)
      void end()
    },
    /** Idle connections end at once, the others with their transaction. */
    async close() {
      const ended = end()
      await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 5000).unref())])
    },
  }
}

async function commit(client: pg.PoolClient): Promise<void> {
  const { command } = await client.query('commit')
  if (command === 'ROLLBACK') throw new Error('the transaction was rolled back, because one of its statements failed')
}

/** The statements apart from each other: Citus repeats the whole text of a SET on every node of the transaction. */
function openingOf(orgId: number, settings: string, relaxed = false): readonly string[] {
  if (!Number.isSafeInteger(orgId)) throw new TypeError('an organization id is an integer')
  const commit = relaxed ? 'set local synchronous_commit = off' : ''
  return ['begin', [`set local app.org_id = '${orgId}'`, settings, commit].filter((text) => text !== '').join('; ')]
}
