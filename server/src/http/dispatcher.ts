import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FairQueue } from '../admission/fair-queue.ts'
import { type ApiError, errorKinds, apiError } from '../kernel/errors.ts'
import { secretPattern } from '../kernel/secrets.ts'
import { bearerToken } from './bearer.ts'
import { type Authenticator, type Principal, anonymous } from './principal.ts'
import { clientAddress, isForwarded } from './client-address.ts'
import { isAnonymousAgent } from './user-agent-filter.ts'
import { toApiError, errorBody, internalError } from './error-response.ts'
import {
  type RequestContext,
  onFlushed,
  createRequestContext,
  sendDownload,
  preflightHeaders,
  send,
  sendEventStream,
} from './request-context.ts'
import { checkMediaType } from './media-type.ts'
import { parseParams } from './validation/params.ts'
import { parseQuery } from './validation/query.ts'
import { decodeFor, readBody } from './body.ts'
import { type ConsumeResult, type RateLimiter, fullBucket, rateState, assertAllowed } from './rate-limit.ts'
import { type Reply, type AnyRoute, type Deprecation, variablesOf } from './route.ts'
import { type Match, Router } from './router.ts'

/** What stands outside the contract: descriptions, documentation, health, and the door for readers. */
export interface RawRoute {
  readonly method?: 'GET' | 'POST'
  readonly path: string
  /** Name in logs and metrics, the path when absent. */
  readonly operation?: string
  /** The path carries a secret and must not be written down. */
  readonly isPathSecret?: boolean
  /** Accepts GET requests for paths that no other route serves. Such a route has no path of its own. */
  readonly acceptsUnknownPath?: (message: IncomingMessage) => boolean
  readonly render: (request: RawRequest) => Promise<RawReply> | RawReply
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

/** Rows under one base address. */
export interface Surface {
  readonly base: string
  /** Stands before its operations' names in logs and metrics. */
  readonly label?: string
  /** The web app's own endpoints, which no description publishes. */
  readonly isInternal?: boolean
  readonly routes: readonly AnyRoute[]
}

export interface DispatcherDeps {
  readonly surfaces: readonly Surface[]
  readonly rawRoutes: readonly RawRoute[]
  readonly authenticator: Authenticator
  readonly limiter: RateLimiter
  /** Shares the capacity of the process among organizations. */
  readonly queue: FairQueue
  /** Token exchanges and other anonymous requests, shared by client address: no organization's slow requests delay them. */
  readonly anonymousQueue: FairQueue
  /** Operations that hash passwords, shared by client address, so that they never delay anything else. */
  readonly passwordQueue: FairQueue
  /** Downloads, which last as long as their clients take to read them. */
  readonly downloadQueue: FairQueue
  readonly millis: () => number
  readonly edgeFilter: boolean
  readonly trustProxy: boolean
  /** Called once, at the first request of a proxy while none is trusted. */
  readonly onUntrustedProxy: () => void
  readonly onAnswered: (context: RequestContext, status: number) => void
  readonly onBug: (context: RequestContext, error: unknown) => void
}

interface Mounted {
  readonly route: AnyRoute
  readonly operation: string
  readonly variables: readonly string[]
  /** Parameter names that other routes declare: those of both public surfaces, and of this surface. */
  readonly elsewhere: ReadonlySet<string>
}

type RouteTarget = Mounted | RawRoute

export function createDispatcher(deps: DispatcherDeps): (request: IncomingMessage, response: ServerResponse) => void {
  const router = mount(deps)
  const fallbacks = deps.rawRoutes.filter((page) => page.acceptsUnknownPath !== undefined)
  const secretPaths = deps.rawRoutes
    .filter((page) => page.isPathSecret)
    .map(({ path }) => ({ path, start: path.slice(0, path.indexOf('{')) }))

  /** A secret in the path is written down nowhere, not even when the path is mistyped or the method is wrong. */
  function redactPath(context: RequestContext): void {
    for (const { path, start } of secretPaths) if (context.path.startsWith(start)) context.loggedPath = path
    if (context.loggedPath === context.path) context.loggedPath = context.path.replace(secretPattern, '{secret}')
  }

  /** The life of a request, in the order of decision D6. */
  async function handleRequest(context: RequestContext): Promise<void> {
    const { request } = context
    redactPath(context)
    if (deps.edgeFilter && isAnonymousAgent(request.headers['user-agent']))
      return send(
        context,
        403,
        {},
        { type: 'text/plain', text: 'Forbidden: send a User-Agent that names your client\n' },
      )
    try {
      checkProtocol(request)
    } catch (error) {
      // Client and server may disagree on where this request ends, so no further request is read from the connection.
      context.response.shouldKeepAlive = false
      throw error
    }
    if (context.method === 'OPTIONS') return send(context, 204, preflightHeaders)

    const { target, segments } = matchRoute(context)
    if ('render' in target) return render(context, target, segments)
    const { route } = target
    context.operation = target.operation
    if (route.deprecation !== undefined) {
      const { sunset } = route.deprecation
      announceEnd(context, sunset)
      if (deps.millis() >= sunset.getTime()) throw apiError.gone()
    }

    const principal = route.access === 'public' ? anonymous : await identify(context, route)
    if (principal.kind === 'credential') consumeRateLimit(context, await deps.limiter.consume(principal.subject))
    if (route.body !== undefined) checkMediaType(request, route.body)
    if (route.access === 'session' && principal.kind !== 'session')
      throw apiError.forbidden('A signed-in user is required')
    const missing = route.scopes.find((scope) => !principal.scopes.has(scope))
    if (missing !== undefined) throw apiError.missingScope(missing)
    const query = parseQuery(context.queryText, route.query, target.elsewhere)
    const params = parseParams(route, target.variables, segments)
    const address = clientAddress(request, deps.trustProxy)
    const call = {
      params: params as never,
      query: query as never,
      body: undefined as never,
      principal,
      address,
      isForwarded: () => isForwarded(request),
    }

    // An anonymous body is read before the request takes a slot, so that slow anonymous clients hold none. An authenticated one is
    // read after it, so that requests that wait take no memory for their bodies.
    const isAnonymous = route.access === 'public'
    const early = isAnonymous && route.body !== undefined ? await readBody(context, route.body) : undefined
    const queue = route.hashesPassword ? deps.passwordQueue : isAnonymous ? deps.anonymousQueue : deps.queue
    const tenant = isAnonymous || route.hashesPassword ? address : principal.orgId
    await queue.acquire(tenant, 1, () => context.response.destroyed)
    let result: Reply
    try {
      if (route.body !== undefined) {
        const bytes = early === undefined ? await readBody(context, route.body) : early
        call.body = (await decodeFor(route, call, bytes)) as never
      }
      result = await route.handle(call)
      if (result.stream === undefined && result.download === undefined) sendWhole(context, result)
    } finally {
      // The slot is kept until the client has taken the response: so no tenant fills the memory with unread responses.
      onFlushed(context, () => queue.release(tenant))
    }
    if (result.stream !== undefined) return sendEventStream(context, result.stream)
    const { download } = result
    if (download !== undefined) await deps.downloadQueue.run(tenant, 1, () => sendDownload(context, download))
  }

  function matchRoute(context: RequestContext): { target: RouteTarget; segments: readonly string[] } {
    const method = context.method === 'HEAD' ? 'GET' : context.method
    const found = router.all(context.path)
    const first = found[0]?.methods.get(method)
    if (first !== undefined) return { target: first, segments: found[0]!.segments }
    const matches = found.filter((match, index) => index === 0 || takesAnyText(match))
    for (const { methods, segments } of matches) {
      const target = methods.get(method)
      if (target !== undefined) return { target, segments }
    }
    if (matches.length === 0) {
      const fallback = fallbacks.find((page) => method === 'GET' && page.acceptsUnknownPath?.(context.request))
      if (fallback !== undefined) return { target: fallback, segments: [] }
      throw unknownPath(context.path)
    }
    throw apiError.methodNotAllowed(allowedMethods(matches.flatMap(({ methods }) => [...methods.keys()])))
  }

  /** Whoever is at the wrong base is told the right one. */
  function unknownPath(path: string): ApiError {
    const here = deps.surfaces.find(({ base }) => path.startsWith(`${base}/`))?.base
    const there = deps.surfaces.find(({ base }) => base !== here && isKnown(base + path.slice(here?.length)))?.base
    return here === undefined || there === undefined ? apiError.notFound('Path') : apiError.notFoundHere(there)
  }

  const isKnown = (path: string): boolean => router.find(path) !== null

  async function identify(context: RequestContext, route: AnyRoute): Promise<Principal> {
    const principal = await deps.authenticator.authenticate(bearerToken(context.request))
    if (principal === null || (route.access === 'credential' && principal.kind !== 'credential'))
      throw apiError.unauthorized('Invalid or expired token')
    context.orgId = principal.orgId
    return principal
  }

  function consumeRateLimit(context: RequestContext, drawn: ConsumeResult): void {
    context.rate = rateState(drawn)
    assertAllowed(drawn)
  }

  async function settle(context: RequestContext): Promise<void> {
    try {
      await handleRequest(context)
    } catch (error) {
      const refusal = toApiError(error)
      if (refusal === internalError) deps.onBug(context, error)
      send(context, errorKinds[refusal.kind].status, refusal.headers, {
        type: 'application/json',
        text: errorBody(refusal, context.loggedPath, context.requestId),
      })
    }
    deps.onAnswered(context, context.response.statusCode)
  }

  let hasWarned = deps.trustProxy
  return (request, response) => {
    const millis = deps.millis()
    if (!hasWarned && isForwarded(request)) {
      hasWarned = true
      deps.onUntrustedProxy()
    }
    void settle(createRequestContext(request, response, fullBucket(millis), millis))
  }
}

function mount(deps: DispatcherDeps): Router<RouteTarget> {
  const router = new Router<RouteTarget>()
  const published = deps.surfaces.filter((surface) => !surface.isInternal).flatMap(parameterNames)
  for (const surface of deps.surfaces) {
    const { base, label = '', routes } = surface
    const elsewhere = new Set([...published, ...parameterNames(surface)])
    for (const route of routes) {
      if (route.deprecation !== undefined) assertNotice(route.id, route.deprecation)
      const mounted = { route, elsewhere, operation: label + route.id, variables: variablesOf(route) }
      router.add(route.method, base + route.path, mounted)
    }
  }
  for (const page of deps.rawRoutes)
    if (page.acceptsUnknownPath === undefined) router.add(page.method ?? 'GET', page.path, page)
  return router
}

const parameterNames = ({ routes }: Surface): string[] =>
  routes.flatMap((route) => Object.keys(route.query?.parameters ?? {}))

/** A natural key may read like a fixed part of another path, which then gives way where it has nothing to say. */
const takesAnyText = ({ methods }: Match<RouteTarget>): boolean =>
  [...methods.values()].some((target) => 'route' in target && target.route.keys !== undefined)

async function render(context: RequestContext, page: RawRoute, segments: readonly string[]): Promise<void> {
  context.operation = page.operation ?? page.path
  const answer = await page.render({ message: context.request, segments })
  send(context, answer.status, answer.headers ?? {}, { type: answer.type, text: answer.text })
}

function sendWhole(context: RequestContext, { status, headers = {}, body }: Reply): void {
  const payload = body === undefined ? undefined : { type: 'application/json', text: JSON.stringify(body) }
  send(context, status, headers, payload)
}

const methodOrder = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']

function allowedMethods(methods: readonly string[]): string[] {
  const all = new Set(methods.includes('GET') ? [...methods, 'HEAD'] : methods)
  return methodOrder.filter((method) => all.has(method))
}

/** RFC 3986 section 3.2: an IP literal or a name, and an optional port. */
const hostPattern = /^(?:\[[0-9a-f:.]+\]|(?:[\w.~!$&'()*+,;=-]|%[0-9a-f]{2})+)(?::\d{0,5})?$/i

/** HTTP that parses but asks for something this service does not do. */
function checkProtocol(request: IncomingMessage): void {
  if (request.httpVersionMajor !== 1) throw apiError.badRequest('The service speaks HTTP/1.1')
  // RFC 9112 section 3.2: a request with several Host headers is refused whatever its version.
  if (countHeader(request, 'host') > 1) throw apiError.badRequest('The Host header stands more than once')
  if (request.headers.host === undefined && request.httpVersion === '1.1')
    throw apiError.badRequest('The Host header is missing')
  if (request.headers.host !== undefined && !hostPattern.test(request.headers.host))
    throw apiError.badRequest('The Host header is not a host name with an optional port')
  if (countHeader(request, 'authorization') > 1)
    throw apiError.badRequest('The Authorization header stands more than once')
  const coding = request.headers['transfer-encoding']
  if (coding !== undefined && coding.toLowerCase() !== 'chunked')
    throw apiError.badRequest('The only transfer coding supported is chunked')
}

/** Node keeps only the first of several Host or Authorization headers; the raw list has them all. */
function countHeader({ rawHeaders }: IncomingMessage, name: string): number {
  let count = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const given = rawHeaders[at]!
    if (given.length === name.length && given.toLowerCase() === name) count++
  }
  return count
}

/** The contract promises clients at least six months between deprecation and sunset. */
function assertNotice(id: string, { since, sunset }: Deprecation): void {
  const earliest = new Date(since)
  earliest.setUTCMonth(since.getUTCMonth() + 6)
  if (sunset < earliest) throw new Error(`${id} has a sunset less than six months after its deprecation`)
}

/** RFC 8594, on every answer of the endpoint, refusals included. */
function announceEnd(context: RequestContext, sunset: Date): void {
  context.response.setHeader('Deprecation', 'true')
  context.response.setHeader('Sunset', sunset.toUTCString())
}
