import { SocketClient, clientConfig } from '../client.ts'
import { connectionErrorReason } from '../connection-errors.ts'

const timeoutMs = 2000

/** Runs the same query against one server repeatedly, on a dedicated connection. */
export class HealthProbe {
  readonly address: string
  readonly #query: string
  #client: Promise<SocketClient> | null = null

  constructor(address: string, query: string) {
    this.address = address
    this.#query = query
  }

  /** The first row, or the reason why the query failed. */
  async check<Row extends object>(): Promise<Row | string> {
    try {
      const client = await (this.#client ?? this.#connect())
      const { rows } = await client.query(this.#query)
      return rows[0] as Row
    } catch (error) {
      this.close()
      return connectionErrorReason(error as Error)
    }
  }

  close(): void {
    this.#client?.then(
      (client) => client.destroy(),
      () => undefined,
    )
    this.#client = null
  }

  /** A lost connection is replaced by the next check. */
  #connect(): Promise<SocketClient> {
    const opening = this.#open()
    this.#client = opening
    const discard = (): void => {
      if (this.#client === opening) this.#client = null
    }
    opening.then((client) => client.once('end', discard), discard)
    return opening
  }

  async #open(): Promise<SocketClient> {
    const client = new SocketClient({
      ...clientConfig(this.address, { application_name: 'lastseen probe' }),
      connectionTimeoutMillis: timeoutMs,
      query_timeout: timeoutMs,
    })
    client.on('error', () => undefined)
    try {
      await client.connect()
      return client
    } catch (error) {
      client.destroy()
      throw error
    }
  }
}
