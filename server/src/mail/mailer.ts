import { createTransport } from 'nodemailer'
import { setTimeout as pause } from 'node:timers/promises'

export interface Email {
  to: string
  subject: string
  text: string
}

interface PostOptions {
  /** The mail server's address; null where there is none. */
  url: string | null
  from: string
  onFailure: (error: unknown) => void
}

/** Pauses before a letter is tried again. */
const pausesMs = [1000, 5000]

/**
 * Sends letters behind the back of requests: nobody waits for a mail server, and how long an answer takes does not tell
 * whether a letter was sent.
 */
export class Mailer {
  readonly #deliver: ((letter: Email) => Promise<unknown>) | null
  readonly #onFailure: (error: unknown) => void
  readonly #running = new Set<Promise<void>>()
  readonly #stopping = new AbortController()

  constructor({ url, from, onFailure }: PostOptions) {
    this.#onFailure = onFailure
    if (url === null) {
      this.#deliver = null
      return
    }
    const limits = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 20_000 }
    const transport = createTransport({ url, ...limits, disableFileAccess: true, disableUrlAccess: true })
    this.#deliver = (letter) => transport.sendMail({ from, ...letter })
  }

  get hasTransport(): boolean {
    return this.#deliver !== null
  }

  send(letter: Email): void {
    this.inBackground(() => this.#try(letter))
  }

  /** Does work that the request at hand does not wait for. */
  inBackground(work: () => Promise<void>): void {
    const running = work()
      .catch(this.#onFailure)
      .finally(() => this.#running.delete(running))
    this.#running.add(running)
  }

  /** Waits for what is under way; nothing is tried again. */
  async close(): Promise<void> {
    this.#stopping.abort()
    while (this.#running.size > 0) await Promise.all(this.#running)
  }

  async #try(letter: Email): Promise<void> {
    for (let tries = 0; ; tries++) {
      try {
        await this.#deliver?.(letter)
        return
      } catch (error) {
        const pauseMs = pausesMs[tries]
        if (pauseMs === undefined || this.#stopping.signal.aborted) throw error
        await pause(pauseMs, undefined, { signal: this.#stopping.signal }).catch(() => undefined)
      }
    }
  }
}
