import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FairQueue } from '../admission/fair-queue.ts'
import { type Refusal, errorKinds, refuse } from '../kernel/errors.ts'
import { secretPattern } from '../kernel/secrets.ts'
import { bearerToken } from './bearer.ts'
import { type Authenticator, type Caller, nobody } from './caller.ts'
import { clientAddress, isForwarded } from './client-address.ts'
import { isAnonymousAgent } from './edge-filter.ts'
import { asRefusal, errorBody, internalError } from './envelope.ts'
import { type Exchange, onFlushed, openExchange, pour, preflightHeaders, send, stream } from './exchange.ts'
import { checkMediaType } from './media-type.ts'
import { readParams } from './params.ts'
import { readQuery } from './query.ts'
import { decodeFor, readBody } from './take-body.ts'
import { type Drawn, type RateLimiter, fullBucket, rateState, refuseDrained } from './rate-limit.ts'
import { type Answer, type AnyRoute, type Deprecation, variablesOf } from './route.ts'
import { type Match, Router } from './router.ts'

/** What stands outside the contract: descriptions, documentation, health, and the door for readers. */
export interface PlainPage {
  readonly method?: 'GET' | 'POST'
  readonly path: string
  /** Name in logs and metrics, the path when absent. */
  readonly operation?: string
  /** The path carries a secret and must not be written down. */
  readonly isPathSecret?: boolean
  readonly render: (request: PlainRequest) => Promise<PageAnswer> | PageAnswer
}

export interface PlainRequest {
  readonly message: IncomingMessage
  /** The path's variable segments. */
  readonly segments: readonly string[]
}

