import { type IncomingMessage, type ServerResponse } from 'node:http'
import { type Server, createServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { KeyPair } from './certificates.ts'

/** A request as it was received. */
export interface ReceivedRequest {
  method: string
  path: string
  headers: Record<string, string>
  /** Header names as they were written. */
  names: string[]
  body: Buffer
  atMs: number
  /** The connection's number, in the order they were opened. */
  connection: number
}

export type Behaviour = (
  response: ServerResponse,
  received: ReceivedRequest,
  number: number,
  request: IncomingMessage,
) => void

export const respondWith =
  (status: number, headers: Record<string, string> = {}): Behaviour =>
  (response) =>
    response.writeHead(status, headers).end()

/** A webhook endpoint that records requests and answers with the configured behaviour. */
export class WebhookReceiver {
  readonly received: ReceivedRequest[] = []
  connections = 0
  behaviour: Behaviour = respondWith(204)
  readonly #server: Server
  readonly #sockets = new Map<Socket, number>()

  private constructor(pair: KeyPair) {
    this.#server = createServer(pair)
    this.#server.on('secureConnection', (socket: Socket) => {
      this.#sockets.set(socket, this.connections++)
      socket.on('close', () => this.#sockets.delete(socket))
      socket.on('error', () => undefined)
    })
    this.#server.on('tlsClientError', () => undefined)
    this.#server.on('request', (request, response) => this.#take(request, response))
  }

  static async open(pair: KeyPair, host = '127.0.0.1'): Promise<WebhookReceiver> {
    const receiver = new WebhookReceiver(pair)
    await new Promise<void>((resolve) => receiver.#server.listen(0, host, resolve))
    return receiver
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve))
    this.#server.closeAllConnections()
    await closed
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    const atMs = performance.now()
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('error', () => undefined)
    request.on('end', () => {
      const received: ReceivedRequest = {
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers as Record<string, string>,
        names: request.rawHeaders.filter((_text, index) => index % 2 === 0),
        body: Buffer.concat(chunks),
        atMs,
        connection: this.#sockets.get(request.socket) ?? -1,
      }
      this.received.push(received)
      this.behaviour(response, received, this.received.length, request)
    })
  }
}
