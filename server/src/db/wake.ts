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
      const [, sender, topic, payload] = /^(\S+) ([^:]*):(.*)$/s.exec(message) ?? []
      const isOwn = sender === this.#self
      if (isOwn && topic === 'beat') this.#heardAt = this.#millis()
      // What this process sent it has heard already.
      if (!isOwn) this.#tell(topic ?? '', payload ?? '')
    }
    await this.#connection.listen(channel, heard, onGap)
    this.#heardAt = this.#millis()
    this.#timer = setInterval(() => void this.send('beat', '').catch(() => undefined), beatMs)
    this.#timer.unref()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** Once this resolves, the sending process itself has heard it; the others hear it in a moment. Each hears it once. */
  async send(topic: string, payload: string): Promise<void> {
    this.#tell(topic, payload)
    await this.#connection.notify(channel, `${this.#self} ${topic}:${payload}`)
  }

  #tell(topic: string, payload: string): void {
    for (const handler of this.#handlers.get(topic) ?? []) handler(payload)
  }

  isListening(): boolean {
    return this.#millis() - this.#heardAt < 3 * beatMs
  }
}
