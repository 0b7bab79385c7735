import type { CallOptions } from './operations.ts'
import { type Query, buildQuery } from './query.ts'
import { type TokenSource, withToken } from './tokens.ts'
import type { Transport, TransportRequest } from './transport.ts'

/** A request to any path of the server. */
export interface RequestOptions extends CallOptions {
  /** Default: GET. */
  method?: string | undefined
  query?: Query | undefined
  /** Sent as JSON; that of a PATCH as a JSON merge patch. */
  body?: unknown
  headers?: Record<string, string> | undefined
}

/** Sends requests to paths of the server that no typed operation covers. */
export class Requests {
  readonly #baseUrl: string
  readonly #tokens: TokenSource
  readonly #transport: Transport

  constructor(baseUrl: string, tokens: TokenSource, transport: Transport) {
    this.#baseUrl = baseUrl
    this.#tokens = tokens
    this.#transport = transport
  }

  /** Returns the parsed body of the response, undefined when it has none. */
  send(path: string, options: RequestOptions): Promise<unknown> {
    return this.#withToken(path, options, (request) => this.#transport.send({ ...request, mayBeEmpty: true }))
  }

  /** Returns the response once its headers are received. */
  open(path: string, options: RequestOptions): Promise<Response> {
    return this.#withToken(path, options, (request) => this.#transport.open(request))
  }

  async #withToken<Result>(
    path: string,
    { method = 'GET', query = {}, body, headers, signal }: RequestOptions,
    send: (request: TransportRequest) => Promise<Result>,
  ): Promise<Result> {
    // Without the slash, the path could continue the host name, and another host would receive the token.
    if (!path.startsWith('/')) throw new TypeError(`Lastseen: the path must begin with a slash: ${path}`)
    const url = `${this.#baseUrl}${path}${buildQuery(query)}`
    // After a 500 a POST must not be repeated: the server may have executed it.
    const retry = method === 'POST' ? 'rate limit only' : 'default'
    const request: TransportRequest = { method, url, body, headers, signal, retry }
    return withToken(this.#tokens, signal, (token) => send({ ...request, token }))
  }
}
