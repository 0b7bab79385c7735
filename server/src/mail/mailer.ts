import { createTransport } from 'nodemailer'
import { setTimeout as sleep } from 'node:timers/promises'

export interface Email {
  to: string
  subject: string
  text: string
}

interface MailerOptions {
  /** The URL of the mail server, or null if none is configured. */
  url: string | null
  from: string
  onFailure: (error: unknown) => void
}

const retryDelaysMs = [1000, 5000]

/**
 * Sends e-mails in the background: requests do not wait for the mail server, and their response time does not reveal whether
 * an e-mail was sent.
 */
export class Mailer {
  readonly #deliver: ((email: Email) => Promise<unknown>) | null
  readonly #onFailure: (error: unknown) => void
  readonly #inFlight = new Set<Promise<void>>()
  readonly #closing = new AbortController()

  constructor({ url, from, onFailure }: MailerOptions) {
    this.#onFailure = onFailure
    if (url === null) {
      this.#deliver = null
      return
    }
    const limits = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 20_000 }
    const transport = createTransport({ url, ...limits, disableFileAccess: true, disableUrlAccess: true })
    this.#deliver = (email) => transport.sendMail({ from, ...email })
  }

  get hasTransport(): boolean {
    return this.#deliver !== null
  }

  send(email: Email): void {
    this.inBackground(() => this.#sendWithRetry(email))
  }

  /** Runs work for which the current request does not wait. */
  inBackground(work: () => Promise<void>): void {
    const running = work()
      .catch(this.#onFailure)
      .finally(() => this.#inFlight.delete(running))
    this.#inFlight.add(running)
  }

  /** Waits for work in flight. Failed e-mails are not retried any more. */
  async close(): Promise<void> {
    this.#closing.abort()
    while (this.#inFlight.size > 0) await Promise.all(this.#inFlight)
  }

  async #sendWithRetry(email: Email): Promise<void> {
    for (let retries = 0; ; retries++) {
      try {
        await this.#deliver?.(email)
        return
      } catch (error) {
        const delayMs = retryDelaysMs[retries]
        if (delayMs === undefined || this.#closing.signal.aborted) throw error
        await sleep(delayMs, undefined, { signal: this.#closing.signal }).catch(() => undefined)
      }
    }
  }
}
