import { type IncomingMessage, type Server, type ServerOptions, type ServerResponse, createServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { Socket } from 'node:net'
import type { ConnectionLimits } from '../admission/connection-limits.ts'
import type { Clock } from '../kernel/clock.ts'
import { clientKeyOf } from '../kernel/ip-range.ts'
import type { TlsFiles } from '../kernel/tls-files.ts'
import { ulid } from '../kernel/ulid.ts'
import { errorKinds, apiError } from '../kernel/errors.ts'
import { type BodyTimeouts, IncomingBodies, continuations, defaultBodyTimeouts } from './body.ts'
import { IncomingRequest } from './incoming-request.ts'
import { fullBucket } from './rate-limit.ts'
import { commonHeaders, errorBody, lingerMs } from './response.ts'

export interface HttpServer {
  readonly port: number
  /** From now on every response closes its connection, so that clients and proxies connect to another server. */
  drain(): void
  /** Stops accepting connections, waits for requests in flight, and closes all connections after the grace period. */
  close(graceMs: number): Promise<void>
}

/** Time for the head of a request to arrive. `defaultBodyTimeouts` has the time for the whole request. */
export const headTimeoutMs = 20_000

const reasons: Record<string, string> = {
  HPE_HEADER_OVERFLOW: 'The request headers are too large',
  ERR_HTTP_REQUEST_TIMEOUT: 'The request did not arrive in time',
}

/** Answers bytes that are not valid HTTP with the error body of the contract. */
function respondToMalformed(error: NodeJS.ErrnoException, socket: Socket, millis: number): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const badRequest = apiError.badRequest(reasons[error.code ?? ''] ?? 'The request is not valid HTTP')
  const requestId = ulid(millis)
  const body = errorBody(badRequest, '', requestId)
  const headers = commonHeaders(requestId, fullBucket(millis))
  let head = `HTTP/1.1 ${errorKinds[badRequest.kind].status} Bad Request\r\n`
  for (let index = 0; index < headers.length; index += 2) head += `${headers[index]}: ${headers[index + 1]}\r\n`
  head += `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n`
  socket.end(head + body)
  destroyAfterEnd(socket)
}

/**
 * Destroys the socket after a delay. A client that keeps its side open would otherwise hold the file descriptor and buffer
 * forever. Destroying it at once, while the client still sends, would reset the connection before it has read the response.
 */
function destroyAfterEnd(socket: Socket): void {
  // Node removes its own error listener from the socket of a CONNECT request.
  socket.on('error', () => undefined)
  const timer = setTimeout(() => socket.destroy(), lingerMs)
  socket.once('close', () => clearTimeout(timer))
}

interface ListenOptions {
  host: string
  port: number
  /** Serves HTTPS if set. */
  tls: TlsFiles | null
  clock: Clock
  handle: (request: IncomingMessage, response: ServerResponse) => void
  bodyTimeouts?: Partial<BodyTimeouts> | undefined
  limits: ConnectionLimits
  /** Called after a connection was closed because it exceeded a limit. */
  onLimit: (limit: string, address: string) => void
}

export async function listen(options: ListenOptions): Promise<HttpServer> {
  const { tls, clock } = options
  const timeouts = { ...defaultBodyTimeouts, ...options.bodyTimeouts }
  const checkIntervalMs = Math.min(5_000, timeouts.requestMs, timeouts.uploadStalledMs)
  const serverOptions = {
    requireHostHeader: false,
    keepAliveTimeout: 65_000,
    headersTimeout: Math.min(headTimeoutMs, timeouts.requestMs),
    // The largest limit. `IncomingBodies` applies the smaller ones.
    requestTimeout: Math.max(timeouts.requestMs, timeouts.uploadMs),
    connectionsCheckingInterval: checkIntervalMs,
    highWaterMark: 64 * 1024,
    IncomingMessage: IncomingRequest,
  }
  const server = tls === null ? createServer(serverOptions) : secureServer(tls, serverOptions)
  limitConnections(server, options)
  const sockets = new Set<Socket>()
  server.on(tls === null ? 'connection' : 'secureConnection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  const bodies = new IncomingBodies(timeouts)
  const bodyCheck = setInterval(() => {
    const error = Object.assign(new Error('request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })
    for (const { socket } of bodies.takeExpired()) respondToMalformed(error, socket, clock.millis())
  }, checkIntervalMs)
  bodyCheck.unref()
  let isDraining = false
  acceptRequests(server, { bodies, clock, handle: options.handle, isDraining: () => isDraining })
  await listening(server, options.host, options.port)
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : options.port,
    drain() {
      isDraining = true
    },
    async close(graceMs) {
      isDraining = true
      await closeServer(server, sockets, graceMs)
      clearInterval(bodyCheck)
    },
  }
}

function limitConnections(server: Server, { limits, onLimit }: Pick<ListenOptions, 'limits' | 'onLimit'>): void {
  server.on('connection', (socket) => {
    const address = socket.remoteAddress ?? ''
    const network = clientKeyOf(address) ?? address
    const exceeded = limits.add(network)
    if (exceeded !== null) {
      socket.destroy()
      return onLimit(exceeded, address)
    }
    socket.once('close', () => limits.remove(network))
  })
}

interface RequestDeps extends Pick<ListenOptions, 'clock' | 'handle'> {
  bodies: IncomingBodies
  isDraining: () => boolean
}

function acceptRequests(server: Server, { bodies, clock, handle, isDraining }: RequestDeps): void {
  server.on('request', (request, response) => {
    bodies.add(request)
    if (isDraining()) response.shouldKeepAlive = false
    handle(request, response)
  })
  // 100 Continue is sent when the server reads the body. If the server responds before that, it cannot know whether the
  // client will still send the body, so that response closes the connection.
  server.on('checkContinue', (request, response) => {
    bodies.add(request)
    const { shouldKeepAlive } = response
    response.shouldKeepAlive = false
    continuations.set(request, () => {
      response.shouldKeepAlive = shouldKeepAlive && !isDraining()
      response.writeContinue()
    })
    handle(request, response)
  })
  // Node would answer 417 to an Expect header other than 100-continue. The contract has no 417, so the header is ignored.
  server.on('checkExpectation', (request, response) => {
    bodies.add(request)
    request.headers.expect = ''
    handle(request, response)
  })
  server.on('clientError', (error, socket) => respondToMalformed(error, socket as Socket, clock.millis()))
  server.on('connect', (_request, socket) => respondToMalformed(new Error('CONNECT'), socket as Socket, clock.millis()))
}

async function closeServer(server: Server, sockets: ReadonlySet<Socket>, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  // Connections become idle as their requests finish. Node does not count a connection that sent nothing as idle.
  const closeIdle = (): void => {
    server.closeIdleConnections()
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy()
  }
  closeIdle()
  const sweep = setInterval(closeIdle, 50)
  const timer = setTimeout(() => server.closeAllConnections(), graceMs)
  await closed
  clearInterval(sweep)
  clearTimeout(timer)
}

const handshakeTimeoutMs = 20_000

function secureServer(tls: TlsFiles, options: ServerOptions): Server {
  const server = createTlsServer({ ...options, ...tls.current, handshakeTimeout: handshakeTimeoutMs })
  tls.onChange((pair) => server.setSecureContext(pair))
  return server
}

function listening(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve()
    })
  })
}
