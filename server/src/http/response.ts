import { ApiError, errorKinds } from '../kernel/errors.ts'
import { burst, refillPerSecond, type RateState } from './rate-limit.ts'
import type { RequestContext } from './request-context.ts'

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

/** Cache-Control of responses to authenticated requests (D53). */
export const privateNoStore = 'private, no-store'

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
export function headersOf(context: RequestContext, routeHeaders: Readonly<Record<string, string>> = {}): string[] {
  const list = commonHeaders(context.requestId, context.rate, context.allowsAnyOrigin)
  for (const name in routeHeaders) list.push(name, routeHeaders[name]!)
  if (context.cacheControl === null) return list
  if (!('Cache-Control' in routeHeaders)) list.push('Cache-Control', context.cacheControl)
  if (context.cacheControl === privateNoStore) list.push('Vary', 'Authorization')
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
  if (payload !== undefined)
    list.push('Content-Type', payload.type, 'Content-Length', String(Buffer.byteLength(payload.text)))
  response.writeHead(status, list)
  if (payload === undefined || context.method === 'HEAD') response.end()
  else response.end(ascii.test(context.requestId) ? payload.text : Buffer.from(payload.text as string))
  disconnectIfSlow(context)
}

/** Node encodes the head like a string body that follows it, so a head with other characters needs a Buffer body. */
const ascii = /^[\t\x20-\x7e]*$/

/** How long a client may receive no data, and how long it may take to receive the whole response. */
export const flushTimeouts = { stalledMs: 30_000, totalMs: 120_000 }

/** How long a client may take to receive the end of a response before its connection is destroyed. */
export const lingerMs = 1000

/** Disconnects a client that does not receive a response in time. Until then the response is held in memory. */
export function disconnectIfSlow(context: RequestContext): void {
  const { socket } = context.request
  if (context.response.writableLength === 0 || socket.destroyed) return
  const timer = setTimeout(() => socket.destroy(), flushTimeouts.totalMs).unref()
  // A socket's timeout restarts with every write. Node replaces it when the response is finished.
  socket.setTimeout(flushTimeouts.stalledMs)
  onFlushed(context, () => clearTimeout(timer))
}

/** Calls `done` once the whole response was written to the network or the connection is closed. */
export function onFlushed({ request, response }: RequestContext, done: () => void): void {
  const { socket } = request
  if (response.writableLength === 0 || socket.destroyed) return done()
  const end = (): void => {
    response.off('finish', end)
    socket.off('close', end)
    done()
  }
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

/** Serializes an error. Every error body of the service is built here. */
export function errorBody(error: ApiError, instance: string, requestId: string): string {
  const { status, title } = errorKinds[error.kind]
  return JSON.stringify({
    error: {
      type: error.kind,
      title,
      status,
      detail: error.message,
      instance,
      request_id: requestId,
      ...(error.fields === undefined ? {} : { fields: error.fields }),
    },
  })
}

/** The response to an unexpected error. It reveals nothing about the cause. */
export const internalError = new ApiError('internal_error', 'An unexpected error occurred')

export const toApiError = (error: unknown): ApiError => (error instanceof ApiError ? error : internalError)
