import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http'
import type { Socket } from 'node:net'
import type { ConnectionLimits } from '../admission/connection-limits.ts'
import { clientKeyOf } from '../kernel/ip-range.ts'
import { ulid } from '../kernel/ulid.ts'
import { errorKinds, apiError } from '../kernel/errors.ts'
import { continuations } from './body.ts'
import { errorBody } from './error-response.ts'
import { commonHeaders, lingerMs } from './request-context.ts'
import { fullBucket } from './rate-limit.ts'

export interface HttpServer {
  readonly port: number
  /** Stops accepting, lets running requests finish, then ends what is left after the grace period. */
  close(graceMs: number): Promise<void>
}

const reasons: Record<string, string> = {
  HPE_HEADER_OVERFLOW: 'The request headers are too large',
  ERR_HTTP_REQUEST_TIMEOUT: 'The request did not arrive in time',
}

/** Answers what never became a request: the contract's envelope even for bytes that are not HTTP. */
function answerMalformed(error: NodeJS.ErrnoException, socket: Socket, millis: number): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const refusal = apiError.badRequest(reasons[error.code ?? ''] ?? 'The request is not valid HTTP')
  const requestId = ulid(millis)
  const body = errorBody(refusal, '', requestId)
  const headers = commonHeaders(requestId, fullBucket(millis))
  let head = `HTTP/1.1 ${errorKinds[refusal.kind].status} Bad Request\r\n`
  for (let index = 0; index < headers.length; index += 2) head += `${headers[index]}: ${headers[index + 1]}\r\n`
  head += `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n`
  socket.end(head + body)
  destroyAfterEnd(socket)
}

/**
 * A client that keeps its side open would hold the descriptor and what was read of its request for ever. It gets a moment:
 * closing at once, while it still sends, would reset the connection before it has read the answer.
 */
function destroyAfterEnd(socket: Socket): void {
  // Node has removed its own listener from the socket of a CONNECT request.
  socket.on('error', () => undefined)
  const timer = setTimeout(() => socket.destroy(), lingerMs)
  socket.once('close', () => clearTimeout(timer))
}

export async function listen(options: {
  host: string
  port: number
  millis: () => number
  handle: (request: IncomingMessage, response: ServerResponse) => void
  /** How long a request may take to arrive. */
  requestTimeoutMs?: number | undefined
  limits: ConnectionLimits
  /** Called with the limit that a connection would have exceeded, which was closed. */
  onLimit: (limit: string, address: string) => void
}): Promise<HttpServer> {
  const { requestTimeoutMs = 60_000 } = options
  const server = createServer({
    requireHostHeader: false,
    keepAliveTimeout: 65_000,
    headersTimeout: Math.min(20_000, requestTimeoutMs),
    requestTimeout: requestTimeoutMs,
    connectionsCheckingInterval: Math.min(5_000, requestTimeoutMs),
    highWaterMark: 64 * 1024,
  })
  let draining = false
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => {
    const address = socket.remoteAddress ?? ''
    const network = clientKeyOf(address) ?? address
    const exceeded = options.limits.add(network)
    if (exceeded !== null) {
      socket.destroy()
      return options.onLimit(exceeded, address)
    }
    sockets.add(socket)
    socket.once('close', () => {
      options.limits.remove(network)
      sockets.delete(socket)
    })
  })
  server.on('request', (request, response) => {
    if (draining) response.shouldKeepAlive = false
    options.handle(request, response)
  })
  // 100 Continue is sent when the body is read. Until then the client may or may not send it, so that a response without it
  // ends the connection.
  server.on('checkContinue', (request, response) => {
    const { shouldKeepAlive } = response
    response.shouldKeepAlive = false
    continuations.set(request, () => {
      response.shouldKeepAlive = shouldKeepAlive && !draining
      response.writeContinue()
    })
    options.handle(request, response)
  })
  // An Expect header other than 100-continue would make Node answer 417, which the contract does not know.
  server.on('checkExpectation', (request, response) => {
    request.headers.expect = ''
    options.handle(request, response)
  })
  server.on('clientError', (error, socket) => answerMalformed(error, socket as Socket, options.millis()))
  server.on('connect', (_request, socket) => answerMalformed(new Error('CONNECT'), socket as Socket, options.millis()))
  await listening(server, options.host, options.port)
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : options.port,
    async close(graceMs) {
      draining = true
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      // A connection whose request was just answered is kept by its client, and one that never sent a byte is not idle to Node.
      const hangUp = (): void => {
        server.closeIdleConnections()
        for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy()
      }
      hangUp()
      const sweep = setInterval(hangUp, 50)
      const timer = setTimeout(() => server.closeAllConnections(), graceMs)
      await closed
      clearInterval(sweep)
      clearTimeout(timer)
    },
  }
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
