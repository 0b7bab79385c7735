import { setTimeout as sleep } from 'node:timers/promises'
import type { Parameters } from './client.ts'
import { type Session, openSession } from './session.ts'

const reconnectMs = 200

interface Subscription {
  channel: string
  onNotification: (payload: string) => void
  /** Called when listening begins, and after each reconnection, when notifications may have been missed. */
  onListening: () => void
}

/** One connection for LISTEN. After a loss it reconnects and listens to the same channels again. */
export class NotificationListener {
  readonly #url: string
  readonly #parameters: Parameters
  readonly #subscriptions: Subscription[] = []
  #session: Promise<Session> | undefined
  #isClosed = false

  constructor(url: string, parameters: Parameters) {
    this.#url = url
    this.#parameters = parameters
  }

  async listen(channel: string, onNotification: (payload: string) => void, onListening: () => void): Promise<void> {
    const subscription = { channel, onNotification, onListening }
    const session = await (this.#session ??= this.#connect())
    this.#subscriptions.push(subscription)
    await listenOn(session, subscription)
  }

  /** Drops the connection, so that the next one goes to the current primary. */
  reconnect(): void {
    void this.#session?.then((session) => session.end(0)).catch(() => undefined)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#session?.then((session) => session.end()).catch(() => undefined)
  }

  async #connect(): Promise<Session> {
    const session = await openSession(this.#url, {
      parameters: this.#parameters,
      onEnd: () => void this.#restore(),
    })
    session.client.on('notification', ({ channel, payload = '' }) => {
      for (const subscription of this.#subscriptions)
        if (subscription.channel === channel) subscription.onNotification(payload)
    })
    return session
  }

  /** Runs after each loss: retries until it is connected, then listens to the same channels. */
  async #restore(): Promise<void> {
    const session = await this.#connectWithRetry()
    if (session === null) return
    try {
      for (const subscription of this.#subscriptions) await listenOn(session, subscription)
    } catch {
      await session.end(0)
    }
  }

  async #connectWithRetry(): Promise<Session | null> {
    for (;;) {
      await sleep(reconnectMs, undefined, { ref: false })
      if (this.#isClosed) return null
      this.#session = this.#connect()
      const session = await this.#session.catch(() => null)
      if (session !== null) return session
    }
  }
}

async function listenOn(session: Session, { channel, onListening }: Subscription): Promise<void> {
  await session.execute(`listen ${channel}`)
  onListening()
}
