import { type Server, type Socket, connect, createServer } from 'node:net'

/** A TCP proxy that simulates outages: it can drop connections, drop data, close and reopen. */
export class TcpProxy {
  readonly #target: URL
  readonly #sockets = new Set<Socket>()
  #server: Server | undefined
  #port = 0
  /** While true, data in both directions is discarded and connections stay open. */
  isDroppingData = false
  /** The number of round trips: how often the client sent data first or after a response. */
  roundTrips = 0

  constructor(target: string) {
    this.#target = new URL(target)
  }

  get url(): string {
    const url = new URL(this.#target)
    url.host = `127.0.0.1:${this.#port}`
    return url.href
  }

  open(): Promise<void> {
    const server = createServer((near) => {
      const far = connect(Number(this.#target.port), this.#target.hostname)
      let spokeLast: Socket | null = null
      for (const [one, other] of [
        [near, far],
        [far, near],
      ] as const) {
        this.#sockets.add(one)
        one.on('data', (bytes) => {
          if (one === near && spokeLast !== near) this.roundTrips++
          spokeLast = one
          if (!this.isDroppingData) other.write(bytes)
        })
        one.on('error', () => undefined)
        one.on('close', () => {
          this.#sockets.delete(one)
          other.destroy()
        })
      }
    })
    this.#server = server
    return new Promise((resolve) => {
      server.listen(this.#port, '127.0.0.1', () => {
        this.#port = (server.address() as { port: number }).port
        resolve()
      })
    })
  }

  /** Closes every connection at once; new connections are accepted. */
  dropConnections(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server?.close(() => resolve()))
    this.dropConnections()
    return closed
  }
}
