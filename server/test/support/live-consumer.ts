import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { type AssetMoved, Lastseen, type Move } from '../../../client/src/index.ts'
import type { Pair } from './process.ts'

/** When each asset moved, in the order of the moves. */
function timesByAsset(moves: readonly Pick<Move, 'occurred_at' | 'asset'>[], without: readonly string[]) {
  const times: Record<string, string[]> = {}
  for (const { occurred_at, asset } of moves)
    if (!without.includes(asset.external_key)) (times[asset.external_key] ??= []).push(occurred_at)
  return times
}

/** A program that follows the live stream with the client, which connects again and resumes after an interruption. */
export class LiveConsumer {
  /** The moves in the order in which they were received. */
  readonly moves: Move[] = []
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

  /**
   * Received every one of these moves exactly once, over several streams, without a gap, and those of each asset in the
   * order in which they were recorded, except for the assets with the keys in `unordered`.
   */
  async expectComplete(recorded: readonly AssetMoved[], { unordered }: { unordered: string[] }): Promise<void> {
    for (const end = Date.now() + 30_000; this.moves.length < recorded.length && Date.now() < end;) await sleep(50)
    this.#stop.abort()
    await this.#watching
    const received = new Set(this.moves.map((move) => move.delivery_id))
    const missed = recorded.filter((move) => !received.has(move.delivery_id)).length
    const repeated = this.moves.length - received.size
    expect({ missed, repeated, gaps: this.gaps }).toEqual({ missed: 0, repeated: 0, gaps: 0 })
    expect(timesByAsset(this.moves, unordered)).toEqual(
      timesByAsset(
        recorded.map((move) => ({ ...move, ...move.data })),
        unordered,
      ),
    )
    expect(this.connections).toBeGreaterThan(1)
    expect(this.resumed).toBe(this.connections - 1)
  }

  async #watch(): Promise<void> {
    for await (const event of this.#client.live({ signal: this.#stop.signal }))
      if (event.type === 'move') this.moves.push(event.move)
      else if (event.type === 'gap') this.gaps++
  }
}
