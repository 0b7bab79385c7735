import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FairQueue, TenantKey } from '../admission/fair-queue.ts'
import { type ApiError, errorKinds, apiError } from '../kernel/errors.ts'
import { secretPattern } from '../kernel/secrets.ts'
import { type Principal, anonymous, maxAuthenticationAgeMs } from './principal.ts'
import { type RequestContext, createRequestContext, traceRequest } from './request-context.ts'
import {
  bearerToken,
  checkMediaType,
  checkProtocol,
  clientAddress,
  isAnonymousAgent,
  isForwarded,
} from './request-headers.ts'
import { parseParams, parseQuery } from './validation/parameters.ts'
import { allowUpload, decodeFor, discardBody, readBody, readChunks } from './body.ts'
import { assertAllowed, fullBucket, rateState } from './rate-limit.ts'
import { errorBody, privateNoStore, internalError, onFlushed, preflightHeaders, send, toApiError } from './response.ts'
import {
  type AnyRoute,
  type HandlerContext,
  type RawRoute,
  type Reply,
  assertSunsetNotice,
  variablesOf,
} from './route.ts'
import { PageSerializer } from './page-serializer.ts'
import { sendDownload, sendEventStream } from './streamed-response.ts'
import type { DispatcherDeps, Surface } from './dispatcher-deps.ts'
import { Router, allowedMethods } from './router.ts'

interface Mounted {
  readonly route: AnyRoute
  /** The path of the route, including the base path of its surface. */
  readonly path: string
  readonly operation: string
  readonly variables: readonly string[]
  /** All query parameter names of the public surfaces and of this surface. */
  readonly knownParameters: ReadonlySet<string>
}

type RouteTarget = Mounted | RawRoute

