import { type Clock, raceAbort } from './clock.ts'
import { NetworkError, createError, parseErrorResponse, retryAfterSeconds } from './errors.ts'

export interface TransportRequest {
  method: string
  url: string
  body?: unknown
  token?: string
  signal?: AbortSignal | undefined
  /** Which responses are retried: 429 and 500, only 429 (the server has not executed the request), or none. */
  retry: 'default' | 'rate limit only' | 'never'
}

export interface TransportOptions {
  fetch: typeof fetch
  clock: Clock
  userAgent: string
  /** How often a request is sent while the response is 500. */
  attempts: number
  /** How often a request is sent while the response is 429. */
  rateLimitAttempts: number
}

/** Browsers set User-Agent themselves, and a page that sets it would fail the server's CORS check. */
const isBrowser = (): boolean =>
  (globalThis as { navigator?: { userAgent?: string } }).navigator?.userAgent?.startsWith('Mozilla/') ?? false

/** Exponential backoff from 1 s to 30 s, plus up to 25 % jitter. */
export const backoffMs = (failures: number, random: number): number =>
  Math.min(30_000, 1000 * 2 ** (failures - 1)) * (1 + random / 4)

/**
 * Sends requests and retries them as the contract says: 429 after the time in Retry-After, 500 with exponential backoff,
 * and nothing else. Rate-limited requests are retried one after the other in their order, so that none of them starves.
 */
export class Transport {
  readonly #options: TransportOptions
  /** Resolves when the last rate-limited request is done. */
  #queueTail: Promise<void> = Promise.resolve()
  #queueLength = 0

  constructor(options: TransportOptions) {
    this.#options = options
  }

  /** Returns the parsed body of a successful response, undefined when it has none. Throws on every other response. */
  async send(request: TransportRequest): Promise<unknown> {
    const counter = { attempts: 0 }
    let response = this.#queueLength === 0 ? await this.#sendWithRetry(request, counter) : null
    if (response === null || (response.status === 429 && request.retry !== 'never')) {
      const limited = response
      response = await this.#serialize(request.signal, () => this.#waitForRateLimit(request, counter, limited))
    }
    const text = await this.#orNetworkError(request, response.text())
    if (!response.ok) throw createError(parseErrorResponse(response, text, counter.attempts))
    if (response.status === 204) return undefined
    try {
      return JSON.parse(text) as unknown
    } catch {
      const detail = 'The response is not JSON. Check the base URL: a proxy may have answered.'
      throw createError({ ...parseErrorResponse(response, text, counter.attempts), detail })
    }
  }

  /** Sends the request until it is not rate-limited. `limited` is its first 429 response, null when it was not sent yet. */
  async #waitForRateLimit(
    request: TransportRequest,
    counter: { attempts: number },
    limited: Response | null,
  ): Promise<Response> {
    let latest = limited
    for (let sent = limited === null ? 0 : 1; ; sent++) {
      if (latest !== null) {
        if (sent >= this.#options.rateLimitAttempts) return latest
        await latest.body?.cancel()
        await this.#options.clock.sleep(retryAfterSeconds(latest) * 1000, request.signal)
      }
      latest = await this.#sendWithRetry(request, counter)
      if (latest.status !== 429) return latest
    }
  }

  /** Sends the request, again with backoff while the response is 500. */
  async #sendWithRetry(request: TransportRequest, counter: { attempts: number }): Promise<Response> {
    const { attempts, clock } = this.#options
    for (let failures = 1; ; failures++) {
      counter.attempts++
      const response = await this.#fetch(request)
      if (response.status !== 500 || request.retry !== 'default' || failures >= attempts) return response
      await response.body?.cancel()
      await clock.sleep(backoffMs(failures, clock.random()), request.signal)
    }
  }

  #fetch(request: TransportRequest): Promise<Response> {
    const { method, url, body, token, signal } = request
    const headers: Record<string, string> = { Accept: 'application/json' }
    if (!isBrowser()) headers['User-Agent'] = this.#options.userAgent
    if (token !== undefined) headers['Authorization'] = `Bearer ${token}`
    if (body !== undefined)
      headers['Content-Type'] = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
    const init: RequestInit = { method, headers, cache: 'no-store', credentials: 'omit', redirect: 'error' }
    if (body !== undefined) init.body = JSON.stringify(body)
    if (signal !== undefined) init.signal = signal
    const { fetch } = this.#options
    return this.#orNetworkError(request, fetch(url, init))
  }

  async #orNetworkError<T>({ url, signal }: TransportRequest, received: Promise<T>): Promise<T> {
    try {
      return await received
    } catch (error) {
      signal?.throwIfAborted()
      throw new NetworkError(`No response from ${new URL(url).origin}${describeCause(error)}`, { cause: error })
    }
  }

  /** Runs `work` after all work that was queued before it. */
  async #serialize<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    const previous = this.#queueTail
    let release: (() => void) | undefined
    this.#queueTail = new Promise((resolve) => {
      release = resolve
    })
    this.#queueLength++
    try {
      await raceAbort(previous, signal)
      return await work()
    } finally {
      this.#queueLength--
      // A request that is aborted while it is queued must not release the next one before the previous one is done.
      void previous.then(release)
    }
  }
}

function describeCause(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error
  if (!(cause instanceof Error)) return ''
  const { code } = cause as { code?: unknown }
  return `: ${typeof code === 'string' ? code : cause.message}`
}
