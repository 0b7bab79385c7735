import type pg from 'pg'
import { type Parameters, SocketClient, clientConfig, connectTimeoutMs, endClient } from './client.ts'
import type { Db } from './database.ts'
import { parseHosts } from './failover/primary-discovery.ts'
import { type Sql, render } from './sql.ts'

/** With several configured servers, rejects a connection to a server that is not the primary. */
export async function rejectStandby(client: pg.ClientBase, url: string): Promise<void> {
  if (!parseHosts(url).hasSeveral) return
  const { rows } = await client.query<{ is: boolean }>('select pg_is_in_recovery() as is')
  if (rows[0]!.is) throw new Error('the server is a standby')
}

/** A dedicated connection for administrative work. */
export interface Session extends Db {
  readonly client: pg.Client
  /** Runs a text without parameters; it may contain several statements. */
  execute(text: string): Promise<void>
  /** Rows as arrays of column values. */
  values<Value>(text: string): Promise<Value[][]>
  transaction<Result>(work: () => Promise<Result>): Promise<Result>
  /** Waits for statements in flight, up to the timeout; 0 does not wait. */
  end(timeoutMs?: number): Promise<void>
}

export interface SessionOptions {
  parameters?: Parameters
  queryTimeoutMs?: number
  connectTimeoutMs?: number
  /** Called once when the open connection is lost or closed. */
  onEnd?: () => void
}

export async function openSession(url: string, options: SessionOptions = {}): Promise<Session> {
  const client = new SocketClient({
    ...clientConfig(parseHosts(url).current, options.parameters),
    connectionTimeoutMillis: options.connectTimeoutMs ?? connectTimeoutMs,
    query_timeout: options.queryTimeoutMs,
  })
  // A lost connection fails the statement in flight and every later one; without a listener it would end the process.
  client.on('error', () => undefined)
  const session: Session = {
    client,
    query: async <Row extends object>(statement: Sql) => {
      const { text, values } = render(statement)
      return (await client.query<Row>(text, values)).rows
    },
    async execute(text) {
      await client.query(text)
    },
    values: async <Value>(text: string) => (await client.query<Value[]>({ text, rowMode: 'array' })).rows,
    async transaction(work) {
      await client.query('begin')
      try {
        const result = await work()
        await client.query('commit')
        return result
      } catch (error) {
        await client.query('rollback').catch(() => undefined)
        throw error
      }
    },
    end: (timeoutMs) => endClient(client, timeoutMs),
  }
  try {
    await client.connect()
    await rejectStandby(client, url)
  } catch (error) {
    client.destroy()
    throw error
  }
  if (options.onEnd !== undefined) client.once('end', options.onEnd)
  return session
}

export async function withSession<Result>(
  url: string,
  work: (session: Session) => Promise<Result>,
  parameters: Parameters = {},
): Promise<Result> {
  const session = await openSession(url, { parameters })
  try {
    return await work(session)
  } finally {
    await session.end()
  }
}
