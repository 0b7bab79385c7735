import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { Lastseen } from '../../../client/src/index.ts'
import type { Pair } from './process.ts'

/** A program that follows the live stream with the client, which connects again and resumes after an interruption. */
export class LiveConsumer {
  /** The moves in the order in which they were received. */
  readonly deliveries: string[] = []
  gaps = 0
  /** How often a stream was opened. */
  connections = 0
  /** How often a stream was opened with the position of the last event. */
  resumed = 0
  readonly #client: Lastseen
  readonly #stop = new AbortController()
  #watching: Promise<void> = Promise.resolve()

  constructor(baseUrl: string, { client_id: clientId, client_secret: clientSecret }: Pair) {
    const counting: typeof fetch = async (input, init) => {
      const response = await fetch(input, init)
      if (response.ok && response.headers.get('content-type') === 'text/event-stream') {
        this.connections++
        if (new Headers(init?.headers).has('last-event-id')) this.resumed++
      }
      return response
    }
    this.#client = new Lastseen({ baseUrl, clientId, clientSecret, fetch: counting })
  }

  async start(): Promise<void> {
    this.#watching = this.#watch()
    await expect.poll(() => this.connections, { timeout: 20_000 }).toBe(1)
  }

  /** Received every one of these moves exactly once, over several streams, without a gap. */
  async expectComplete(deliveries: readonly string[]): Promise<void> {
    for (const end = Date.now() + 30_000; this.deliveries.length < deliveries.length && Date.now() < end;)
      await sleep(50)
    this.#stop.abort()
    await this.#watching
    const received = new Set(this.deliveries)
    const missed = deliveries.filter((delivery) => !received.has(delivery)).length
    const repeated = this.deliveries.length - received.size
    expect({ missed, repeated, gaps: this.gaps }).toEqual({ missed: 0, repeated: 0, gaps: 0 })
    expect(this.connections).toBeGreaterThan(1)
    expect(this.resumed).toBe(this.connections - 1)
  }

  async #watch(): Promise<void> {
    for await (const event of this.#client.live({ signal: this.#stop.signal }))
      if (event.type === 'move') this.deliveries.push(event.move.delivery_id)
      else if (event.type === 'gap') this.gaps++
  }
}
