import type { Connection } from './create-database.ts'

const channel = 'lastseen_pubsub'
const heartbeatMs = 1000
/** A process trusts its caches for this long after it sent the last heartbeat that it also received. */
const trustMs = 3 * heartbeatMs
const pollMs = 100
/** The longest wait for the `leave` message at shutdown, so that an unresponsive database does not delay it. */
const leaveTimeoutMs = 500

/** An event counts as handled when the returned promise, if any, has settled. */
type Handler = (payload: string) => unknown

/** A publication that waits for the acknowledgements of all processes. */
interface PendingPublication {
  acknowledgedBy: Set<string>
  onAcknowledged: () => void
}

/**
 * Events between processes, delivered within milliseconds. A process that receives no events notices it, because it
 * misses its own heartbeat: `isConnected` becomes false, and caches that rely on events are not trusted until it returns.
 */
export class PubSub {
  readonly #connection: Connection
  readonly #millis: () => number
  readonly #handlers = new Map<string, Handler[]>()
  /** When the last heartbeat of each other process arrived. */
  readonly #others = new Map<string, number>()
  readonly #pending = new Map<string, PendingPublication>()
  #publications = 0
  #listening: Promise<void> | undefined
  #heartbeatSentAt = -Infinity
  #timer: NodeJS.Timeout | undefined

  /** `millis` is a monotonic clock. */
  constructor(connection: Connection, millis: () => number) {
    this.#connection = connection
    this.#millis = millis
  }

  on(topic: string, handler: Handler): void {
    this.#handlers.set(topic, [...(this.#handlers.get(topic) ?? []), handler])
  }

  async start(onGap: () => void): Promise<void> {
    const startedAt = this.#millis()
    await (this.#listening ??= this.#connection.listen(channel, (message) => this.#receive(message), onGap))
    this.#heartbeatSentAt = startedAt
    this.#timer = setInterval(
      () => void this.publish('heartbeat', String(this.#millis())).catch(() => undefined),
      heartbeatMs,
    )
    this.#timer.unref()
  }

  /** Publishes that the other processes need not wait for acknowledgements of this process any more. */
  async stop(): Promise<void> {
    clearInterval(this.#timer)
    if (this.#timer !== undefined) {
      const leaving = this.publish('leave', '').catch(() => undefined)
      await Promise.race([leaving, new Promise((resume) => setTimeout(resume, leaveTimeoutMs).unref())])
    }
    this.#timer = undefined
    this.#heartbeatSentAt = -Infinity
  }

  /**
   * Calls the handlers of this process immediately, and those of the other processes shortly after. Each process handles
   * the event once.
   */
  async publish(topic: string, payload: string): Promise<void> {
    void this.#callHandlers(topic, payload)
    await this.#connection.notify(channel, `${this.#connection.name} ${topic}:${payload}`)
  }

  /**
   * Resolves when every process has handled the event, so that every cache entry still in use is newer than the event.
   * A process that does not acknowledge is waited for until it has stopped trusting its caches.
   */
  async publishAndWait(topic: string, payload: string): Promise<void> {
    await (this.#listening ??= this.#connection.listen(
      channel,
      (message) => this.#receive(message),
      () => undefined,
    ))
    const { name } = this.#connection
    const id = String(++this.#publications)
    const publication: PendingPublication = { acknowledgedBy: new Set(), onAcknowledged: () => undefined }
    this.#pending.set(id, publication)
    try {
      await this.#callHandlers(topic, payload)
      await this.#connection.notify(channel, `${name} ${topic}?${id}:${payload}`)
      await this.#waitForAcknowledgements(publication)
    } finally {
      this.#pending.delete(id)
    }
  }

  isConnected(): boolean {
    return this.#millis() - this.#heartbeatSentAt < trustMs
  }

  /** How long this process has received no events; 0 while it is connected. */
  outageMs(): number {
    return this.isConnected() ? 0 : this.#millis() - this.#heartbeatSentAt
  }

  async #waitForAcknowledgements(publication: PendingPublication): Promise<void> {
    const { acknowledgedBy } = publication
    const deadline = this.#millis() + trustMs
    while (this.#millis() < deadline) {
      const recipients = await this.#recipients()
      const missing = recipients.filter((name) => !acknowledgedBy.has(name))
      if (missing.length === 0) return
      await new Promise<void>((resume) => {
        const timer = setTimeout(resume, pollMs)
        publication.onAcknowledged = () => {
          if (missing.some((name) => !acknowledgedBy.has(name))) return
          clearTimeout(timer)
          resume()
        }
        publication.onAcknowledged()
      })
      if (missing.every((name) => acknowledgedBy.has(name))) return
    }
  }

  /** Listening processes, and those with a recent heartbeat, which may have lost their connection without noticing yet. */
  async #recipients(): Promise<string[]> {
    const names = new Set(await this.#connection.listeners())
    for (const [name, receivedAt] of this.#others)
      if (this.#millis() - receivedAt < trustMs) names.add(name)
      else this.#others.delete(name)
    names.delete(this.#connection.name)
    return [...names]
  }

  #receive(message: string): void {
    const [, sender = '', topic = '', id, payload = ''] = /^(\S+) ([^:?]*)(?:\?(\d+))?:(.*)$/s.exec(message) ?? []
    if (sender === this.#connection.name) {
      // This process has handled its own events already. Its heartbeat proves that all events sent earlier have arrived.
      if (topic === 'heartbeat') this.#heartbeatSentAt = Number(payload)
      return
    }
    if (topic === 'leave') this.#others.delete(sender)
    else if (topic === 'heartbeat') this.#others.set(sender, this.#millis())
    else if (topic === 'ack') this.#acknowledged(sender, payload)
    else void this.#handle(sender, topic, id, payload)
  }

  async #handle(sender: string, topic: string, id: string | undefined, payload: string): Promise<void> {
    await this.#callHandlers(topic, payload)
    if (id !== undefined) await this.publish('ack', `${sender} ${id}`).catch(() => undefined)
  }

  #acknowledged(by: string, payload: string): void {
    const [name, id = ''] = payload.split(' ')
    const publication = name === this.#connection.name ? this.#pending.get(id) : undefined
    publication?.acknowledgedBy.add(by)
    publication?.onAcknowledged()
  }

  async #callHandlers(topic: string, payload: string): Promise<void> {
    await Promise.all((this.#handlers.get(topic) ?? []).map((handler) => handler(payload)))
  }
}
