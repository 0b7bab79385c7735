import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll } from 'vitest'

export interface Passed {
  method: string
  path: string
  headers: Record<string, string | undefined>
  // Tests reach into bodies freely.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  body: any
  status: number
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  answer: any
}

/** What is answered instead of the server's own answer; `forward` lets the server do its work all the same. */
export interface Instead {
  status: number
  headers?: Record<string, string>
  body?: string
  forward?: boolean
}

type Intervene = (request: Passed) => Instead | 'hang up' | undefined

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}

/** A real server between the client and the real one: it remembers what passes, and answers itself where it is told to. */
export class Proxy {
  readonly passed: Passed[] = []
  target = ''
  intervene: Intervene = () => undefined
  readonly #server: Server

  constructor() {
    this.#server = createServer((request, response) => void this.#pass(request, response))
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

  /** The exchanges of tokens that passed. */
  get grants(): Passed[] {
    return this.passed.filter(({ path }) => path.endsWith('/oauth/token'))
  }

  /** All the other requests. */
  get calls(): Passed[] {
    return this.passed.filter(({ path }) => !path.endsWith('/oauth/token'))
  }

  reset(): void {
    this.passed.length = 0
    this.intervene = () => undefined
  }

  /** Answers with these statuses, one after the other, then with the last one for ever. */
  answer(...all: (Instead | number | 'hang up')[]): void {
    let count = 0
    this.intervene = () => {
      const next = all[Math.min(count++, all.length - 1)]!
      return typeof next === 'number' ? { status: next } : next
    }
  }

  async #pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const raw = Buffer.concat(chunks)
    const [method, path] = [request.method ?? '', request.url ?? '']
    const headers = request.headers as Record<string, string | undefined>
    const passed: Passed = { method, path, headers, body: parsed(raw.toString()), status: 0, answer: null }
    this.passed.push(passed)
    const instead = this.intervene(passed)
    if (instead === 'hang up') return void request.socket.destroy()
    if (instead === undefined || instead.forward === true) await this.#forward(passed, raw, response, instead)
    if (instead === undefined) return
    passed.status = instead.status
    response.writeHead(instead.status, instead.headers).end(instead.body ?? (instead.status === 204 ? undefined : '{}'))
  }

  async #forward(passed: Passed, raw: Buffer, response: ServerResponse, instead: Instead | undefined): Promise<void> {
    const { host: _host, connection: _connection, 'content-length': _length, ...headers } = passed.headers
    const hasBody = raw.length > 0
    const reply = await fetch(this.target + passed.path, {
      method: passed.method,
      headers: headers as Record<string, string>,
      redirect: 'manual',
      ...(hasBody ? { body: new Uint8Array(raw) } : {}),
    })
    const text = await reply.text()
    passed.status = reply.status
    passed.answer = parsed(text)
    if (instead === undefined) response.writeHead(reply.status, Object.fromEntries(reply.headers)).end(text)
  }
}

/** One for the whole file. */
export function useProxy(): Proxy {
  const proxy = new Proxy()
  beforeAll(() => proxy.open())
  afterAll(() => proxy.close())
  return proxy
}
