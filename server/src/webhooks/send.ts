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
  /** How to end each request that is running. Listening to the signal once costs less than once for each of them. */
  readonly #running = new Set<(reason: Error) => void>()

  constructor(target: Target, { url, connections, timeoutMs, cutOff }: OutletOptions) {
    const { origin, pathname, search, hostname, port } = new URL(url)
    this.url = url
    this.#path = pathname + search
    this.#timeoutMs = timeoutMs
    this.#cutOff = cutOff
    cutOff?.addEventListener('abort', () => this.#running.forEach((stop) => stop(wasStopped())), { once: true })
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
  post({ headers, body }: Signed): Promise<Outcome> {
    const startedAt = performance.now()
    return new Promise((resolve) => {
      let status: number | null = null
      let bytes = 0
      let underWay: Dispatcher.DispatchController | null = null
      let stopped: Error | null = null
      let isOver = false
      const end = (failure: unknown): void => {
        if (isOver) return
        isOver = true
        clearTimeout(timer)
        this.#running.delete(stop)
        const error = failure === null ? null : reasonOf(failure)
        const isDelivered = error === null && status !== null && status >= 200 && status < 300
        resolve({ isDelivered, status, error, durationMs: Math.round(performance.now() - startedAt) })
      }
      const stop = (reason: Error): void => {
        stopped = reason
        end(reason)
        underWay?.abort(reason)
      }
      const timer = setTimeout(() => stop(new Unreachable('timeout')), this.#timeoutMs)
      if (this.#cutOff?.aborted) return stop(wasStopped())
      this.#running.add(stop)
      // Told of each step instead of handed a stream: what the answer says is of no interest, only that it ends.
      this.#pool.dispatch(
        { method: 'POST', path: this.#path, headers, body },
        {
          onRequestStart(controller) {
            underWay = controller
            if (stopped !== null) controller.abort(stopped)
          },
          onResponseStart(_controller, statusCode) {
            status = statusCode
          },
          onResponseData(controller, chunk) {
            bytes += chunk.length
            if (bytes <= answerBytes) return
            end(null)
            controller.abort(new Unreachable('the answer is too long'))
          },
          onResponseEnd: () => end(null),
          onResponseError: (_controller, error) => end(error),
        },
      )
    })
  }

  /** Lets running requests end, then closes the connections. */
  close(): Promise<void> {
    return this.#pool.close()
  }
}
