import type { Connection } from './create-database.ts'

const channel = 'lastseen_wake'
const beatMs = 1000
/** For so long after its last heartbeat a process trusts what it remembers. */
const trustMs = 3 * beatMs
const lookAgainMs = 100
/** A database that does not answer holds nobody up who wants to stop. */
const farewellMs = 500

/** One that returns a promise has acted on the news only when that is over. */
type Handler = (payload: string) => unknown

/** Somebody who waits until all have heard. */
interface Announced {
  heardBy: Set<string>
  pubsub: () => void
}

/**
 * News between processes, heard within milliseconds. A process that cannot hear knows it: it hears its own heartbeat
 * no more, and `isListening` turns false, so caches that live on news are not trusted meanwhile.
 */
export class PubSub {
  readonly #connection: Connection
  readonly #millis: () => number
  readonly #handlers = new Map<string, Handler[]>()
  /** When each other process was last heard. */
  readonly #others = new Map<string, number>()
  readonly #announced = new Map<string, Announced>()
  #announcements = 0
  #listening: Promise<void> | undefined
  #beatSentAt = -Infinity
  #timer: NodeJS.Timeout | undefined

  /** The clock is one that only moves forward, whatever the time of day does. */
  constructor(connection: Connection, millis: () => number) {
    this.#connection = connection
    this.#millis = millis
  }

  on(topic: string, handler: Handler): void {
    this.#handlers.set(topic, [...(this.#handlers.get(topic) ?? []), handler])
  }

  async start(onGap: () => void): Promise<void> {
    const startedAt = this.#millis()
    await (this.#listening ??= this.#connection.listen(channel, (message) => this.#hear(message), onGap))
    this.#beatSentAt = startedAt
    this.#timer = setInterval(() => void this.publish('beat', String(this.#millis())).catch(() => undefined), beatMs)
    this.#timer.unref()
  }

  /** The others need not wait for an answer of this process any more. */
  async stop(): Promise<void> {
    clearInterval(this.#timer)
    if (this.#timer !== undefined) {
      const farewell = this.publish('gone', '').catch(() => undefined)
      await Promise.race([farewell, new Promise((resume) => setTimeout(resume, farewellMs).unref())])
    }
    this.#timer = undefined
    this.#beatSentAt = -Infinity
  }

  /** Once this resolves, the sending process itself has heard it; the others hear it in a moment. Each hears it once. */
  async publish(topic: string, payload: string): Promise<void> {
    void this.#tell(topic, payload)
    await this.#connection.notify(channel, `${this.#connection.name} ${topic}:${payload}`)
  }

  /**
   * Once this resolves, every process has acted on it: whatever any of them remembers is from after the news. One that
   * does not answer is waited for until it has stopped trusting what it remembers.
   */
  async publishAndWait(topic: string, payload: string): Promise<void> {
    await (this.#listening ??= this.#connection.listen(
      channel,
      (message) => this.#hear(message),
      () => undefined,
    ))
    const { name } = this.#connection
    const id = String(++this.#announcements)
    const announced: Announced = { heardBy: new Set(), pubsub: () => undefined }
    this.#announced.set(id, announced)
    try {
      await this.#tell(topic, payload)
      await this.#connection.notify(channel, `${name} ${topic}?${id}:${payload}`)
      await this.#untilHeard(announced)
    } finally {
      this.#announced.delete(id)
    }
  }

  isConnected(): boolean {
    return this.#millis() - this.#beatSentAt < trustMs
  }

  async #untilHeard(announced: Announced): Promise<void> {
    const givenUpAt = this.#millis() + trustMs
    while (this.#millis() < givenUpAt) {
      const waiting = await this.#present()
      const missing = waiting.filter((name) => !announced.heardBy.has(name))
      if (missing.length === 0) return
      await new Promise<void>((resume) => {
        const timer = setTimeout(resume, lookAgainMs)
        announced.pubsub = () => {
          if (missing.some((name) => !announced.heardBy.has(name))) return
          clearTimeout(timer)
          resume()
        }
        announced.pubsub()
      })
      if (missing.every((name) => announced.heardBy.has(name))) return
    }
  }

  /** Whoever listens now, and whoever did a moment ago: it may have lost its connection and not know it yet. */
  async #present(): Promise<string[]> {
    const names = new Set(await this.#connection.listeners())
    for (const [name, heardAt] of this.#others)
      if (this.#millis() - heardAt < trustMs) names.add(name)
      else this.#others.delete(name)
    names.delete(this.#connection.name)
    return [...names]
  }

  #hear(message: string): void {
    const [, sender = '', topic = '', id, payload = ''] = /^(\S+) ([^:?]*)(?:\?(\d+))?:(.*)$/s.exec(message) ?? []
    if (sender === this.#connection.name) {
      // What this process sent it has heard already. The beat says when it was sent: all news before it were heard.
      if (topic === 'beat') this.#beatSentAt = Number(payload)
      return
    }
    if (topic === 'gone') this.#others.delete(sender)
    else if (topic === 'beat') this.#others.set(sender, this.#millis())
    else if (topic === 'heard') this.#noteHeard(sender, payload)
    else void this.#answer(sender, topic, id, payload)
  }

  async #answer(sender: string, topic: string, id: string | undefined, payload: string): Promise<void> {
    await this.#tell(topic, payload)
    if (id !== undefined) await this.publish('heard', `${sender} ${id}`).catch(() => undefined)
  }

  #noteHeard(by: string, payload: string): void {
    const [name, id = ''] = payload.split(' ')
    const announced = name === this.#connection.name ? this.#announced.get(id) : undefined
    announced?.heardBy.add(by)
    announced?.pubsub()
  }

  async #tell(topic: string, payload: string): Promise<void> {
    await Promise.all((this.#handlers.get(topic) ?? []).map((handler) => handler(payload)))
  }
}