export function createDispatcher(deps: DispatcherDeps): (request: IncomingMessage, response: ServerResponse) => void {
  const router = mount(deps)
  const fallbacks = deps.rawRoutes.filter((route) => route.acceptsUnknownPath !== undefined)
  const secretPaths = deps.rawRoutes
    .filter((route) => route.isPathSecret)
    .map(({ path }) => ({ path, start: path.slice(0, path.indexOf('{')) }))
  const pages = new PageSerializer()

  /** Keeps secrets in the path out of logs and responses, even when the path is mistyped or the method is wrong. */
  function redactPath(context: RequestContext): void {
    for (const { path, start } of secretPaths) if (context.path.startsWith(start)) context.loggedPath = path
    if (context.loggedPath === context.path) context.loggedPath = context.path.replace(secretPattern, '{secret}')
  }

  /** Handles a request. Decision D6 fixes the order of the checks. */
  async function handleRequest(context: RequestContext): Promise<void> {
    const { request } = context
    redactPath(context)
    try {
      checkProtocol(request)
    } catch (error) {
      // Client and server may disagree on where this request ends, so no further request is read from the connection.
      context.response.shouldKeepAlive = false
      throw error
    }
    if (deps.edgeFilter && isAnonymousAgent(request.headers['user-agent']))
      return send(
        context,
        403,
        {},
        { type: 'text/plain', text: 'Forbidden: send a User-Agent that names your client\n' },
      )
    if (context.method === 'OPTIONS') return send(context, 204, preflightHeaders)

    const { target, segments } = matchRoute(context)
    context.route = target.path
    // A body that the route does not read is discarded, because the response may be an event stream.
    if (!acceptsBody(target)) request.resume()
    if ('render' in target) return render(context, target, segments)
    const { route } = target
    context.operation = target.operation
    if (route.deprecation !== undefined) {
      const { sunset } = route.deprecation
      // RFC 8594: on every response of the endpoint, errors included.
      context.response.setHeader('Deprecation', 'true')
      context.response.setHeader('Sunset', sunset.toUTCString())
      if (deps.clock.millis() >= sunset.getTime()) throw apiError.gone()
    }

    // Public routes issue tokens or take secrets (D41).
    if (route.access === 'public') context.cacheControl = 'no-store'
    const principal = route.access === 'public' ? anonymous : await identify(context, route)
    const authenticatedAtMs = performance.now()
    if (principal.kind === 'credential') {
      const result = await deps.limiter.consume(principal.subject)
      context.rate = rateState(result)
      assertAllowed(result)
    }
    if (route.body !== undefined) checkMediaType(request, route.body.mediaType)
    const mediaType = route.upload === undefined ? '' : checkMediaType(request, ...Object.keys(route.upload.content))
    if (route.upload !== undefined) allowUpload(request)
    const missing = missingScope(route, principal)
    if (missing !== undefined) throw apiError.missingScope(missing)
    if (route.access === 'session' && principal.kind !== 'session')
      throw apiError.forbidden('A signed-in user is required')
    const query = parseQuery(context.queryText, route.query, target.knownParameters)
    const params = parseParams(target.variables, segments, route.keys)
    const address = clientAddress(request, deps.trustProxy)
    const handlerContext: HandlerContext<never, never, never> & { body: never } = {
      params: params as never,
      query: query as never,
      body: undefined as never,
      upload: route.upload && { mediaType, chunks: readChunks(context, route.upload.maxMebibytes) },
      header: (name: string) => request.headers[name.toLowerCase()]?.toString(),
      principal,
      address,
      isForwarded: () => isForwarded(request),
    }

    // The body is read before the request takes a slot, so that a client that sends slowly holds none.
    const memory =
      route.access === 'public'
        ? { budget: deps.anonymousBodyBudget, tenant: address }
        : { budget: deps.bodyBudget, tenant: principal.orgId }
    const bytes = route.body === undefined ? null : await readBody(context, route.body, memory)
    const queue = queueFor(route)
    const tenant = route.hashesPassword ? address : memory.tenant
    await queue.acquire(tenant, costOf(query), () => context.response.destroyed)
    const execute = async (): Promise<Reply> => {
      try {
        const hasWaited = performance.now() - authenticatedAtMs > maxAuthenticationAgeMs
        if (hasWaited && principal !== anonymous) await identify(context, route, principal)
        if (route.body !== undefined) handlerContext.body = (await decodeFor(route, handlerContext, bytes)) as never
        const result = await route.handle(handlerContext)
        if (result.stream === undefined && result.download === undefined) await sendJson(context, result, tenant)
        return result
      } finally {
        // The slot is held until the client has received the response, so that no tenant fills the memory with responses.
        onFlushed(context, () => {
          pages.release(context)
          queue.release(tenant)
        })
      }
    }
    if (route.upload !== undefined) {
      await whileAuthenticated(context, principal, execute).catch(async (error: unknown) => {
        await discardBody(context)
        throw error
      })
      return
    }
    const { stream, download } = await execute()
    if (stream !== undefined) return sendEventStream(context, stream)
    if (download === undefined) return
    const transmit = (): Promise<void> => sendDownload(context, download)
    await whileAuthenticated(context, principal, () => deps.downloadQueue.run(tenant, 1, transmit))
  }

  async function sendJson(
    context: RequestContext,
    { status, headers = {}, body }: Reply,
    tenant: TenantKey,
  ): Promise<void> {
    if (body === undefined) return send(context, status, headers)
    const text = await pages.serialize(body as object, tenant, context)
    send(context, status, headers, { type: 'application/json', text })
  }

  /** Closes the connection as soon as the principal is revoked. */
  async function whileAuthenticated<Result>(
    { response }: RequestContext,
    principal: Principal,
    work: () => Promise<Result>,
  ): Promise<Result> {
    const over = new AbortController()
    deps.addTransfer({ principal, end: () => response.destroy(), closed: over.signal })
    return work().finally(() => over.abort())
  }

  function queueFor(route: AnyRoute): FairQueue {
    if (route.hashesPassword) return deps.passwordQueue
    if (route.access === 'public') return deps.anonymousQueue
    if (route.upload !== undefined) return deps.downloadQueue
    return isRecordRead(route) ? deps.recordQueue : deps.queue
  }

  function matchRoute(context: RequestContext): { target: RouteTarget; segments: readonly string[] } {
    const method = context.method === 'HEAD' ? 'GET' : context.method
    const match = router.find(context.path)
    if (match === null) {
      const fallback = fallbacks.find((route) => method === 'GET' && route.acceptsUnknownPath?.(context.request))
      if (fallback !== undefined) return { target: fallback, segments: [] }
      throw unknownPath(context.path)
    }
    const target = match.methods.get(method)
    if (target === undefined) throw apiError.methodNotAllowed(allowedMethods([...match.methods.keys()]))
    return { target, segments: match.segments }
  }

  /** Returns a 404, which names the right base path if the path exists on another surface. */
  function unknownPath(path: string): ApiError {
    const requestedBase = deps.surfaces.find(({ base }) => path.startsWith(`${base}/`))?.base
    const rightBase = deps.surfaces.find(
      ({ base }) => base !== requestedBase && router.find(base + path.slice(requestedBase?.length)) !== null,
    )?.base
    return requestedBase === undefined || rightBase === undefined
      ? apiError.notFound('Path')
      : apiError.notFoundHere(rightBase)
  }

  /** `earlier` is the principal of a request that has waited: it must not have been revoked or given other scopes. */
  async function identify(context: RequestContext, route: AnyRoute, earlier?: Principal): Promise<Principal> {
    const principal = await deps.authenticator.authenticate(bearerToken(context.request))
    const isSame = earlier === undefined || earlier.namedScopes.join() === principal?.namedScopes.join()
    if (principal === null || !isSame || (route.access === 'credential' && principal.kind !== 'credential'))
      throw apiError.unauthorized('Invalid or expired token')
    context.orgId = principal.orgId
    context.cacheControl = privateNoStore
    return principal
  }

  async function respond(context: RequestContext): Promise<void> {
    try {
      await handleRequest(context)
    } catch (error) {
      const clientError = toApiError(error)
      if (clientError === internalError) deps.onBug(context, error)
      if (clientError.kind === 'unauthorized') context.rate = fullBucket(deps.clock.millis())
      send(context, errorKinds[clientError.kind].status, clientError.headers, {
        type: 'application/json',
        text: errorBody(clientError, context.loggedPath, context.requestId),
      })
    } finally {
      deps.bodyBudget.release(context.request)
      deps.anonymousBodyBudget.release(context.request)
    }
    deps.onResponse(context, context.response.statusCode)
  }

  let hasReportedProxy = deps.trustProxy
  return (request, response) => {
    const millis = deps.clock.millis()
    if (!hasReportedProxy && isForwarded(request)) {
      hasReportedProxy = true
      deps.onUntrustedProxy()
    }
    const context = createRequestContext(request, response, fullBucket(millis), millis)
    void traceRequest(context, () => respond(context))
  }
}

