import { type Server, type Socket, connect, createServer } from 'node:net'

/** A way to another program that can be cut, stopped up, closed and opened again, as an outage does. */
export class Passage {
  readonly #target: URL
  readonly #sockets = new Set<Socket>()
  #server: Server | undefined
  #port = 0
  /** What is sent meanwhile is lost, and nobody is told. */
  isStopped = false
  /** How often the near side spoke after it had been answered, or for the first time. */
  turns = 0

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
          if (one === near && spokeLast !== near) this.turns++
          spokeLast = one
          if (!this.isStopped) other.write(bytes)
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

  /** Ends every connection at this very moment; new ones may come. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server?.close(() => resolve()))
    this.cut()
    return closed
  }
}
