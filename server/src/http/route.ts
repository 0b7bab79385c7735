import type { IncomingMessage } from 'node:http'
import type { Principal } from './principal.ts'
import type { QueryOf, QuerySpec } from './validation/parameters.ts'
import type { Infer, JsonSchema, Shape } from './validation/schema.ts'

type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'

export interface Body<S extends Shape> {
  readonly mediaType: 'application/json' | 'application/merge-patch+json'
  /** Component name in the OpenAPI document. */
  readonly name: string
  readonly shape: S
  readonly example: unknown
  /** The largest body that the route accepts; 1 MiB when absent. */
  readonly maxMebibytes?: number
}

/** A body that is too large to be held in memory. The handler reads it as a stream. */
interface Upload {
  readonly maxMebibytes: number
  /** The accepted media types, each with its schema and an example for the OpenAPI document. */
  readonly content: Content
}

/** Media types with the schema and an example of each, for the OpenAPI document. */
export type Content = Readonly<Record<string, { readonly schema: JsonSchema; readonly example: unknown }>>

/** The body of a request to a route with `upload`. */
interface UploadStream {
  /** One of the media types that the route accepts. */
  readonly mediaType: string
  /** Ends with the body; throws when the body is too large or incomplete. */
  readonly chunks: AsyncIterable<Buffer>
}

/** A request header that the handler reads, for the OpenAPI document. */
interface HeaderParameter {
  readonly name: string
  readonly description: string
  readonly schema: JsonSchema
}

export interface Reply {
  readonly status: number
  /** A value, or the Buffer of its JSON. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Server-sent events instead of a body. An error thrown before the first write becomes an ordinary error response. */
  readonly stream?: (stream: EventStream) => void
  /** A file that is generated while it is sent. */
  readonly download?: Download
}

/** A response that stays open for server-sent events. */
export interface EventStream {
  /** Returns false when the client reads too slowly and too much is buffered; the caller must then end the stream. */
  write(text: string): boolean
  /** Resolves when everything that was written is sent, or when the stream is closed. */
  drained(): Promise<void>
  end(): void
  /** Aborted when the client disconnects or the stream ends. */
  readonly closed: AbortSignal
}

export interface Download {
  readonly type: string
  readonly fileName?: string
  readonly chunks: AsyncIterable<string>
  /** How long it may take; an hour when absent. */
  readonly maxMs?: number
}

export const ok = (body: unknown): Reply => ({ status: 200, body })
export const created = (location: string, body: unknown): Reply => ({
  status: 201,
  body,
  headers: { Location: location },
})
export const noContent: Reply = { status: 204 }

export interface HandlerContext<P, Q, B> {
  readonly params: P
  readonly query: Q
  readonly body: B
  /** The body of a route with `upload`, otherwise undefined. */
  readonly upload: UploadStream | undefined
  /** The value of a request header; undefined when it is absent. */
  readonly header: (name: string) => string | undefined
  readonly principal: Principal
  /** The client's key in per-address limits: an IPv4 address, or the /64 prefix of an IPv6 address. */
  readonly address: string
  /** True when the request has a header that proxies add. */
  readonly isForwarded: () => boolean
}

/** The successful response, for the OpenAPI document. */
interface Success {
  readonly status: 200 | 201 | 202 | 204
  readonly description: string
  /** `application/json` when absent. */
  readonly mediaType?: string
  readonly schema?: JsonSchema
  readonly example?: unknown
  /** Several media types, instead of `mediaType`, `schema` and `example`. */
  readonly content?: Content
  /** Describes the Location header of the response, if there is one. */
  readonly location?: string
}

/**
 * One endpoint. Authentication, scope, media type, validation, 405 and the OpenAPI description all come from its route.
 * `access` and `scopes` are required, so that nothing is public by omission.
 */
export interface Route<
  P extends string = never,
  Q extends object = object,
  S extends Shape = Shape,
  K extends string = never,
> {
  readonly id: string
  readonly method: Method
  readonly path: string
  readonly group: string
  readonly summary: string
  readonly description?: string
  readonly access: 'public' | 'credential' | 'session' | 'any'
  readonly scopes: readonly string[]
  /** One of the scopes suffices; the handler checks which one its record requires. */
  readonly needsAnyScope?: boolean
  /** The path's variables that are ids, and those that are natural keys. */
  readonly ids?: readonly P[]
  readonly keys?: readonly K[]
  readonly query?: QuerySpec<Q>
  readonly body?: Body<S>
  readonly upload?: Upload
  readonly headers?: readonly HeaderParameter[]
  readonly success: Success
  /** The operation hashes a password: it takes its slot from the password queue and from no other. */
  readonly hashesPassword?: boolean
  /** Error statuses that do not follow from the other properties, such as 409. */
  readonly errorStatuses?: readonly number[]
  /**
   * Throws 404 or 403 when the record that the path names does not exist. Called before an invalid body is reported. `body`
   * is the unvalidated JSON object, or undefined when the body is not one.
   */
  readonly ensureExists?: (context: HandlerContext<Params<P, K>, unknown, unknown>) => Promise<void>
  /** Set for a deprecated endpoint: responses have `Deprecation` and `Sunset` headers; from `sunset` on they are 410. */
  readonly deprecation?: Deprecation
  readonly handle: (context: HandlerContext<Params<P, K>, QueryOf<Q>, Infer<S>>) => Promise<Reply>
}

type Params<P extends string, K extends string> = Record<P, number> & Record<K, string>

export interface Deprecation {
  readonly since: Date
  /** At least six months after `since`. */
  readonly sunset: Date
}

/** A route with its type parameters erased. The dispatcher passes only values that it validated by the same route. */
export interface AnyRoute extends Omit<Route<string, object, Shape, string>, 'ensureExists' | 'handle'> {
  readonly ensureExists?: (context: HandlerContext<never, unknown, unknown>) => Promise<void>
  readonly handle: (context: HandlerContext<never, never, never>) => Promise<Reply>
}

/** The names of the path's variables, in order. */
export const variablesOf = (route: Pick<AnyRoute, 'path'>): string[] =>
  [...route.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!)

/** Checks a route's types and erases them, so that all routes fit in one list. */
export function route<
  P extends string = never,
  Q extends object = object,
  S extends Shape = Shape,
  K extends string = never,
>(definition: Route<P, Q, S, K>): AnyRoute {
  return definition as unknown as AnyRoute
}

/** The contract promises clients at least six months between deprecation and sunset. */
export function assertSunsetNotice(id: string, { since, sunset }: Deprecation): void {
  const earliest = new Date(since)
  earliest.setUTCMonth(since.getUTCMonth() + 6)
  if (sunset < earliest) throw new Error(`${id} has a sunset less than six months after its deprecation`)
}

/** A route outside the API contract: OpenAPI documents, documentation, health checks and reader ingest. */
export interface RawRoute {
  readonly method?: 'GET' | 'POST'
  readonly path: string
  /** Name in logs and metrics, the path when absent. */
  readonly operation?: string
  /** The path contains a secret and must not be logged. */
  readonly isPathSecret?: boolean
  /** Accepts GET requests for paths that no other route serves. Such a route has no path of its own. */
  readonly acceptsUnknownPath?: (message: IncomingMessage) => boolean
  /** Web pages of other origins may not read the response. */
  readonly isSameOrigin?: boolean
  readonly render: (request: RawRequest) => Promise<RawReply>
}

export interface RawRequest {
  readonly message: IncomingMessage
  /** The path's variable segments. */
  readonly segments: readonly string[]
}

export interface RawReply {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly type: string
  readonly text: string | Buffer
}
