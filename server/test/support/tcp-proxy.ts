import { type Server, type Socket, connect, createServer } from 'node:net'

/** A TCP proxy that simulates outages: it can drop connections, drop or delay data, close and reopen. */
export class TcpProxy {
  readonly #target: URL
  readonly #sockets = new Set<Socket>()
  #server: Server | undefined
  #port = 0
  /** While true, data in both directions is discarded and connections stay open. */
  isDroppingData = false
  /** How long data takes in each direction. */
  delayMs = 0
  /** Connections whose first packet contains this text are closed. */
  #refused: string | null = null
  readonly #firstPackets = new Map<Socket, string>()
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
          if (one === near && spokeLast === null) {
            this.#firstPackets.set(near, bytes.toString('latin1'))
            if (this.#isRefused(near)) return void near.destroy()
          }
          spokeLast = one
          if (this.isDroppingData) return
          if (this.delayMs === 0) other.write(bytes)
          else setTimeout(() => other.write(bytes), this.delayMs)
        })
        one.on('error', () => undefined)
        one.on('close', () => {
          this.#sockets.delete(one)
          this.#firstPackets.delete(one)
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

  /** Closes the connections whose first packet contains the text, also future ones; null accepts all again. */
  refuse(text: string | null): void {
    this.#refused = text
    for (const socket of this.#firstPackets.keys()) if (this.#isRefused(socket)) socket.destroy()
  }

  #isRefused(near: Socket): boolean {
    return this.#refused !== null && this.#firstPackets.get(near)!.includes(this.#refused)
  }

  close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server?.close(() => resolve()))
    this.dropConnections()
    return closed
  }
}
