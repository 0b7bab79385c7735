import type { IncomingMessage, ServerResponse } from 'node:http'
import { SpanKind, inRootSpan, setFailed } from '../kernel/tracing.ts'
import { ulid } from '../kernel/ulid.ts'
import type { Download, EventStream } from './route.ts'
import { TransferTimeout } from './transfer-timeout.ts'
import { type RateState, burst, refillPerSecond } from './rate-limit.ts'

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

const policy = `${refillPerSecond * 60};w=60`
const limit = String(burst)
const exposedHeaders = [
  'X-Request-ID',
  'RateLimit-Policy',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'Retry-After',
  'Location',
  'Allow',
  'WWW-Authenticate',
].join(', ')

/** Of the responses to authenticated requests (D53). */
export const forTheTokenAlone = 'private, no-store'

const crossOrigin = ['Access-Control-Allow-Origin', '*', 'Access-Control-Expose-Headers', exposedHeaders]

/** Headers of every response, including the responses to malformed requests. */
export function commonHeaders(requestId: string, rate: RateState, allowsAnyOrigin = true): string[] {
  return [
    'X-Request-ID',
    requestId,
    'RateLimit-Policy',
    policy,
    'X-RateLimit-Limit',
    limit,
    'X-RateLimit-Remaining',
    rate.remaining,
    'X-RateLimit-Reset',
    rate.reset,
    ...(allowsAnyOrigin ? crossOrigin : []),
    'X-Content-Type-Options',
    'nosniff',
  ]
}

/**
 * Returns the common headers and those of the route. The response to an authenticated request depends on its token, so
 * caches must not store it (D53).
 */
function headersOf(context: RequestContext, routeHeaders: Readonly<Record<string, string>> = {}): string[] {
  const list = commonHeaders(context.requestId, context.rate, context.allowsAnyOrigin)
  for (const name in routeHeaders) list.push(name, routeHeaders[name]!)
  if (context.cacheControl === null) return list
  if (!('Cache-Control' in routeHeaders)) list.push('Cache-Control', context.cacheControl)
  if (context.cacheControl === forTheTokenAlone) list.push('Vary', 'Authorization')
  return list
}

export interface Payload {
  readonly type: string
  readonly text: string | Buffer
}

/** Sends the response; for HEAD, without the body. */
export function send(
  context: RequestContext,
  status: number,
  headers: Readonly<Record<string, string>>,
  payload?: Payload,
): void {
  const { response } = context
  if (response.headersSent) return
  response.statusCode = status
  if (response.destroyed) return
  const list = headersOf(context, headers)
  if (payload === undefined) {
    response.writeHead(status, list).end()
    return
  }
  list.push('Content-Type', payload.type, 'Content-Length', String(Buffer.byteLength(payload.text)))
  response.writeHead(status, list)
  if (context.method === 'HEAD') response.end()
  else response.end(ascii.test(context.requestId) ? payload.text : Buffer.from(payload.text as string))
}

/** Node encodes the head like a string body that follows it, so a head with other characters needs a Buffer body. */
const ascii = /^[\t\x20-\x7e]*$/

/** How long a client may receive no data, and how long it may take to receive the whole response. */
const flushTimeouts = { stalledMs: 30_000, totalMs: 120_000 }
/** How long a download may take, and how long the server waits for a client that reads nothing of it. */
export const downloadLimits = { maxMs: 3_600_000, graceMs: 30_000 }

/**
 * Calls `done` once the whole response was written to the network or the connection is closed; until then the response is
 * held in memory. A client that receives too slowly is disconnected.
 */