function mount(deps: DispatcherDeps): Router<RouteTarget> {
  const router = new Router<RouteTarget>()
  const publicParameters = deps.surfaces.filter((surface) => !surface.isInternal).flatMap(parameterNames)
  for (const surface of deps.surfaces) {
    const { base, label = '', routes } = surface
    const knownParameters = new Set([...publicParameters, ...parameterNames(surface)])
    for (const route of routes) {
      if (route.deprecation !== undefined) assertSunsetNotice(route.id, route.deprecation)
      const [path, operation, variables] = [base + route.path, label + route.id, variablesOf(route)]
      router.add(route.method, path, { route, path, operation, variables, knownParameters })
    }
  }
  for (const route of deps.rawRoutes)
    if (route.acceptsUnknownPath === undefined) router.add(route.method ?? 'GET', route.path, route)
  return router
}

const parameterNames = ({ routes }: Surface): string[] =>
  routes.flatMap((route) => Object.keys(route.query?.parameters ?? {}))

async function render(context: RequestContext, route: RawRoute, segments: readonly string[]): Promise<void> {
  context.operation = route.operation ?? route.path
  context.allowsAnyOrigin = route.isSameOrigin !== true
  const { status, headers = {}, type, text } = await route.render({ message: context.request, segments })
  send(context, status, headers, { type, text })
}

const acceptsBody = (target: RouteTarget): boolean =>
  'render' in target ? target.method === 'POST' : target.route.body !== undefined || target.route.upload !== undefined

/** The route reads one record by its id or key. */
const isRecordRead = ({ method, path, query }: AnyRoute): boolean =>
  method === 'GET' && path.endsWith('}') && !('limit' in (query?.parameters ?? {}))

/** So many rows of a page cost as much as one request without a page. */
const rowsPerCost = 10

/** The cost of a page grows with its size, as its duration does. */
const costOf = ({ limit = 0 }: { limit?: number }): number => 1 + Math.floor(limit / rowsPerCost)

/** Decision D10: the first missing scope is reported. */
function missingScope({ scopes, needsAnyScope }: AnyRoute, principal: Principal): string | undefined {
  if (needsAnyScope && scopes.some((scope) => principal.scopes.has(scope))) return undefined
  return scopes.find((scope) => !principal.scopes.has(scope))
}
