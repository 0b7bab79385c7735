import type pg from 'pg'
import {
  type Parameters,
  SocketClient,
  clientConfig,
  connectTimeoutMs,
  endClient,
  limitTemporaryFiles,
  traceStatement,
} from './client.ts'
import { toOverload } from './constraint-errors.ts'
import type { Db } from './database.ts'
import { parseHosts } from './failover/primary-discovery.ts'
import { forceGenericPlans, hasGenericPlan, hasPlanPerExecution } from './plan-cache.ts'
import { rejectStandby } from './session.ts'
import { type Sql, render } from './sql.ts'

interface PooledConnection {
  readonly client: SocketClient
  readonly ready: Promise<void>
  isReady: boolean
  inFlight: number
}

/** How much of a pool is in use. */
export interface PoolUsage {
  /** The maximum number of connections. */
  size: number
  open: number
  inUse: number
  /** Statements or transactions that wait for a connection, or behind others on their connection. */
  waiting: number
}

interface PoolOptions {
  url: string
  size: number
  parameters: Parameters
  queryTimeoutMs: number
  /** Runs on every new connection before its first statement. */
  onConnect?: (client: pg.ClientBase) => Promise<unknown>
}

/**
 * A small pool for single statements. Each connection pipelines: it sends a statement without waiting for the results of
 * the previous ones. A statement goes to the connection with the fewest in flight. A statement that times out closes its
 * connection; a lost connection is replaced when the next statement needs one.
 */
class PipelinedPool {
  readonly #options: PoolOptions
  readonly #connections = new Set<PooledConnection>()
  #isClosed = false

  constructor(options: PoolOptions) {
    this.#options = options
  }

  async query<Row extends object>(query: pg.QueryConfig): Promise<Row[]> {
    const connection = this.#pick()
    connection.inFlight++
    try {
      if (!connection.isReady) await connection.ready
      return (await connection.client.query<Row>(query)).rows
    } finally {
      connection.inFlight--
    }
  }

  get usage(): PoolUsage {
    const inFlight = Array.from(this.#connections, (connection) => connection.inFlight)
    const inUse = inFlight.filter((count) => count > 0).length
    const waiting = inFlight.reduce((sum, count) => sum + count, 0) - inUse
    return { size: this.#options.size, open: inFlight.length, inUse, waiting }
  }

  /** Fails all statements in flight. Used when another server has become the primary. */
  destroyAll(): void {
    for (const { client } of this.#connections) client.destroy()
    this.#connections.clear()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all(Array.from(this.#connections, ({ client }) => endClient(client)))
  }

  #pick(): PooledConnection {
    if (this.#isClosed) throw new Error('the pool is closed')
    let best: PooledConnection | undefined
    for (const connection of this.#connections) {
      if (connection.inFlight === 0) return connection
      if (best === undefined || connection.inFlight < best.inFlight) best = connection
    }
    return best === undefined || this.#connections.size < this.#options.size ? this.#open() : best
  }

  #open(): PooledConnection {
    const { url, parameters, queryTimeoutMs } = this.#options
    const client = new SocketClient({
      ...clientConfig(parseHosts(url).current, parameters),
      pipeline: true,
      query_timeout: queryTimeoutMs,
      connectionTimeoutMillis: Math.min(connectTimeoutMs, queryTimeoutMs),
    })
    const connection: PooledConnection = { client, ready: this.#prepare(client), isReady: false, inFlight: 0 }
    const remove = (): void => void this.#connections.delete(connection)
    client.on('error', remove)
    client.once('end', remove)
    connection.ready.then(
      () => (connection.isReady = true),
      () => {
        remove()
        client.destroy()
      },
    )
    this.#connections.add(connection)
    return connection
  }

  async #prepare(client: SocketClient): Promise<void> {
    await client.connect()
    await rejectStandby(client, this.#options.url)
    await this.#options.onConnect?.(client)
  }
}

interface StatementPoolOptions extends PoolOptions {
  /** Called with every statement before it runs. */
  onStatement: ((statement: Sql) => void) | undefined
}

/** Single statements on one server. Statements with a generic plan use separate connections, see `plan-cache.ts`. */
export class StatementPool implements Db {
  readonly #onStatement: ((statement: Sql) => void) | undefined
  readonly #generic: PipelinedPool
  readonly #auto: PipelinedPool

  constructor({ onStatement, ...options }: StatementPoolOptions) {
    this.#onStatement = onStatement
    this.#generic = new PipelinedPool({
      ...options,
      onConnect: (client) => Promise.all([client.query(limitTemporaryFiles), client.query(forceGenericPlans)]),
    })
    this.#auto = new PipelinedPool({ ...options, onConnect: (client) => client.query(limitTemporaryFiles) })
  }

  async query<Row extends object>(statement: Sql): Promise<Row[]> {
    this.#onStatement?.(statement)
    const pool = hasGenericPlan(statement) ? this.#generic : this.#auto
    try {
      const { name, ...query } = render(statement)
      const run = (): Promise<Row[]> => pool.query<Row>(hasPlanPerExecution(statement) ? query : { name, ...query })
      return await traceStatement(statement, run)
    } catch (error) {
      throw toOverload(error) ?? error
    }
  }

  get usage(): PoolUsage {
    const [generic, auto] = [this.#generic.usage, this.#auto.usage]
    return {
      size: generic.size + auto.size,
      open: generic.open + auto.open,
      inUse: generic.inUse + auto.inUse,
      waiting: generic.waiting + auto.waiting,
    }
  }

  destroyAll(): void {
    this.#generic.destroyAll()
    this.#auto.destroyAll()
  }

  async close(): Promise<void> {
    await Promise.all([this.#generic.close(), this.#auto.close()])
  }
}
