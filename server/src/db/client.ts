import { Socket } from 'node:net'
import pg from 'pg'
import { parse as parseArray } from 'postgres-array'
import { type Attributes, SpanKind, inChildSpan } from '../kernel/tracing.ts'
import { type Sql, render } from './sql.ts'

/** Run-time settings of a connection, such as its role. */
export type Parameters = Readonly<Record<string, string>>

export const connectTimeoutMs = 10_000

const numbers = [20, 21, 23, 26, 700, 701]
const numberArrays = [1007, 1016]
const textArrays = [1009, 1185, 2951]
const parsers = new Map<number, (text: string) => unknown>([
  ...numbers.map((oid) => [oid, Number] as const),
  ...numberArrays.map((oid) => [oid, (text: string) => parseArray(text, Number)] as const),
  ...textArrays.map((oid) => [oid, (text: string) => parseArray(text, String)] as const),
  [16, (text) => text === 't'],
  [17, (text) => Buffer.from(text.slice(2), 'hex')],
])
const asText = (text: string): string => text

/** Bigints become numbers, because ids stay below 2^53. Timestamps and JSON stay text. */
const types = { getTypeParser: (oid: number) => parsers.get(oid) ?? asText }

/** Client settings for one server. Settings made here take precedence over the same settings in the URL. */
export function clientConfig(url: string, { application_name = 'lastseen', ...parameters }: Parameters = {}) {
  const address = new URL(url)
  const { searchParams } = address
  const urlOptions = searchParams.get('options') ?? ''
  for (const name of ['options', 'application_name', 'target_session_attrs']) searchParams.delete(name)
  // `sslmode` means what it means to psql: `require` encrypts, `verify-full` also checks the certificate.
  if (searchParams.has('sslmode')) searchParams.set('uselibpqcompat', 'true')
  const ownParameters = Object.entries({ TimeZone: 'UTC', ...parameters })
  return {
    connectionString: address.href,
    application_name,
    options: [urlOptions, ...ownParameters.map(([name, value]) => `-c ${name}=${value.replaceAll(/[\\ ]/g, '\\$&')}`)]
      .join(' ')
      .trim(),
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    types,
  } satisfies pg.ClientConfig
}

/** A client on a socket of its own, so that the connection can be closed at once and several statements share a packet. */
export class SocketClient extends pg.Client {
  readonly #socket: Socket

  constructor(config: pg.ClientConfig = {}) {
    const socket = new Socket()
    super({ ...config, stream: () => socket })
    this.#socket = socket
  }

  /** Closes the connection without waiting for statements in flight. */
  destroy(): void {
    this.#socket.destroy()
  }

  /** Sends the statements that `start` begins before its first await in one packet; with TLS, in one packet each. */
  sendTogether<Result>(start: () => Result): Result {
    this.#socket.cork()
    try {
      return start()
    } finally {
      this.#socket.uncork()
    }
  }
}

/** Closes a connection after the statements in flight, or after the timeout, whichever comes first. */
export async function endClient(client: SocketClient, timeoutMs = 5000): Promise<void> {
  const timer = setTimeout(() => client.destroy(), timeoutMs)
  await client.end().catch(() => undefined)
  clearTimeout(timer)
}

/** Memory for one sort or hash table, regardless of the server's setting. */
export const memoryParameters: Parameters = { work_mem: '8MB' }

/** Runs on a new connection. Without the privilege, which a migration grants, the server's own limit applies. */
export const limitTemporaryFiles = `
  select set_config('temp_file_limit', '256MB', false) where has_parameter_privilege('temp_file_limit', 'set')`

/** The text of a statement has placeholders where its values are. */
const attributesOf = (statement: Sql): Attributes => ({
  'db.system.name': 'postgresql',
  'db.query.text': render(statement).text,
})

/** Runs a statement in a client span. Statements that belong to no traced request, batch or claim have none. */
export const traceStatement = <Result>(statement: Sql, run: () => Promise<Result>): Promise<Result> =>
  inChildSpan(() => ({ name: 'postgresql', kind: SpanKind.CLIENT, attributes: attributesOf(statement) }), run)
