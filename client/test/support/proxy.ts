import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll } from 'vitest'

/** A request that the proxy received, and its response. */
export interface RecordedRequest {
  method: string
  path: string
  headers: Record<string, string | undefined>
  // Tests read members of bodies without type checks.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  body: any
  status: number
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  response: any
}

/** A response that replaces the server's; with `forward` the server executes the request nevertheless. */
export interface Replacement {
  status: number
  headers?: Record<string, string>
  body?: string
  forward?: boolean
}

type Intercept = (request: RecordedRequest) => Replacement | 'disconnect' | undefined

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}

/** An HTTP proxy between the client and the real server. It records all requests and can replace responses. */
export class Proxy {
  readonly requests: RecordedRequest[] = []
  target = ''
  intercept: Intercept = () => undefined
  readonly #server: Server

  constructor() {
    this.#server = createServer((request, response) => void this.#handle(request, response))
  }

  async open(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve))
    this.#server.closeAllConnections()
    await closed
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** The token exchanges. */
  get grants(): RecordedRequest[] {
    return this.requests.filter(({ path }) => path.endsWith('/oauth/token'))
  }

  /** All requests except token exchanges. */
  get calls(): RecordedRequest[] {
    return this.requests.filter(({ path }) => !path.endsWith('/oauth/token'))
  }

  reset(): void {
    this.requests.length = 0
    this.intercept = () => undefined
  }

  /** Replaces the responses with these, one after the other; the last one is repeated. */
  respond(...replacements: (Replacement | number | 'disconnect')[]): void {
    let count = 0
    this.intercept = () => {
      const next = replacements[Math.min(count++, replacements.length - 1)]!
      return typeof next === 'number' ? { status: next } : next
    }
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const raw = Buffer.concat(chunks)
    const [method, path] = [request.method ?? '', request.url ?? '']
    const headers = request.headers as Record<string, string | undefined>
    const recorded: RecordedRequest = {
      ...{ method, path, headers, body: parseJson(raw.toString()) },
      ...{ status: 0, response: null },
    }
    this.requests.push(recorded)
    const replacement = this.intercept(recorded)
    if (replacement === 'disconnect') return void request.socket.destroy()
    if (replacement === undefined || replacement.forward === true)
      await this.#forward(recorded, raw, response, replacement)
    if (replacement === undefined) return
    const { status, headers: replacedHeaders, body = status === 204 ? undefined : '{}' } = replacement
    recorded.status = status
    response.writeHead(status, replacedHeaders).end(body)
  }

  async #forward(
    recorded: RecordedRequest,
    raw: Buffer,
    response: ServerResponse,
    replacement: Replacement | undefined,
  ): Promise<void> {
    const { host: _host, connection: _connection, 'content-length': _length, ...headers } = recorded.headers
    const hasBody = raw.length > 0
    const reply = await fetch(this.target + recorded.path, {
      method: recorded.method,
      headers: headers as Record<string, string>,
      redirect: 'manual',
      ...(hasBody ? { body: new Uint8Array(raw) } : {}),
    })
    const text = await reply.text()
    recorded.status = reply.status
    recorded.response = parseJson(text)
    if (replacement === undefined) response.writeHead(reply.status, Object.fromEntries(reply.headers)).end(text)
  }
}

/** Starts one proxy for the whole test file. */
export function useProxy(): Proxy {
  const proxy = new Proxy()
  beforeAll(() => proxy.open())
  afterAll(() => proxy.close())
  return proxy
}