export interface PageAnswer {
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

export interface DispatchNeeds {
  readonly surfaces: readonly Surface[]
  readonly pages: readonly PlainPage[]
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
  readonly onAnswered: (exchange: Exchange, status: number) => void
  readonly onBug: (exchange: Exchange, error: unknown) => void
}

interface Mounted {
  readonly route: AnyRoute
  readonly operation: string
  readonly variables: readonly string[]
  /** Parameter names that other routes declare: those of both public surfaces, and of this surface. */
  readonly elsewhere: ReadonlySet<string>
}

type Target = Mounted | PlainPage

export function dispatcher(needs: DispatchNeeds): (request: IncomingMessage, response: ServerResponse) => void {
  const router = mount(needs)
  const secretPaths = needs.pages
    .filter((page) => page.isPathSecret)
    .map(({ path }) => ({ path, start: path.slice(0, path.indexOf('{')) }))

  /** A secret in the path is written down nowhere, not even when the path is mistyped or the method is wrong. */
  function conceal(exchange: Exchange): void {
    for (const { path, start } of secretPaths) if (exchange.path.startsWith(start)) exchange.shownPath = path
    if (exchange.shownPath === exchange.path) exchange.shownPath = exchange.path.replace(secretPattern, '{secret}')
  }

  /** The life of a request, in the order of decision D6. */
  async function answer(exchange: Exchange): Promise<void> {
    const { request } = exchange
    conceal(exchange)
    if (needs.edgeFilter && isAnonymousAgent(request.headers['user-agent']))
      return send(
        exchange,
        403,
        {},
        { type: 'text/plain', text: 'Forbidden: send a User-Agent that names your client\n' },
      )
    try {
      checkProtocol(request)
    } catch (error) {
      // Client and server may disagree on where this request ends, so no further request is read from the connection.
      exchange.response.shouldKeepAlive = false
      throw error
    }
    if (exchange.method === 'OPTIONS') return send(exchange, 204, preflightHeaders)

    const { target, segments } = locate(exchange)
    if ('render' in target) return render(exchange, target, segments)
    const { route } = target
    exchange.operation = target.operation
    if (route.deprecation !== undefined) {
      const { sunset } = route.deprecation
      announceEnd(exchange, sunset)
      if (needs.millis() >= sunset.getTime()) throw refuse.gone()
    }

    const caller = route.access === 'public' ? nobody : await identify(exchange, route)
    if (caller.kind === 'credential') charge(exchange, await needs.limiter.draw(caller.subject))
    if (route.body !== undefined) checkMediaType(request, route.body)
    if (route.access === 'session' && caller.kind !== 'session') throw refuse.forbidden('A signed-in user is required')
    const missing = route.scopes.find((scope) => !caller.scopes.has(scope))
    if (missing !== undefined) throw refuse.missingScope(missing)
    const query = readQuery(exchange.queryText, route.query, target.elsewhere)
    const params = readParams(route, target.variables, segments)
    const address = clientAddress(request, needs.trustProxy)
    const call = {
      params: params as never,
      query: query as never,
      body: undefined as never,
      caller,
      address,
      isForwarded: () => isForwarded(request),
    }

    // An anonymous body is read before the request takes a slot, so that slow anonymous clients hold none. An authenticated one is
    // read after it, so that requests that wait take no memory for their bodies.
    const isAnonymous = route.access === 'public'
    const early = isAnonymous && route.body !== undefined ? await readBody(exchange, route.body) : undefined
    const queue = route.hashesPassword ? needs.passwordQueue : isAnonymous ? needs.anonymousQueue : needs.queue
    const tenant = isAnonymous || route.hashesPassword ? address : caller.orgId
    await queue.acquire(tenant, 1, () => exchange.response.destroyed)
    let result: Answer
    try {
      if (route.body !== undefined) {
        const bytes = early === undefined ? await readBody(exchange, route.body) : early
        call.body = (await decodeFor(route, call, bytes)) as never
      }
      result = await route.handle(call)
      if (result.stream === undefined && result.download === undefined) sendWhole(exchange, result)
    } finally {
      // The slot is kept until the client has taken the response: so no tenant fills the memory with unread responses.
      onFlushed(exchange, () => queue.release(tenant))
    }
    if (result.stream !== undefined) return stream(exchange, result.stream)
    const { download } = result
    if (download !== undefined) await needs.downloadQueue.run(tenant, 1, () => pour(exchange, download))
  }

  function locate(exchange: Exchange): { target: Target; segments: readonly string[] } {
    const method = exchange.method === 'HEAD' ? 'GET' : exchange.method
    const found = router.all(exchange.path)
    const first = found[0]?.methods.get(method)
    if (first !== undefined) return { target: first, segments: found[0]!.segments }
    const matches = found.filter((match, index) => index === 0 || takesAnyText(match))
    for (const { methods, segments } of matches) {
      const target = methods.get(method)
      if (target !== undefined) return { target, segments }
    }
    if (matches.length === 0) throw unknownPath(exchange.path)
    throw refuse.methodNotAllowed(allowedMethods(matches.flatMap(({ methods }) => [...methods.keys()])))
  }

  /** Whoever is at the wrong base is told the right one. */
  function unknownPath(path: string): Refusal {
    const here = needs.surfaces.find(({ base }) => path.startsWith(`${base}/`))?.base
    const there = needs.surfaces.find(({ base }) => base !== here && isKnown(base + path.slice(here?.length)))?.base
    return here === undefined || there === undefined ? refuse.notFound('Path') : refuse.notFoundHere(there)
  }

  const isKnown = (path: string): boolean => router.find(path) !== null

  async function identify(exchange: Exchange, route: AnyRoute): Promise<Caller> {
    const caller = await needs.authenticator.authenticate(bearerToken(exchange.request))
    if (caller === null || (route.access === 'credential' && caller.kind !== 'credential'))
      throw refuse.unauthorized('Invalid or expired token')
    exchange.orgId = caller.orgId
    return caller
  }

  function charge(exchange: Exchange, drawn: Drawn): void {
    exchange.rate = rateState(drawn)
    refuseDrained(drawn)
  }

  async function settle(exchange: Exchange): Promise<void> {
    try {
      await answer(exchange)
    } catch (error) {
      const refusal = asRefusal(error)
      if (refusal === internalError) needs.onBug(exchange, error)
      send(exchange, errorKinds[refusal.kind].status, refusal.headers, {
        type: 'application/json',
        text: errorBody(refusal, exchange.shownPath, exchange.requestId),
      })
    }
    needs.onAnswered(exchange, exchange.response.statusCode)
  }

  let hasWarned = needs.trustProxy
  return (request, response) => {
    const millis = needs.millis()
    if (!hasWarned && isForwarded(request)) {
      hasWarned = true
      needs.onUntrustedProxy()
    }
    void settle(openExchange(request, response, fullBucket(millis), millis))
  }
}

function mount(needs: DispatchNeeds): Router<Target> {
  const router = new Router<Target>()
  const published = needs.surfaces.filter((surface) => !surface.isInternal).flatMap(parameterNames)
  for (const surface of needs.surfaces) {
    const { base, label = '', routes } = surface
    const elsewhere = new Set([...published, ...parameterNames(surface)])
    for (const route of routes) {
      if (route.deprecation !== undefined) assertNotice(route.id, route.deprecation)
      const mounted = { route, elsewhere, operation: label + route.id, variables: variablesOf(route) }
      router.add(route.method, base + route.path, mounted)
    }
  }
  for (const page of needs.pages) router.add(page.method ?? 'GET', page.path, page)
  return router
}

const parameterNames = ({ routes }: Surface): string[] =>
  routes.flatMap((route) => Object.keys(route.query?.parameters ?? {}))

/** A natural key may read like a fixed part of another path, which then gives way where it has nothing to say. */
const takesAnyText = ({ methods }: Match<Target>): boolean =>
  [...methods.values()].some((target) => 'route' in target && target.route.keys !== undefined)

async function render(exchange: Exchange, page: PlainPage, segments: readonly string[]): Promise<void> {
  exchange.operation = page.operation ?? page.path
  const answer = await page.render({ message: exchange.request, segments })
  send(exchange, answer.status, answer.headers ?? {}, { type: answer.type, text: answer.text })
}

function sendWhole(exchange: Exchange, { status, headers = {}, body }: Answer): void {
  const payload = body === undefined ? undefined : { type: 'application/json', text: JSON.stringify(body) }
  send(exchange, status, headers, payload)
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
  if (request.httpVersionMajor !== 1) throw refuse.badRequest('The service speaks HTTP/1.1')
  // RFC 9112 section 3.2: a request with several Host headers is refused whatever its version.
  if (countHeader(request, 'host') > 1) throw refuse.badRequest('The Host header stands more than once')
  if (request.headers.host === undefined && request.httpVersion === '1.1')
    throw refuse.badRequest('The Host header is missing')
  if (request.headers.host !== undefined && !hostPattern.test(request.headers.host))
    throw refuse.badRequest('The Host header is not a host name with an optional port')
  if (countHeader(request, 'authorization') > 1)
    throw refuse.badRequest('The Authorization header stands more than once')
  const coding = request.headers['transfer-encoding']
  if (coding !== undefined && coding.toLowerCase() !== 'chunked')
    throw refuse.badRequest('The only transfer coding supported is chunked')
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
function announceEnd(exchange: Exchange, sunset: Date): void {
  exchange.response.setHeader('Deprecation', 'true')
  exchange.response.setHeader('Sunset', sunset.toUTCString())
}