export function onFlushed({ request, response }: RequestContext, done: () => void, timeouts = flushTimeouts): void {
  const { socket } = request
  if (response.writableLength === 0 || socket.destroyed) return done()
  const end = (): void => {
    clearTimeout(timer)
    response.off('finish', end)
    socket.off('close', end)
    done()
  }
  const timer = setTimeout(() => socket.destroy(), timeouts.totalMs).unref()
  // A socket's timeout restarts with every write. Node replaces it when the response is finished.
  socket.setTimeout(timeouts.stalledMs)
  // With pipelined requests, one socket has a listener for each of many responses.
  socket.setMaxListeners(0)
  response.once('finish', end)
  socket.once('close', end)
}

export const preflightHeaders = {
  'Access-Control-Allow-Methods': 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS',
  'Access-Control-Allow-Headers': 'Authorization, Content-Type, X-Request-ID, Idempotency-Key, Last-Event-ID',
  'Access-Control-Max-Age': '86400',
}

/** A stream that buffers more than this has a client that reads too slowly. */
const maxBufferedBytes = 64 * 1024
/** How long a client may take to receive the end of a response before its connection is destroyed. */
export const lingerMs = 1000

/**
 * Keeps the response open for server-sent events. The head is sent with the first event, so that a stream that cannot be
 * opened is answered with an ordinary error. No stream is opened for a client that has already disconnected, because its
 * 'close' event would never be emitted again.
 */
export function sendEventStream(context: RequestContext, open: (stream: EventStream) => void): void {
  const { response } = context
  if (response.destroyed) return
  const head = [...headersOf(context), ...['Content-Type', 'text/event-stream', 'X-Accel-Buffering', 'no']]
  if (context.method === 'HEAD') {
    response.writeHead(200, head).end()
    return
  }
  const closed = new AbortController()
  response.once('close', () => closed.abort())
  open({
    closed: closed.signal,
    write(text) {
      if (closed.signal.aborted) return true
      if (!response.headersSent) response.writeHead(200, head)
      response.write(text)
      return response.writableLength <= maxBufferedBytes
    },
    drained: () => (response.writableNeedDrain ? drained(response) : Promise.resolve()),
    end() {
      if (closed.signal.aborted) return
      closed.abort()
      response.end()
      const timer = setTimeout(() => response.destroy(), lingerMs)
      response.once('close', () => clearTimeout(timer))
    },
  })
}

/**
 * Streams a file while it is generated, no faster than the client reads it, so that memory use does not grow with its size.
 * A failure before the first byte is answered with an ordinary error. A later failure closes the connection, so that the
 * client does not mistake a partial file for a complete one.
 */
export async function sendDownload(
  context: RequestContext,
  { type, fileName, chunks, maxMs = downloadLimits.maxMs }: Download,
  graceMs = downloadLimits.graceMs,
): Promise<void> {
  const { response } = context
  const timer = setTimeout(() => response.destroy(), maxMs).unref()
  const transferTimeout = new TransferTimeout(graceMs, () => response.destroy())
  const iterator = chunks[Symbol.asyncIterator]()
  try {
    let chunk = await iterator.next()
    response.writeHead(200, [
      ...headersOf(context),
      ...['Content-Type', type],
      ...(fileName === undefined ? [] : ['Content-Disposition', `attachment; filename="${fileName}"`]),
    ])
    while (context.method !== 'HEAD' && !chunk.done && !response.destroyed) {
      const bytes = Buffer.from(chunk.value)
      if (!response.write(bytes)) await transferTimeout.wait(drained(response))
      transferTimeout.addTransferred(bytes.length)
      chunk = await iterator.next()
    }
    response.end()
  } catch (error) {
    if (response.headersSent) response.destroy()
    throw error
  } finally {
    clearTimeout(timer)
    await iterator.return?.()
  }
}

/** Resolves when the buffer is drained or the connection is closed. A client that stops reading is disconnected. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const { socket } = response
    socket?.setTimeout(flushTimeouts.stalledMs)
    const done = (): void => {
      socket?.setTimeout(0)
      response.off('drain', done).off('close', done)
      resolve()
    }
    response.on('drain', done).on('close', done)
    if (response.destroyed) done()
  })
}
