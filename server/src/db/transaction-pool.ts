import pg from 'pg'
import { type Parameters, clientConfig, destroy } from './client.ts'
import { parseHosts } from './failover/primary-discovery.ts'
import { forceGenericPlans } from './plan-cache.ts'
import { limitTemporaryFiles } from './resources.ts'
import { rejectStandby } from './session.ts'

export interface TransactionPool {
  connect(): Promise<pg.PoolClient>
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
  const clients = new Set<pg.Client>()
  const pool = new pg.Pool({
    ...clientConfig(parseHosts(url).current, parameters),
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
  pool.on('connect', (client) => void clients.add(client))
  pool.on('remove', (client) => void clients.delete(client))
  const end = (): Promise<void> => pool.end().catch(ignore)
  return {
    connect: () => pool.connect(),
    get open() {
      return pool.totalCount
    },
    destroyAll() {
      for (const client of clients) destroy(client)
      void end()
    },
    /** Idle connections close immediately, busy ones after their transaction. */
    async close() {
      const ended = end()
      await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 5000).unref())])
    },
  }
}
