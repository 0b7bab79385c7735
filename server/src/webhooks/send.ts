import { type Dispatcher, Pool } from 'undici'
import type { Signed } from './signature.ts'
import { type Target, Unreachable } from './target.ts'

/** What came of one attempt. `status` is null when there was no answer; `error` says why, or why the answer is no success. */
export interface Outcome {
  isDelivered: boolean
  status: number | null
  error: string | null
  durationMs: number
}

/** How much of an answer is read before the connection is given up. What it says is of no interest. */
const answerBytes = 64 * 1024

const words: Record<string, string> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was reset',
  UND_ERR_SOCKET: 'the connection was reset',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the host cannot be reached',
  EADDRNOTAVAIL: 'the host cannot be reached',
  ETIMEDOUT: 'timeout',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is for another host',
  CERT_HAS_EXPIRED: 'the certificate has expired',
}

const certificateCodes = /CERT|SELF_SIGNED|UNABLE_TO_(GET|VERIFY)|ISSUER/

/** In plain words, and without anything that tells about the network behind the service. */
function reasonOf(error: unknown): string {
  if (error instanceof Unreachable) return error.message
  const code = (error as NodeJS.ErrnoException).code ?? ''
  if (code in words) return words[code]!
  if (certificateCodes.test(code)) return 'the certificate is not trusted'
  if (/SSL|TLS|EPROTO/.test(code)) return 'the TLS handshake failed'
  if (/^(HPE_|UND_ERR_)/.test(code)) return 'the answer was not valid HTTP'
  return 'the request failed'
}

const wasStopped = (): Error => new Unreachable('the server was stopped')

export interface OutletOptions {
  url: string
  /** How many requests may run at the same time, each on a connection of its own. */
  connections: number
  /** For the whole of a request, from the name's resolution to the end of the answer. */
  timeoutMs: number
  /** Ends whatever is running. */
  cutOff?: AbortSignal
}

/** One request under way. It is told of each step instead of handed a stream: only that the answer ends is of interest. */
class Posting implements Dispatcher.DispatchHandler {
  readonly startedAt = performance.now()
  readonly #over: (posting: Posting, outcome: Outcome) => void
  #status: number | null = null
  #bytes = 0
  #underWay: Dispatcher.DispatchController | null = null
  #stopped: Error | null = null
  #isOver = false

  constructor(over: (posting: Posting, outcome: Outcome) => void) {
    this.#over = over
  }

  stop(reason: Error): void {
    this.#stopped = reason
    this.#end(reason)
    this.#underWay?.abort(reason)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#underWay = controller
    if (this.#stopped !== null) controller.abort(this.#stopped)
  }

  onResponseStart(_controller: Dispatcher.DispatchController, statusCode: number): void {
    this.#status = statusCode
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bytes += chunk.length
    if (this.#bytes <= answerBytes) return
    this.#end(null)
    controller.abort(new Unreachable('the answer is too long'))
  }

  onResponseEnd(): void {
    this.#end(null)
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#end(error)
  }

  #end(failure: unknown): void {
    if (this.#isOver) return
    this.#isOver = true
    const status = this.#status
    const error = failure === null ? null : reasonOf(failure)
    const isDelivered = error === null && status !== null && status >= 200 && status < 300
    const durationMs = Math.round(performance.now() - this.startedAt)
    this.#over(this, { isDelivered, status, error, durationMs })
  }
}

/**
 * One endpoint with connections of its own, kept open between requests: what happens on them concerns no other
 * endpoint. Redirects are not followed, and proxies named by the environment are not used.
 */
export class Outlet {
  readonly url: string
  readonly #path: string
  readonly #timeoutMs: number
  readonly #pool: Pool
  readonly #cutOff: AbortSignal | undefined
  /** The requests under way, the oldest first. One clock and one ear for the signal serve them all. */
  readonly #running = new Set<Posting>()
  #timer: NodeJS.Timeout | undefined

  constructor(target: Target, { url, connections, timeoutMs, cutOff }: OutletOptions) {
    const { origin, pathname, search, hostname, port } = new URL(url)
    this.url = url
    this.#path = pathname + search
    this.#timeoutMs = timeoutMs
    this.#cutOff = cutOff
    cutOff?.addEventListener('abort', () => this.#running.forEach((one) => one.stop(wasStopped())), { once: true })
    this.#pool = new Pool(origin, {
      connections,
      pipelining: 1,
      headersTimeout: 2 * timeoutMs,
      bodyTimeout: 2 * timeoutMs,
      connect(_options, done) {
        target
          .connect(hostname, port === '' ? 443 : Number(port), AbortSignal.timeout(timeoutMs))
          .then((socket) => done(null, socket))
          .catch((error: unknown) => done(error as Error, null))
      },
    })
  }

  /** Never throws: whatever goes wrong is an outcome. */
  post({ headers, body }: Signed, over: (outcome: Outcome) => void): void {
    const posting = new Posting((one, outcome) => {
      this.#running.delete(one)
      over(outcome)
    })
    this.#running.add(posting)
    if (this.#cutOff?.aborted) return posting.stop(wasStopped())
    if (this.#timer === undefined) this.#lookIn(this.#timeoutMs)
    this.#pool.dispatch({ method: 'POST', path: this.#path, headers, body }, posting)
  }

  /** The same, to be waited for. */
  send(signed: Signed): Promise<Outcome> {
    return new Promise((over) => this.post(signed, over))
  }

  #lookIn(ms: number): void {
    this.#timer = setTimeout(() => this.#lookRound(), ms).unref()
  }

  /** Gives up what has had its time, and looks again when the next one will have had it: also one begun meanwhile. */
  #lookRound(): void {
    for (const one of this.#running) {
      const leftMs = one.startedAt + this.#timeoutMs - performance.now()
      if (leftMs > 0) return this.#lookIn(Math.ceil(leftMs))
      one.stop(new Unreachable('timeout'))
    }
    this.#timer = undefined
  }

  /** Lets running requests end, then closes the connections. */
  async close(): Promise<void> {
    await this.#pool.close()
    clearTimeout(this.#timer)
  }
}
