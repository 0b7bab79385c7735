import type { IncomingMessage, ServerResponse } from 'node:http'
import { SpanKind, inRootSpan, setFailed } from '../kernel/tracing.ts'
import { ulid } from '../kernel/ulid.ts'
import type { RateState } from './rate-limit.ts'

/** A request, its response and what is known about them so far. */
export interface RequestContext {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly requestId: string
  readonly method: string
  readonly path: string
  /** The path with secrets removed, for logs and error bodies. */
  loggedPath: string
  readonly queryText: string
  readonly startedAt: number
  rate: RateState
  /** The id of the matched route, for logs and metrics. */
  operation: string
  /** The path of the matched route, with the names of its parameters. */
  route: string | null
  orgId: number | null
  /** Sent unless the route sets its own Cache-Control; null when the response may be cached. */
  cacheControl: string | null
  /** Whether web pages of any origin may read the response (CORS). */
  allowsAnyOrigin: boolean
}

export function createRequestContext(
  request: IncomingMessage,
  response: ServerResponse,
  rate: RateState,
  millis: number,
): RequestContext {
  const url = originForm(request.url ?? '/')
  const mark = url.indexOf('?')
  const path = mark === -1 ? url : url.slice(0, mark)
  const clientRequestId = request.headers['x-request-id']
  return {
    request,
    response,
    requestId: typeof clientRequestId === 'string' && clientRequestId !== '' ? clientRequestId : ulid(millis),
    method: request.method ?? 'GET',
    path,
    loggedPath: path,
    queryText: mark === -1 ? '' : url.slice(mark + 1),
    startedAt: performance.now(),
    rate,
    operation: 'none',
    route: null,
    orgId: null,
    cacheControl: null,
    allowsAnyOrigin: true,
  }
}

const maxTracedPathLength = 1024

/** Runs `respond` in a server span, if tracing is on. `url.path` has neither the query nor secrets. */
export function traceRequest(context: RequestContext, respond: () => Promise<void>): Promise<void> {
  const { request, method } = context
  return inRootSpan(
    () => ({ name: method, kind: SpanKind.SERVER, attributes: { 'http.request.method': method } }),
    async (span) => {
      await respond()
      if (span === null) return
      const { route, operation, orgId, loggedPath, response } = context
      span.updateName(operation)
      span.setAttribute('url.path', loggedPath.slice(0, maxTracedPathLength))
      span.setAttribute('http.response.status_code', response.statusCode)
      if (route !== null) span.setAttribute('http.route', route)
      if (orgId !== null) span.setAttribute('lastseen.org_id', orgId)
      if (response.statusCode >= 500) setFailed(span, response.statusCode)
    },
    request.headers,
  )
}

/**
 * Returns the path and query of a request target. RFC 9112 section 3.2.2: a server must accept the absolute form, too, and
 * its authority takes precedence over the Host header.
 */
function originForm(target: string): string {
  if (target.startsWith('/')) return target
  const authority = /^https?:\/\/[^/?#]+/i.exec(target)?.[0]
  if (authority === undefined) return target
  const pathAndQuery = target.slice(authority.length)
  return pathAndQuery.startsWith('/') ? pathAndQuery : `/${pathAndQuery}`
}
