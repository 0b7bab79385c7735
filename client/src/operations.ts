import { buildQuery, type Query } from './query.ts'
import { type TokenSource, withToken } from './tokens.ts'
import type { Transport, TransportRequest } from './transport.ts'

type JsonBody<Response> = Response extends { content: { 'application/json': infer Body } } ? Body : undefined

/** The body of an operation's successful response; undefined when it has none. */
export type ResponseBody<Operation> = Operation extends { responses: infer Responses }
  ? { [Status in keyof Responses & (200 | 201 | 202 | 204)]: JsonBody<Responses[Status]> }[keyof Responses &
      (200 | 201 | 202 | 204)]
  : never

type PathOf<Operation> = Operation extends { parameters: { path: infer Path } } ? { path: Path } : object
type QueryOf<Operation> = Operation extends { parameters: { query?: infer Query } }
  ? [Query] extends [never]
    ? object
    : { query?: NonNullable<Query> }
  : object
type BodyOf<Operation> = Operation extends { requestBody: { content: infer Content } }
  ? { body: Content[keyof Content] }
  : object

/** Options of every method. */
export interface CallOptions {
  /** Aborts the call, also while it waits for a retry. */
  signal?: AbortSignal | undefined
}

/** The path parameters, query and body of an operation. */
type Input<Operation> = PathOf<Operation> & QueryOf<Operation> & BodyOf<Operation> & CallOptions

type Arguments<Operation> = object extends Input<Operation> ? [input?: Input<Operation>] : [input: Input<Operation>]

/** Operations whose bodies or responses are files or streams; `bulk` and `live` call them. */
type StreamOperation = 'live' | `bulk.${string}.${'import' | 'export'}`

type Routes<Operations> = Record<keyof Operations, readonly [method: string, path: string]>

interface AnyInput extends CallOptions {
  path?: Record<string, string | number>
  query?: Query
  body?: unknown
}

/** URLs resolve these as relative path segments, even percent-encoded. */
const invalidSegments = new Set(['', '.', '..'])

/** Whether a key can be a segment of a URL path. */
export const isValidPathSegment = (segment: string): boolean => !invalidSegments.has(segment)

function buildPath(template: string, parameters: Record<string, string | number>): string {
  return template.replace(/\{(\w+)\}/g, (_match, name: string) => {
    const segment = String(parameters[name] ?? '')
    if (!isValidPathSegment(segment))
      throw new RangeError(`${name} cannot be '${segment}', which is not a valid segment of a URL path`)
    return encodeURIComponent(segment)
  })
}

/** After a 500 a create without a key must not be retried: the server may have created the record already. */
function retryMode(operation: string, body: unknown): TransportRequest['retry'] {
  if (!/^(assets|locations)\.create$/.test(operation)) return 'default'
  const { external_key: key, identifier } = body as { external_key?: string; identifier?: string }
  return key === undefined && identifier === undefined ? 'rate limit only' : 'default'
}

/** One API surface: its operations by name, typed by its OpenAPI document. */
export class Surface<Operations> {
  readonly #baseUrl: string
  readonly #routes: Routes<Operations>
  readonly #tokens: TokenSource
  readonly #transport: Transport

  constructor(baseUrl: string, routes: Routes<Operations>, tokens: TokenSource, transport: Transport) {
    this.#baseUrl = baseUrl
    this.#routes = routes
    this.#tokens = tokens
    this.#transport = transport
  }

  /** Calls an operation by its `operationId`, such as `assets.list`, with its path parameters, query and body. */
  async request<Name extends Exclude<keyof Operations & string, StreamOperation>>(
    operation: Name,
    ...[input]: Arguments<Operations[Name]>
  ): Promise<ResponseBody<Operations[Name]>> {
    return (await this.#call(operation, (input ?? {}) as AnyInput, {}, (request) =>
      this.#transport.send(request),
    )) as ResponseBody<Operations[Name]>
  }

  /** @internal Sends a body that is not JSON. */
  async upload(
    operation: keyof Operations & string,
    input: AnyInput,
    extra: Partial<TransportRequest>,
  ): Promise<unknown> {
    return this.#call(operation, input, extra, (request) => this.#transport.send(request))
  }

  /** @internal Returns the response of an operation whose body is a stream. */
  async open(
    operation: keyof Operations & string,
    input: AnyInput,
    extra: Partial<TransportRequest>,
  ): Promise<Response> {
    return this.#call(operation, input, extra, (request) => this.#transport.open(request))
  }

  /** Sends the request with a token, and again with a new token when that one is rejected. */
  async #call<Result>(
    operation: keyof Operations & string,
    { path = {}, query = {}, body, signal }: AnyInput,
    extra: Partial<TransportRequest>,
    send: (request: TransportRequest) => Promise<Result>,
  ): Promise<Result> {
    const [method, template] = this.#routes[operation]
    const url = `${this.#baseUrl}${buildPath(template, path)}${buildQuery(query)}`
    const request = { method, url, body, signal, retry: retryMode(operation, body), ...extra }
    return withToken(this.#tokens, signal, (token) => send({ ...request, token }))
  }
}
