import { type Clock, unlessAborted } from './clock.ts'
import { NetworkError, errorOf, refusalOf, retryAfterSeconds } from './errors.ts'

export interface Outgoing {
  method: string
  url: string
  body?: unknown
  token?: string
  signal?: AbortSignal | undefined
  /** When it may be sent again: as the contract says; only when it was surely not carried out; not at all. */
  again: 'by the rules' | 'after 429' | 'never'
}

export interface TransportOptions {
  fetch: typeof fetch
  clock: Clock
  userAgent: string
  /** How often a request is sent when the answer is 500. */
  attempts: number
  /** How often a request is sent when the answer is 429. */
  rateLimitAttempts: number
}

/** Browsers name themselves, and a page that tried to would fail the server's CORS check. */
const isBrowser = (): boolean =>
  (globalThis as { navigator?: { userAgent?: string } }).navigator?.userAgent?.startsWith('Mozilla/') ?? false

/** From 1 s to about 30 s, doubling, with up to a quarter on top. */
export const backoffMs = (failures: number, random: number): number =>
  Math.min(30_000, 1000 * 2 ** (failures - 1)) * (1 + random / 4)

/**
 * Sends requests and follows the retry rules of the contract: 429 waits as long as it is told, 500 backs off, nothing
 * else is sent again. Calls that were told to wait go on one after the other, so that none of them starves.
 */
export class Transport {
  readonly #options: TransportOptions
  #line: Promise<void> = Promise.resolve()
  #waiting = 0

  constructor(options: TransportOptions) {
    this.#options = options
  }

  /** The body of the successful answer, undefined where it has none; anything else is thrown. */
  async send(outgoing: Outgoing): Promise<unknown> {
    const count = { attempts: 0 }
    let response = this.#waiting === 0 ? await this.#throughTrouble(outgoing, count) : null
    if (response === null || (response.status === 429 && outgoing.again !== 'never')) {
      const refused = response
      response = await this.#inLine(outgoing.signal, () => this.#untilAdmitted(outgoing, count, refused))
    }
    const text = await this.#reached(outgoing, response.text())
    if (!response.ok) throw errorOf(refusalOf(response, text, count.attempts))
    if (response.status === 204) return undefined
    try {
      return JSON.parse(text) as unknown
    } catch {
      throw errorOf({ ...refusalOf(response, text, count.attempts), detail: 'The answer is no JSON.' })
    }
  }

  async #untilAdmitted(outgoing: Outgoing, count: { attempts: number }, refused: Response | null): Promise<Response> {
    let latest = refused
    for (let sent = refused === null ? 0 : 1; ; sent++) {
      if (latest !== null) {
        if (sent >= this.#options.rateLimitAttempts) return latest
        await latest.body?.cancel()
        await this.#options.clock.sleep(retryAfterSeconds(latest) * 1000, outgoing.signal)
      }
      latest = await this.#throughTrouble(outgoing, count)
      if (latest.status !== 429) return latest
    }
  }

  async #throughTrouble(outgoing: Outgoing, count: { attempts: number }): Promise<Response> {
    const { attempts, clock } = this.#options
    for (let failures = 1; ; failures++) {
      count.attempts++
      const response = await this.#once(outgoing)
      if (response.status !== 500 || outgoing.again !== 'by the rules' || failures >= attempts) return response
      await response.body?.cancel()
      await clock.sleep(backoffMs(failures, clock.random()), outgoing.signal)
    }
  }

  #once(outgoing: Outgoing): Promise<Response> {
    const { method, url, body, token, signal } = outgoing
    const headers: Record<string, string> = { Accept: 'application/json' }
    if (!isBrowser()) headers['User-Agent'] = this.#options.userAgent
    if (token !== undefined) headers['Authorization'] = `Bearer ${token}`
    if (body !== undefined)
      headers['Content-Type'] = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
    const init: RequestInit = { method, headers, cache: 'no-store', credentials: 'omit', redirect: 'error' }
    if (body !== undefined) init.body = JSON.stringify(body)
    if (signal !== undefined) init.signal = signal
    const { fetch } = this.#options
    return this.#reached(outgoing, fetch(url, init))
  }

  async #reached<T>({ url, signal }: Outgoing, answer: Promise<T>): Promise<T> {
    try {
      return await answer
    } catch (error) {
      signal?.throwIfAborted()
      throw new NetworkError(`No answer from ${new URL(url).origin}${causeOf(error)}`, { cause: error })
    }
  }

  async #inLine<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    const before = this.#line
    let leave: (() => void) | undefined
    this.#line = new Promise((resolve) => {
      leave = resolve
    })
    this.#waiting++
    try {
      await unlessAborted(before, signal)
      return await work()
    } finally {
      this.#waiting--
      // Whoever gives up while others are before it leaves no gap.
      void before.then(leave)
    }
  }
}

function causeOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error
  if (!(cause instanceof Error)) return ''
  const { code } = cause as { code?: unknown }
  return `: ${typeof code === 'string' ? code : cause.message}`
}
