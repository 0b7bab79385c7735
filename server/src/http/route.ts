import type { Principal } from './principal.ts'
import type { QueryOf, QuerySpec } from './validation/query.ts'
import type { Infer, JsonSchema, Shape } from './validation/schema.ts'

type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'

export interface Body<S extends Shape> {
  readonly mediaType: 'application/json' | 'application/merge-patch+json'
  /** Component name in the description. */
  readonly name: string
  readonly shape: S
  readonly example: unknown
  /** The largest body the route takes, where that is more than the usual 1 MiB. */
  readonly maxMebibytes?: number
}

export interface Reply {
  readonly status: number
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Server-sent events instead of a body. An error that is thrown before the first write is answered as usual. */
  readonly stream?: (stream: EventStream) => void
  /** A file that is made while it is sent. */
  readonly download?: Download
}

/** An answer that stays open. */
export interface EventStream {
  /** False when too much is buffered for a client that does not read fast enough: the stream must then be ended. */
  write(text: string): boolean
  end(): void
  /** Aborted when the client has left or the stream was ended. */
  readonly closed: AbortSignal
}

export interface Download {
  readonly type: string
  readonly fileName: string
  readonly chunks: AsyncIterable<string>
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
  readonly principal: Principal
  /** The client's address as limits count it: an IPv6 address is cut to its /64. */
  readonly address: string
  /** A proxy says that it forwards the request for another client. */
  readonly isForwarded: () => boolean
}

/** What an operation answers when all is well, for the description. */
interface Success {
  readonly status: 200 | 201 | 202 | 204
  readonly description: string
  /** `application/json` when absent. */
  readonly mediaType?: string
  readonly schema?: JsonSchema
  readonly example?: unknown
}

/**
 * One endpoint. Authentication, scope, media type, validation, 405 and the OpenAPI description all come from this row.
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
  /** The path's variables that are ids, and those that are natural keys. */
  readonly ids?: readonly P[]
  readonly keys?: readonly K[]
  readonly query?: QuerySpec<Q>
  readonly body?: Body<S>
  readonly success: Success
  /** The operation hashes a password: it takes a slot of the queue for those, and none of the others. */
  readonly hashesPassword?: boolean
  /** Statuses beyond those that follow from the other columns, such as 409. */
  readonly errorStatuses?: readonly number[]
  /**
   * Throws 404 or 403 when what the path names is not there: called before a bad body is complained about. `body` is the
   * unchecked JSON object, or undefined when the body is none.
   */
  readonly ensureExists?: (call: HandlerContext<Params<P, K>, unknown, unknown>) => Promise<void>
  /** Set once an endpoint is deprecated: its responses carry `Deprecation` and `Sunset`, and from `sunset` on they are 410. */
  readonly deprecation?: Deprecation
  readonly handle: (call: HandlerContext<Params<P, K>, QueryOf<Q>, Infer<S>>) => Promise<Reply>
}

type Params<P extends string, K extends string> = Record<P, number> & Record<K, string>

export interface Deprecation {
  readonly since: Date
  /** At least six months after `since`. */
  readonly sunset: Date
}

/** A row whose types are forgotten; what it was made with is what it is called with. */
export interface AnyRoute extends Omit<Route<string, object, Shape, string>, 'ensureExists' | 'handle'> {
  readonly ensureExists?: (call: HandlerContext<never, unknown, unknown>) => Promise<void>
  readonly handle: (call: HandlerContext<never, never, never>) => Promise<Reply>
}

/** The path's variables in the order they stand in it. */
export const variablesOf = (route: Pick<AnyRoute, 'path'>): string[] =>
  [...route.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!)

/** Ties a row's types together and forgets them, so that rows of all kinds stand in one list. */
export function route<
  P extends string = never,
  Q extends object = object,
  S extends Shape = Shape,
  K extends string = never,
>(row: Route<P, Q, S, K>): AnyRoute {
  return row as unknown as AnyRoute
}
