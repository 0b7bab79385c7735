import postgres from 'postgres'
import { reasonOf } from './reasons.ts'

const patienceMs = 2000

/** Asks one server the same thing again and again, on a connection of its own that holds nobody up. */
export class Probe {
  readonly address: string
  readonly #question: string
  #pool: postgres.Sql | null = null

  constructor(address: string, question: string) {
    this.address = address
    this.#question = question
  }

  /** The answer, or in words why there is none. */
  async ask<Answer extends object>(): Promise<Answer | string> {
    const pool = (this.#pool ??= this.#open())
    let late: NodeJS.Timeout | undefined
    try {
      const asked = pool.unsafe(this.#question)
      const tooLate = new Promise<never>((_resolve, reject) => {
        late = setTimeout(() => reject(new Error('it does not answer')), patienceMs)
      })
      const [row] = await Promise.race([asked, tooLate])
      return row as unknown as Answer
    } catch (error) {
      this.close()
      return reasonOf(error as Error)
    } finally {
      clearTimeout(late)
    }
  }

  close(): void {
    this.#pool?.end({ timeout: 0 }).catch(() => undefined)
    this.#pool = null
  }

  #open(): postgres.Sql {
    // Here a standby is welcome: it is asked whether it is one.
    const address = this.address.replace(/([?&])target_session_attrs=[^&]*&?/, '$1')
    return postgres(address, {
      ...{ max: 1, idle_timeout: 0, max_lifetime: null, connect_timeout: 2, backoff: false, fetch_types: false },
      onnotice: () => undefined,
      connection: { application_name: 'lastseen probe' },
    })
  }
}
