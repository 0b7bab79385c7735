import pg from 'pg'
import { type Parameters, clientConfig, connectTimeoutMs, destroy, endClient } from './client.ts'
import type { Db } from './database.ts'
import { parseHosts } from './failover/primary-discovery.ts'
import { type Sql, render } from './sql.ts'

/** Where there are several servers, a connection to one that was demoted is refused. */
export async function rejectStandby(client: pg.ClientBase, url: string): Promise<void> {
  if (!parseHosts(url).hasSeveral) return
  const { rows } = await client.query<{ is: boolean }>('select pg_is_in_recovery() as is')
  if (rows[0]!.is) throw new Error('the server is a standby')
}

/** A connection of its own for administrative work, one statement after the other. */
export interface Session extends Db {
  readonly client: pg.Client
  /** Runs a text without parameters; it may hold several statements. */
  execute(text: string): Promise<void>
  /** Rows as arrays of column values. */
  values<Value>(text: string): Promise<Value[][]>
  transaction<Result>(work: () => Promise<Result>): Promise<Result>
  /** Waits for what is in flight unless told not to. */
  end(timeoutMs?: number): Promise<void>
}

export interface SessionOptions {
  parameters?: Parameters
  queryTimeoutMs?: number
  connectTimeoutMs?: number
  /** Called once when a connection that was opened is lost or ended. */
  onEnd?: () => void
}

export async function openSession(url: string, options: SessionOptions = {}): Promise<Session> {
  const client = new pg.Client({
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
    destroy(client)
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
