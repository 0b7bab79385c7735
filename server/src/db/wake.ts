import type { Connection } from './connect.ts'

const channel = 'lastseen_wake'
const beatMs = 1000

/**
 * News between processes, heard within milliseconds. A process that cannot hear knows it: it hears its own heartbeat
 * no more, and `isListening` turns false, so caches that live on news are not trusted meanwhile.
 */
export class Wake {
  readonly #connection: Connection
  readonly #millis: () => number
  readonly #handlers = new Map<string, ((payload: string) => void)[]>()
  readonly #self = `${process.pid}-${Math.random().toString(36).slice(2)}`
  #heardAt = -Infinity
  #timer: NodeJS.Timeout | undefined

  constructor(connection: Connection, millis: () => number) {
    this.#connection = connection
    this.#millis = millis
  }

  on(topic: string, handler: (payload: string) => void): void {
    this.#handlers.set(topic, [...(this.#handlers.get(topic) ?? []), handler])
  }

  async start(onGap: () => void): Promise<void> {
    const heard = (message: string): void => {
      const colon = message.indexOf(':')
      const topic = message.slice(0, colon)
      const payload = message.slice(colon + 1)
      if (topic !== 'beat') this.#tell(topic, payload)
      else if (payload === this.#self) this.#heardAt = this.#millis()
    }
    await this.#connection.listen(channel, heard, onGap)
    this.#heardAt = this.#millis()
    this.#timer = setInterval(() => void this.send('beat', this.#self).catch(() => undefined), beatMs)
    this.#timer.unref()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** Once this resolves, the sending process itself has heard it; the others hear it in a moment. */
  async send(topic: string, payload: string): Promise<void> {
    this.#tell(topic, payload)
    await this.#connection.notify(channel, `${topic}:${payload}`)
  }

  #tell(topic: string, payload: string): void {
    for (const handler of this.#handlers.get(topic) ?? []) handler(payload)
  }

  isListening(): boolean {
    return this.#millis() - this.#heardAt < 3 * beatMs
  }
}
