import pg from 'pg'
import { clientConfig, destroy } from '../client.ts'
import { connectionErrorReason } from '../connection-errors.ts'

const timeoutMs = 2000

/** Asks one server the same question again and again, on a connection of its own. */
export class HealthProbe {
  readonly address: string
  readonly #question: string
  #client: Promise<pg.Client> | null = null

  constructor(address: string, question: string) {
    this.address = address
    this.#question = question
  }

  /** The answer, or in words why there is none. */
  async ask<Answer extends object>(): Promise<Answer | string> {
    try {
      const client = await (this.#client ?? this.#connect())
      const { rows } = await client.query(this.#question)
      return rows[0] as Answer
    } catch (error) {
      this.close()
      return connectionErrorReason(error as Error)
    }
  }

  close(): void {
    this.#client?.then(destroy, () => undefined)
    this.#client = null
  }

  /** A connection that is lost is replaced by the next question. */
  #connect(): Promise<pg.Client> {
    const opening = this.#open()
    this.#client = opening
    const forget = (): void => {
      if (this.#client === opening) this.#client = null
    }
    opening.then((client) => client.once('end', forget), forget)
    return opening
  }

  async #open(): Promise<pg.Client> {
    const client = new pg.Client({
      ...clientConfig(this.address, { application_name: 'lastseen probe' }),
      connectionTimeoutMillis: timeoutMs,
      query_timeout: timeoutMs,
    })
    client.on('error', () => undefined)
    try {
      await client.connect()
      return client
    } catch (error) {
      destroy(client)
      throw error
    }
  }
}
