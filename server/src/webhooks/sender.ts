import { EventEmitter } from 'node:events'
import { Pool } from 'undici'
import type { Signed } from './signature.ts'
import { type GuardedConnector, UnreachableError } from './ssrf-guard.ts'

/** The result of one attempt. `status` is null when no response arrived; `error` says why the request failed. */
export interface Outcome {
  isDelivered: boolean
  status: number | null
  error: string | null
  durationMs: number
}

/** The sender closes the connection when a response is longer than this. The content of a response is not used. */
const maxResponseBytes = 64 * 1024

const reasons: Record<string, string> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was reset',
  UND_ERR_SOCKET: 'the connection was reset',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the host cannot be reached',
  EADDRNOTAVAIL: 'the host cannot be reached',
  ETIMEDOUT: 'timeout',
  UND_ERR_ABORTED: 'timeout',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is for another host',
  CERT_HAS_EXPIRED: 'the certificate has expired',
}

const certificateCodes = /CERT|SELF_SIGNED|UNABLE_TO_(GET|VERIFY)|ISSUER/

/** A plain-English reason that reveals nothing about the network of the service. */
function reasonOf(error: unknown): string {
  if (error instanceof UnreachableError) return error.message
  const code = (error as NodeJS.ErrnoException).code ?? ''
  if (code in reasons) return reasons[code]!
  if (certificateCodes.test(code)) return 'the certificate is not trusted'
  if (/SSL|TLS|EPROTO/.test(code)) return 'the TLS handshake failed'
  if (/^(HPE_|UND_ERR_)/.test(code)) return 'the response was not valid HTTP'
  return 'the request failed'
}

export interface WebhookSenderOptions {
  url: string
  /** The maximum number of connections. Each connection carries one request at a time. */
  connections: number
  /** Limits the whole request, from name resolution to the end of the response. */
  timeoutMs: number
  /** Aborts every request in flight. */
  cutOff?: AbortSignal
}

/**
 * Sends requests to one endpoint over its own pool of keep-alive connections, so endpoints do not affect each other.
 * The sender does not follow redirects and ignores proxies from the environment.
 */
export class WebhookSender {
  readonly url: string
  readonly #path: string
  readonly #timeoutMs: number
  readonly #pool: Pool

  constructor(target: GuardedConnector, { url, connections, timeoutMs, cutOff }: WebhookSenderOptions) {
    const { origin, pathname, search, hostname, port } = new URL(url)
    this.url = url
    this.#path = pathname + search
    this.#timeoutMs = timeoutMs
    this.#pool = new Pool(origin, {
      connections,
      connect(_options, callback) {
        target.connect(hostname, port === '' ? 443 : Number(port), AbortSignal.timeout(timeoutMs)).then(
          (socket) => callback(null, socket),
          (error: unknown) => callback(error as Error, null),
        )
      },
    })
    const stop = (): void => void this.#pool.destroy(new UnreachableError('the server was stopped'))
    cutOff?.addEventListener('abort', stop, { once: true })
  }

  /** Never rejects: every failure is an outcome. */
  async send({ headers, body }: Signed): Promise<Outcome> {
    const startedAt = performance.now()
    // An emitter of `abort` takes less time than an AbortSignal.
    const signal = new EventEmitter()
    const timer = setTimeout(() => signal.emit('abort'), this.#timeoutMs)
    const request = { method: 'POST', path: this.#path, headers, body, signal } as const
    let status: number | null = null
    let error: string | null = null
    try {
      const response = await this.#pool.request(request)
      status = response.statusCode
      await readToEnd(response.body)
    } catch (failure) {
      error = reasonOf(failure)
    } finally {
      clearTimeout(timer)
    }
    const isDelivered = error === null && status !== null && status >= 200 && status < 300
    return { isDelivered, status, error, durationMs: Math.round(performance.now() - startedAt) }
  }

  /** Waits for the requests in flight, then closes the connections. */
  async close(): Promise<void> {
    if (!this.#pool.destroyed) await this.#pool.close()
  }
}

/** Reads at most `maxResponseBytes`. Leaving the loop early destroys the body and with it the connection. */
async function readToEnd(body: AsyncIterable<Buffer>): Promise<void> {
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > maxResponseBytes) return
  }
}
