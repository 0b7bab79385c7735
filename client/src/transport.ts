import { type Clock, raceAbort } from './clock.ts'
import { type ErrorDetails, NetworkError, createError, parseErrorResponse, retryAfterSeconds } from './errors.ts'

/** The bytes of a body that is not JSON, or NDJSON. They are sent again with a retry. */
export interface RawBody {
  type: string
  content: string | Uint8Array<ArrayBuffer> | Blob
}

export interface TransportRequest {
  method: string
  url: string
  /** Sent as JSON. */
  body?: unknown
  /** Sent unchanged, instead of `body`. */
  raw?: RawBody | undefined
  headers?: Record<string, string> | undefined
  /** Without a token, or with an empty one, no Authorization header is sent. */
  token?: string
  signal?: AbortSignal | undefined
  /** Replaces the default timeout. */
  timeoutMs?: number | undefined
  /** A successful response may have no body whatever its status is. Otherwise only a 204 has none. */
  mayBeEmpty?: boolean | undefined
  /** Returns the response once its headers are received; its body is read later, without a timeout. */
  isStream?: boolean | undefined
  /**
   * Which failures are retried: 429 and 500, only 429 (the server has not executed the request), or none. A request that
   * may be executed twice, such as a GET, is also retried after 502, 503, 504 and without a response.
   */
  retry: 'default' | 'repeatable' | 'rate limit only' | 'never'
}

/** An attempt to send a request, for logs. The URL contains no secrets; headers and bodies are not included. */
export interface RequestInfo {
  method: string
  url: string
  /** 1 for the first attempt. */
  attempt: number
}

/** The outcome of an attempt: a response, or the error without a response. */
export interface ResponseInfo extends RequestInfo {
  status: number | null
  /** The request id of the response, by which the server's log is searched. */
  requestId: string | null
  durationMs: number
  error: Error | null
}

export interface TransportOptions {
  fetch: typeof fetch
  clock: Clock
  userAgent: string
  /** How often a request is sent while it fails. */
  attempts: number
  /** How often a request is sent while the response is 429. */
  rateLimitAttempts: number
  /** How long an attempt may take. */
  timeoutMs: number
  onRequest: ((info: RequestInfo) => void) | undefined
  onResponse: ((info: ResponseInfo) => void) | undefined
}

/** A response and its text; the text of a stream is not read. */
interface Received {
  response: Response
  text: string
}

/** Browsers set User-Agent themselves, and a page that sets it would fail the server's CORS check. */
const isBrowser = (): boolean =>
  (globalThis as { navigator?: { userAgent?: string } }).navigator?.userAgent?.startsWith('Mozilla/') ?? false

/** Exponential backoff from 1 s to 30 s, plus up to 25 % jitter. */
export const backoffMs = (failures: number, random: number): number =>
  Math.min(30_000, 1000 * 2 ** (failures - 1)) * (1 + random / 4)

/** The longest time that Retry-After of a failing server or proxy delays a retry. */
const maxRetryAfterMs = 60_000

