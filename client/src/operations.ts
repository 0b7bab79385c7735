import { UnauthorizedError } from './errors.ts'
import type { TokenSource } from './tokens.ts'
import type { Outgoing, Transport } from './transport.ts'

type Json<Response> = Response extends { content: { 'application/json': infer Body } } ? Body : undefined

/** What an operation answers with when it succeeds; nothing where the answer has no body. */
export type Answer<Operation> = Operation extends { responses: infer Responses }
  ? { [Status in keyof Responses & (200 | 201 | 204)]: Json<Responses[Status]> }[keyof Responses & (200 | 201 | 204)]
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

export interface CallOptions {
  /** Stops the call, waiting for a retry included. */
  signal?: AbortSignal | undefined
}

/** What an operation takes. */
type Input<Operation> = PathOf<Operation> & QueryOf<Operation> & BodyOf<Operation> & CallOptions

type Arguments<Operation> = object extends Input<Operation> ? [input?: Input<Operation>] : [input: Input<Operation>]

type Routes<Operations> = Record<keyof Operations, readonly [method: string, path: string]>

type Value = string | number | boolean | null | undefined
type Query = Record<string, Value | readonly Value[]>

interface AnyInput extends CallOptions {
  path?: Record<string, string | number>
  query?: Query
  body?: unknown
}

/** A URL takes these for steps in the tree of folders, also when they are percent-encoded. */
const unspeakable = new Set(['', '.', '..'])

/** Whether a key can stand in a path. */
export const isSpeakable = (part: string): boolean => !unspeakable.has(part)

function pathText(template: string, values: Record<string, string | number>): string {
  return template.replace(/\{(\w+)\}/g, (_whole, name: string) => {
    const part = String(values[name] ?? '')
    if (!isSpeakable(part)) throw new RangeError(`${name} cannot be '${part}': it would not stand in a path`)
    return encodeURIComponent(part)
  })
}

function queryText(query: Query): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    for (const one of [value].flat()) if (one !== undefined && one !== null) search.append(name, String(one))
  const text = search.toString()
  return text === '' ? '' : `?${text}`
}

/** A create without a key of its own, sent twice, may make two records. */
function whenAgain(operation: string, body: unknown): Outgoing['again'] {
  if (!/^(assets|locations)\.create$/.test(operation)) return 'by the rules'
  const { external_key: key, identifier } = body as { external_key?: string; identifier?: string }
  return key === undefined && identifier === undefined ? 'after 429' : 'by the rules'
}

/** One surface of the API: its operations by name, with the types of its description. */
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

  /** Calls an operation by its name. */
  async request<Name extends keyof Operations & string>(
    operation: Name,
    ...[input]: Arguments<Operations[Name]>
  ): Promise<Answer<Operations[Name]>> {
    const { path = {}, query = {}, body, signal } = (input ?? {}) as AnyInput
    const [method, template] = this.#routes[operation]
    const url = `${this.#baseUrl}${pathText(template, path)}${queryText(query)}`
    const outgoing = { method, url, body, signal, again: whenAgain(operation, body) }
    const token = await this.#tokens.token(signal)
    const answer = await this.#transport.send({ ...outgoing, token }).catch(async (error: unknown) => {
      if (!(error instanceof UnauthorizedError)) throw error
      const renewed = await this.#tokens.renewed(token, signal)
      if (renewed === null) throw error
      return this.#transport.send({ ...outgoing, token: renewed })
    })
    return answer as Answer<Operations[Name]>
  }
}
