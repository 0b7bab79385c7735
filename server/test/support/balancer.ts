import { once } from 'node:events'
import { type AddressInfo, type Server, type Socket, connect, createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { request } from 'undici'

const checkMs = 100

/** A TCP load balancer that sends new connections, in turn, to the processes whose `/readyz` returns 200. */
export class Balancer {
  readonly #urls: readonly string[]
  readonly #ready = new Set<string>()
  readonly #sockets = new Set<Socket>()
  readonly #stopped = new AbortController()
  #server: Server | undefined
  #next = 0

  constructor(urls: readonly string[]) {
    this.#urls = urls
  }

  async start(): Promise<string> {
    for (const url of this.#urls) void this.#watch(url)
    this.#server = createServer((near) => this.#forward(near)).listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async untilReady(count: number): Promise<void> {
    while (this.#ready.size < count) await sleep(20)
  }

  stop(): void {
    this.#stopped.abort()
    this.#server?.close()
    for (const socket of this.#sockets) socket.destroy()
  }

  async #watch(url: string): Promise<void> {
    while (!this.#stopped.signal.aborted) {
      const isReady = await request(`${url}/readyz`, { headers: { 'user-agent': 'balancer' }, reset: true }).then(
        async ({ statusCode, body }) => {
          await body.dump()
          return statusCode === 200
        },
        () => false,
      )
      if (isReady) this.#ready.add(url)
      else this.#ready.delete(url)
      await sleep(checkMs)
    }
  }

  #forward(near: Socket): void {
    const ready = [...this.#ready]
    const url = ready[this.#next++ % ready.length]
    if (url === undefined) return void near.destroy()
    const { port, hostname } = new URL(url)
    const far = connect(Number(port), hostname)
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(one)
      one.on('error', () => other.destroy())
      one.on('close', () => this.#sockets.delete(one))
      one.pipe(other)
    }
  }
}