/**
 * Sends requests and retries them as the contract says: 429 after the time in Retry-After, 500 with exponential backoff. A
 * repeatable request is also retried after a failure of a proxy and without a response. Rate-limited requests are retried
 * one after the other in their order, so that none of them starves.
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
    const { response, text } = await this.#receive(request, counter)
    if (response.status === 204 || (request.mayBeEmpty && text === '')) return undefined
    try {
      return JSON.parse(text) as unknown
    } catch {
      const detail = 'The response is not JSON. Check the base URL: a proxy may have answered.'
      throw createError({ ...this.#describe(response, text, counter), detail })
    }
  }

  /** Returns a successful response whose body is not read yet. Throws on every other response. */
  async open(request: TransportRequest): Promise<Response> {
    return (await this.#receive({ ...request, isStream: true }, { attempts: 0 })).response
  }

  async #receive(request: TransportRequest, counter: { attempts: number }): Promise<Received> {
    let received = this.#queueLength === 0 ? await this.#sendWithRetry(request, counter) : null
    if (received === null || (received.response.status === 429 && request.retry !== 'never')) {
      const limited = received
      received = await this.#serialize(request.signal, () => this.#waitForRateLimit(request, counter, limited))
    }
    const { response, text } = received
    if (!response.ok) throw createError(this.#describe(response, text, counter))
    return received
  }

  #describe(response: Response, text: string, { attempts }: { attempts: number }): ErrorDetails {
    return parseErrorResponse(response, text, attempts, this.#options.clock.millis())
  }

  #retryAfterMs(response: Response): number {
    return retryAfterSeconds(response, this.#options.clock.millis()) * 1000
  }

  /** Sends the request until it is not rate-limited. `limited` is its first 429 response, null when it was not sent yet. */
  async #waitForRateLimit(
    request: TransportRequest,
    counter: { attempts: number },
    limited: Received | null,
  ): Promise<Received> {
    let latest = limited
    for (let sent = limited === null ? 0 : 1; ; sent++) {
      if (latest !== null) {
        if (sent >= this.#options.rateLimitAttempts) return latest
        await this.#options.clock.sleep(this.#retryAfterMs(latest.response), request.signal)
      }
      latest = await this.#sendWithRetry(request, counter)
      if (latest.response.status !== 429) return latest
    }
  }

  /** Sends the request, again with backoff while it fails. */
  async #sendWithRetry(request: TransportRequest, counter: { attempts: number }): Promise<Received> {
    const { attempts, clock } = this.#options
    for (let failures = 1; ; failures++) {
      counter.attempts++
      const outcome = await this.#attempt(request, counter.attempts)
      const isFinal = failures >= attempts || !mayRetry(request, outcome)
      if (outcome instanceof NetworkError) {
        if (isFinal) throw outcome
      } else if (isFinal) return outcome
      const header = outcome instanceof NetworkError ? null : outcome.response.headers.get('Retry-After')
      const retryAfterMs = header === null ? 0 : this.#retryAfterMs((outcome as Received).response)
      const delayMs = Math.max(backoffMs(failures, clock.random()), Math.min(retryAfterMs, maxRetryAfterMs))
      await clock.sleep(delayMs, request.signal)
    }
  }

  /** Sends the request once. Throws only when the caller has aborted it. */
  async #attempt(request: TransportRequest, attempt: number): Promise<Received | NetworkError> {
    const { clock, onRequest, onResponse } = this.#options
    const info: RequestInfo = { method: request.method, url: request.url, attempt }
    onRequest?.(info)
    const startedAtMs = clock.millis()
    const report = (response: Response | null, error: Error | null): void =>
      onResponse?.({
        ...info,
        status: response?.status ?? null,
        requestId: response?.headers.get('X-Request-ID') ?? null,
        durationMs: clock.millis() - startedAtMs,
        error,
      })
    const timeoutMs = request.timeoutMs ?? this.#options.timeoutMs
    const timeout = new AbortController()
    const timer = setTimeout(() => timeout.abort(), timeoutMs)
    const signals = [timeout.signal, ...(request.signal === undefined ? [] : [request.signal])]
    try {
      const response = await this.#fetch(request, AbortSignal.any(signals))
      const text = request.isStream && response.ok ? '' : await response.text()
      report(response, null)
      return { response, text }
    } catch (error) {
      request.signal?.throwIfAborted()
      const reason = timeout.signal.aborted ? `: no answer within ${timeoutMs} ms` : describeCause(error)
      const failure = new NetworkError(`No response from ${new URL(request.url).origin}${reason}`, { cause: error })
      report(null, failure)
      return failure
    } finally {
      clearTimeout(timer)
    }
  }

  #fetch(request: TransportRequest, signal: AbortSignal): Promise<Response> {
    const { method, url, body, raw, token } = request
    const headers: Record<string, string> = { Accept: 'application/json', ...request.headers }
    if (!isBrowser()) headers['User-Agent'] = this.#options.userAgent
    if (token !== undefined && token !== '') headers['Authorization'] = `Bearer ${token}`
    if (raw !== undefined) headers['Content-Type'] = raw.type
    else if (body !== undefined)
      headers['Content-Type'] = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
    const init: RequestInit = { method, headers, signal, cache: 'no-store', credentials: 'omit', redirect: 'error' }
    if (raw !== undefined) init.body = raw.content
    else if (body !== undefined) init.body = JSON.stringify(body)
    const { fetch } = this.#options
    return fetch(url, init)
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

const proxyFailures = [502, 503, 504]

function mayRetry({ method, retry }: TransportRequest, outcome: Received | NetworkError): boolean {
  if (retry === 'never' || retry === 'rate limit only') return false
  const isRepeatable = method === 'GET' || retry === 'repeatable'
  if (outcome instanceof NetworkError) return isRepeatable
  const { status } = outcome.response
  return status === 500 || (isRepeatable && proxyFailures.includes(status))
}

function describeCause(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error
  if (!(cause instanceof Error)) return ''
  const { code } = cause as { code?: unknown }
  return `: ${typeof code === 'string' ? code : cause.message}`
}
