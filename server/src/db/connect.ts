import pg from 'pg'
import { FairQueue } from '../admission/fair-queue.ts'
import { clientConfig, destroy } from './client.ts'
import { type Database, type Db, type Tx, type TxOptions, longTransactionPoolSize } from './database.ts'
import { hostsOf } from './hosts.ts'
import { NotificationListener } from './listener.ts'
import { forceGenericPlans } from './plans.ts'
import { Reader } from './reader.ts'
import { Replica } from './replica.ts'
import { PipelinedPool } from './pool.ts'
import { rejectStandby } from './session.ts'
import { type Sql, render } from './sql.ts'
import { asConflict, mayRunAgain } from './violations.ts'

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
  family?: string | undefined
  /** How long a statement may take, and how long a transaction waits for a connection. */
  patienceMs?: number
  /** Called with every statement before it runs; tests check each one for tenant isolation. */
  onStatement?: (statement: Sql) => void
}

export interface Connection extends Database {
  /** Identifies this process among those on the database. */
  readonly name: string
  /** Calls back for every notification on the channel, from any process, and after every gap in listening. */
  listen(channel: string, onNotification: (payload: string) => void, onListening: () => void): Promise<void>
  notify(channel: string, payload: string): Promise<void>
  /** The names of all processes that have a connection for listening. */
  listeners(): Promise<string[]>
  /** Rejects when the database does not answer. */
  ping(): Promise<void>
  close(): Promise<void>
}

/** More than there are for single statements: a transaction mostly waits for its next statement or for the disk. */
export const transactionPoolSize = (poolSize: number): number => 2 * poolSize

export const randomName = (): string => Math.random().toString(36).slice(2)

/** Whether a process that listens was made by the same start of the program. */
export const isOfFamily = (name: string, family: string): boolean => name.startsWith(`${family}/`)

const ignore = (): void => undefined

/** Transactions that belong to no tenant share the connections as one more tenant. */
const installation = 0

export function connect(options: ConnectOptions): Connection {
  const { url, replicaUrl, poolSize, onStatement } = options
  const patienceMs = options.patienceMs ?? 40_000
  const parameters = {
    statement_timeout: String(Math.floor(patienceMs * 0.75)),
    max_parallel_workers_per_gather: '0',
    ...planning,
  }
  const statements = { size: poolSize, queryTimeoutMs: patienceMs }
  const writer = new PipelinedPool({ ...statements, url, parameters: { role: writerRole, ...parameters } })
  const reading = { ...statements, parameters: { role: readerRole, ...parameters } }
  const reader = new Reader({ ...reading, url })
  const slowReader = new Reader({ ...reading, url })
  const replica =
    replicaUrl === undefined ? null : new Replica(replicaUrl, new Reader({ ...reading, url: replicaUrl }), slowReader)
  const name = `${options.family ?? ''}/${process.pid}-${randomName()}`
  const listener = new NotificationListener(url, { role: writerRole, application_name: `${listenerName}${name}` })
  const openTransactions = (): TransactionPool => openTransactionPool(url, transactionPoolSize(poolSize), patienceMs)
  const openLongTransactions = (): TransactionPool =>
    openTransactionPool(url, longTransactionPoolSize, patienceMs, 10_000)
  let transactions = openTransactions()
  let longTransactions = openLongTransactions()
  // One slow read per connection. No tenant holds all connections, however long its statements take.
  const slowReads = new FairQueue({ maxInFlight: poolSize, timeoutMs: patienceMs })
  const slots = new FairQueue({ maxInFlight: transactionPoolSize(poolSize), timeoutMs: patienceMs })
  const longSlots = new FairQueue({ maxInFlight: longTransactionPoolSize, timeoutMs: patienceMs })
  const stopWatching = hostsOf(url).watch(() => {
    for (const pool of [writer, reader, slowReader, transactions, longTransactions]) pool.destroyAll()
    transactions = openTransactions()
    longTransactions = openLongTransactions()
    listener.reconnect()
  })

  const on = (pool: Pick<Reader, 'query'>): Db => ({
    query<Row extends object>(statement: Sql) {
      onStatement?.(statement)
      return pool.query<Row>(statement)
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
    pool: TransactionPool,
    opening: readonly string[],
    run: (client: pg.PoolClient, begun: Promise<unknown>) => Promise<Result>,
  ): Promise<Result> {
    const client = await pool.connect()
    // A connection lost between two statements fails the next one; without a listener it would end the process.
    client.on('error', ignore)
    let isBroken = false
    try {
      // Sent without waiting: the first statement follows at once, and fails too should one of these fail.
      const begun = Promise.all(opening.map((text) => client.query(text)))
      begun.catch(ignore)
      return await run(client, begun)
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
    tenant: number,
    opening: readonly string[],
    run: (client: pg.PoolClient, begun: Promise<unknown>) => Promise<Result>,
    isLong = false,
  ): Promise<Result> {
    const queue = isLong ? longSlots : slots
    for (let tries = 1; ; tries++) {
      try {
        return await queue.run(tenant, 1, () => attempt(isLong ? longTransactions : transactions, opening, run))
      } catch (error) {
        if (mayRunAgain(error) && tries < 4) continue
        throw asConflict(error) ?? error
      }
    }
  }

  return {
    name,
    read: on(reader),
    searches: (orgId) => inTurn(orgId, on(slowReader)),
    reports: (orgId) => inTurn(orgId, on(replica ?? slowReader)),
    common: on({ query: (statement) => writer.query(render(statement)) }),
    inOrganization(orgId, work, { relaxed = false, isLong = false }: TxOptions = {}) {
      return transact(orgId, openingOf(orgId, relaxed), runStepwise(work), isLong)
    },
    sendInOrganization(orgId, work) {
      return transact(orgId, openingOf(orgId), runPipelined(work))
    },
    shared: (work) => transact(installation, ['begin'], runStepwise(work)),
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
      await reader.ping()
    },
    async close() {
      stopWatching()
      slots.close()
      longSlots.close()
      slowReads.close()
      await Promise.all([
        writer.close(),
        reader.close(),
        slowReader.close(),
        replica?.close(),
        listener.close(),
        transactions.close(),
        longTransactions.close(),
      ])
    },
  }
}

interface TransactionPool {
  connect(): Promise<pg.PoolClient>
  destroyAll(): void
  close(): Promise<void>
}

/** On Citus the tenant that a transaction names must be known where its rows live. */
const writing = { role: writerRole, 'citus.propagate_set_commands': 'local', ...planning }

/** With `idleTimeoutMs`, connections that nobody uses are closed after it. */
function openTransactionPool(url: string, size: number, patienceMs: number, idleTimeoutMs = 0): TransactionPool {
  const clients = new Set<pg.Client>()
  const pool = new pg.Pool({
    ...clientConfig(hostsOf(url).current, writing),
    pipeline: true,
    query_timeout: patienceMs,
    connectionTimeoutMillis: patienceMs,
    max: size,
    idleTimeoutMillis: idleTimeoutMs,
    // eslint-disable-next-line @typescript-eslint/no-misused-promises -- the pool awaits it; its types do not say so
    onConnect: async (client) => {
      await rejectStandby(client, url)
      await client.query(forceGenericPlans)
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
function openingOf(orgId: number, relaxed = false): readonly string[] {
  if (!Number.isSafeInteger(orgId)) throw new TypeError('an organization id is an integer')
  const commit = relaxed ? '; set local synchronous_commit = off' : ''
  return ['begin', `set local app.org_id = '${orgId}'${commit}`]
}
