import pg from 'pg'
import { type Parameters, SocketClient, clientConfig } from './client.ts'
import { parseHosts } from './failover/primary-discovery.ts'
import { forceGenericPlans } from './plan-cache.ts'
import { limitTemporaryFiles } from './resources.ts'
import { rejectStandby } from './session.ts'

/** A connection of the pool; `release` returns it. */
export type TransactionClient = SocketClient & pg.PoolClient

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

const ignore = (): void => undefined

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
