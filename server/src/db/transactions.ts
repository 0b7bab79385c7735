import pg from 'pg'
import { FairQueue } from '../admission/fair-queue.ts'
import { type Parameters, SocketClient, clientConfig, limitTemporaryFiles, traceStatement } from './client.ts'
import { isRetryable, toConflict, toOverload } from './constraint-errors.ts'
import type { Db, Tx, TxOptions } from './database.ts'
import { parseHosts } from './failover/primary-discovery.ts'
import { activeTraceparent } from '../kernel/tracing.ts'
import { forceGenericPlans } from './plan-cache.ts'
import type { PoolUsage } from './pool.ts'
import { rejectStandby } from './session.ts'
import { type Sql, render } from './sql.ts'

const ignore = (): void => undefined

/** A connection of the pool; `release` returns it. */
type TransactionClient = SocketClient & pg.PoolClient

export interface TransactionPool {
  connect(): Promise<TransactionClient>
  /** The number of open connections. */
  readonly open: number
  destroyAll(): void
  close(): Promise<void>
}

interface TransactionPoolOptions {
  max: number
  /** Idle connections are closed after this time; 0 keeps them open. */
  idleTimeoutMillis: number
  timeoutMs: number
  parameters: Parameters
}

/** A pool of connections for transactions, on the primary alone. */
export function openTransactionPool(
  url: string,
  { max, idleTimeoutMillis, timeoutMs, parameters }: TransactionPoolOptions,
): TransactionPool {
  const clients = new Set<SocketClient>()
  const pool = new pg.Pool({
    ...clientConfig(parseHosts(url).current, parameters),
    Client: SocketClient,
    pipeline: true,
    query_timeout: timeoutMs,
    connectionTimeoutMillis: timeoutMs,
    max,
    idleTimeoutMillis,
    // eslint-disable-next-line @typescript-eslint/no-misused-promises -- the pool awaits it; its types do not say so
    onConnect: async (client) => {
      await rejectStandby(client, url)
      await Promise.all([client.query(limitTemporaryFiles), client.query(forceGenericPlans)])
    },
  })
  pool.on('error', ignore)
  pool.on('connect', (client) => void clients.add(client as TransactionClient))
  pool.on('remove', (client) => void clients.delete(client as TransactionClient))
  const end = (): Promise<void> => pool.end().catch(ignore)
  return {
    connect: () => pool.connect() as Promise<TransactionClient>,
    get open() {
      return pool.totalCount
    },
    destroyAll() {
      for (const client of clients) client.destroy()
      void end()
    },
    /** Idle connections close immediately, busy ones after their transaction. */
    async close() {
      const ended = end()
      await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 5000).unref())])
    },
  }
}

type Run<Result> = (client: TransactionClient, db: Db, begun: Promise<unknown>) => Promise<Result>

/** Connections for transactions, and the queue that shares them among tenants. */
export class FairTransactionPool {
  readonly #max: number
  readonly #open: () => TransactionPool
  readonly #slots: FairQueue
  readonly #onStatement: ((statement: Sql) => void) | undefined
  #pool: TransactionPool

  constructor(options: {
    max: number
    open: () => TransactionPool
    timeoutMs: number
    onStatement: ((statement: Sql) => void) | undefined
  }) {
    this.#max = options.max
    this.#open = options.open
    this.#slots = new FairQueue({ maxInFlight: options.max, timeoutMs: options.timeoutMs })
    this.#onStatement = options.onStatement
    this.#pool = options.open()
  }

  get usage(): PoolUsage {
    return {
      size: this.#max,
      open: this.#pool.open,
      inUse: this.#slots.inFlight,
      waiting: this.#slots.waiting,
    }
  }

  /** Runs a transaction, and runs it again when it conflicts with another one. */
  async transact<Result>(tenant: number, beginStatements: readonly string[], run: Run<Result>): Promise<Result> {
    for (let attempts = 1; ; attempts++) {
      try {
        return await this.#slots.run(tenant, 1, () => this.#attempt(beginStatements, run))
      } catch (error) {
        if (isRetryable(error) && attempts < 4) continue
        throw toConflict(error) ?? toOverload(error) ?? error
      }
    }
  }

  /** Fails all transactions in flight and connects anew. Used when another server has become the primary. */
  reconnect(): void {
    this.#pool.destroyAll()
    this.#pool = this.#open()
  }

  close(): Promise<void> {
    this.#slots.close()
    return this.#pool.close()
  }

  async #attempt<Result>(beginStatements: readonly string[], run: Run<Result>): Promise<Result> {
    const client = await this.#pool.connect()
    // A connection lost between two statements fails the next one; without a listener it would end the process.
    client.on('error', ignore)
    let isBroken = false
    try {
      // One packet carries the begin statements and every statement that `run` sends before its first await.
      // If a begin statement fails, the following ones fail too.
      return await client.sendTogether(() => {
        const begun = Promise.all(beginStatements.map((text) => client.query(text)))
        begun.catch(ignore)
        return run(client, this.#on(client), begun)
      })
    } catch (error) {
      // A pipelined transaction has ended when the server reported an error and processed the commit. Otherwise roll back.
      const hasEnded = error instanceof pg.DatabaseError && client.getTransactionStatus() === 'I'
      if (!hasEnded) await client.query('rollback').catch(() => (isBroken = true))
      throw error
    } finally {
      client.off('error', ignore)
      client.release(isBroken)
    }
  }

  #on(client: pg.ClientBase): Db {
    const onStatement = this.#onStatement
    return {
      async query<Row extends object>(statement: Sql) {
        onStatement?.(statement)
        return (await traceStatement(statement, () => client.query<Row>(render(statement)))).rows
      },
    }
  }
}

/** Sends the statements of the work one after the other, then the commit. */
export const stepwise =
  <Result>(work: (tx: Tx) => Promise<Result>): Run<Result> =>
  async (client, db, begun) => {
    const result = await work(db as Tx)
    await begun
    const { command } = await client.query('commit')
    if (command === 'ROLLBACK') throw new Error('the transaction was rolled back, because one of its statements failed')
    return result
  }

/** Sends all statements and the commit in order without waiting for results. After a failure, the commit rolls back. */
export const pipelined =
  <Result>(work: (tx: Tx) => Promise<Result>): Run<Result> =>
  async (client, db, begun) => {
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
    const failed = (await Promise.allSettled(sent)).find((outcome) => outcome.status === 'rejected')
    if (failed !== undefined) throw failed.reason
    return result
  }

/** Separate statements, because Citus repeats the whole text that contains a SET on every node of the transaction. */
export function beginTransaction(
  orgId: number,
  settings: string,
  { asyncCommit = false, isSnapshot = false }: TxOptions = {},
): readonly string[] {
  if (!Number.isSafeInteger(orgId)) throw new TypeError('an organization id is an integer')
  const commitMode = asyncCommit ? 'set local synchronous_commit = off' : ''
  const begin = isSnapshot ? 'begin isolation level repeatable read, read only' : 'begin'
  const texts = [`set local app.org_id = '${orgId}'`, settings, commitMode, traceSetting()]
  return [begin, texts.filter((text) => text !== '').join('; ')]
}

/** The function that queues moves for delivery stores the span of the transaction with them. */
function traceSetting(): string {
  const traceparent = activeTraceparent()
  return traceparent === null ? '' : `set local app.traceparent = '${traceparent}'`
}
