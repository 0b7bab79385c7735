import type { IncomingMessage, ServerResponse } from 'node:http'
import { ulid } from '../kernel/ulid.ts'
import type { Download, EventStream } from './route.ts'
import { type RateState, burst, refillPerSecond } from './rate-limit.ts'

/** One request and the answer it is getting. */
export interface RequestContext {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly requestId: string
  readonly method: string
  readonly path: string
  /** The path as it may be written down. */
  loggedPath: string
  readonly queryText: string
  readonly startedAt: number
  rate: RateState
  /** The row's id once known, for logs and metrics. */
  operation: string
  orgId: number | null
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
  const inbound = request.headers['x-request-id']
  return {
    request,
    response,
    requestId: typeof inbound === 'string' && inbound !== '' ? inbound : ulid(millis),
    method: request.method ?? 'GET',
    path,
    loggedPath: path,
    queryText: mark === -1 ? '' : url.slice(mark + 1),
    startedAt: performance.now(),
    rate,
    operation: 'none',
    orgId: null,
  }
}

/**
 * The path and query of a request target. RFC 9112 section 3.2.2: a server must accept the absolute form, too; its
 * authority names this service, whatever the Host header says.
 */
function originForm(target: string): string {
  if (target.startsWith('/')) return target
  const authority = /^https?:\/\/[^/?#]+/i.exec(target)?.[0]
  if (authority === undefined) return target
  const rest = target.slice(authority.length)
  return rest.startsWith('/') ? rest : `/${rest}`
}

const policy = `${refillPerSecond * 60};w=60`
const limit = String(burst)
const exposed = [
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

/** Headers that every answer of the service carries, errors and malformed requests included. */
export function commonHeaders(requestId: string, rate: RateState): string[] {
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
    'Access-Control-Allow-Origin',
    '*',
    'Access-Control-Expose-Headers',
    exposed,
    'X-Content-Type-Options',
    'nosniff',
  ]
}

/**
 * The headers of one answer: those of every answer and the route's own. The answer to an authenticated request depends
 * on its token, so no cache may keep it (D53); a route that hands out tokens sets its own Cache-Control.
 */
function headersOf(context: RequestContext, own: Readonly<Record<string, string>> = {}): string[] {
  const list = commonHeaders(context.requestId, context.rate)
  for (const name in own) list.push(name, own[name]!)
  if (context.orgId === null) return list
  if (!('Cache-Control' in own)) list.push('Cache-Control', 'private, no-store')
  list.push('Vary', 'Authorization')
  return list
}

export interface Payload {
  readonly type: string
  readonly text: string | Buffer
}

/** Sends the answer; for HEAD everything but the body. */
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

/** Node writes a head in the encoding of the text behind it, so beside other characters the body must be bytes. */
const ascii = /^[\t\x20-\x7e]*$/

/** How long a client may take nothing of its response, and how long it may take for the whole response. */
const flushLimits = { stalledMs: 30_000, totalMs: 120_000 }
/** How long a download may take. */
const downloadMs = 3_600_000

/**
 * Calls back once the network has taken the whole response, or its connection is closed: until then the response is
 * held in memory. A client that takes too long is disconnected.
 */
export function onFlushed({ request, response }: RequestContext, done: () => void, limits = flushLimits): void {
  const { socket } = request
  if (response.writableLength === 0 || socket.destroyed) return done()
  const end = (): void => {
    clearTimeout(timer)
    response.off('finish', end)
    socket.off('close', end)
    done()
  }
  const timer = setTimeout(() => socket.destroy(), limits.totalMs).unref()
  // The timeout of a socket runs only while nothing is written. Node sets another one when the response is finished.
  socket.setTimeout(limits.stalledMs)
  // A client that pipelines requests has many responses on one socket.
  socket.setMaxListeners(0)
  response.once('finish', end)
  socket.once('close', end)
}

export const preflightHeaders = {
  'Access-Control-Allow-Methods': 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS',
  'Access-Control-Allow-Headers': 'Authorization, Content-Type, X-Request-ID',
  'Access-Control-Max-Age': '86400',
}

/** More than this in memory for one stream means that its client does not read fast enough. */
const maxBufferedBytes = 64 * 1024
/** A client has this long to take the end of an answer before its connection is destroyed. */
export const lingerMs = 1000

/**
 * Keeps the answer open for events. The head is sent with the first of them, so that a stream that cannot be opened is
 * refused like any other request. A client that has left already would never be noticed again, so nothing is opened for it.
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
 * Sends a file as it is made, no faster than it is taken, so that its size costs no memory. What fails before the first
 * byte is refused as ever; what fails later cuts the connection, so that half a file is never taken for a whole one.
 */
export async function sendDownload(
  context: RequestContext,
  { type, fileName, chunks }: Download,
  timeoutMs = downloadMs,
): Promise<void> {
  const { response } = context
  const timer = setTimeout(() => response.destroy(), timeoutMs).unref()
  const pieces = chunks[Symbol.asyncIterator]()
  try {
    let piece = await pieces.next()
    response.writeHead(200, [
      ...headersOf(context),
      ...['Content-Type', type, 'Content-Disposition', `attachment; filename="${fileName}"`],
    ])
    while (context.method !== 'HEAD' && !piece.done && !response.destroyed) {
      if (!response.write(Buffer.from(piece.value))) await untilTaken(response)
      piece = await pieces.next()
    }
    response.end()
  } catch (error) {
    if (response.headersSent) response.destroy()
    throw error
  } finally {
    clearTimeout(timer)
    await pieces.return?.()
  }
}

/** Resolves once there is room again, or nobody to take it. A client that takes nothing for too long is disconnected. */
function untilTaken(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const { socket } = response
    socket?.setTimeout(flushLimits.stalledMs)
    const done = (): void => {
      socket?.setTimeout(0)
      response.off('drain', done).off('close', done)
      resolve()
    }
    response.on('drain', done).on('close', done)
    if (response.destroyed) done()
  })
}
