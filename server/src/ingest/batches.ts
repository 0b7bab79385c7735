import { Gate, boundless } from '../http/gate.ts'
import type { Turns, Want } from '../http/turns.ts'

/** Work for one organization, waiting for its turn. */
interface Waiting<Item, Outcome> {
  items: readonly Item[]
  want: Want
  resolve: (outcomes: Outcome[]) => void
  reject: (error: unknown) => void
}

interface Lane<Item, Outcome> {
  waiting: Waiting<Item, Outcome>[]
  isRunning: boolean
}

export interface BatchLimits {
  maxBatch: number
  /** The same while other organizations ask too: what they want fits in between. Larger messages are then split. */
  maxBatchInCompany: number
  maxWaiting: number
}

/** Too much is waiting; whoever sent it should come again later. */
export class Overloaded extends Error {}

/** A batch is written whether or not its senders still wait for the receipt. */
const staysHere = (): boolean => false

/**
 * Gathers what arrives while an organization's last batch is being written and writes it as the next one: alone a
 * message goes at once, under load many share a transaction. One organization's backlog never holds up another's: while
 * others ask too its batches are small and wait for their turn. What waits is bounded.
 */
export class Batches<Item, Outcome> {
  readonly #write: (orgId: number, items: readonly Item[]) => Promise<Outcome[]>
  readonly #limits: BatchLimits
  readonly #turns: Turns
  readonly #gate: Gate
  readonly #lanes = new Map<number, Lane<Item, Outcome>>()
  #waitingItems = 0

  constructor(write: (orgId: number, items: readonly Item[]) => Promise<Outcome[]>, limits: BatchLimits, turns: Turns) {
    this.#write = write
    this.#limits = limits
    this.#turns = turns
    this.#gate = new Gate({ ...boundless, isLarge: true }, turns)
  }

  /** Resolves once the items are durable, with one outcome each. They are written in their order, together or in parts. */
  async add(orgId: number, items: readonly Item[]): Promise<Outcome[]> {
    if (items.length === 0) return []
    if (this.#waitingItems + items.length > this.#limits.maxWaiting) throw new Overloaded('too much is waiting')
    this.#waitingItems += items.length
    const lane = this.#lanes.get(orgId) ?? { waiting: [], isRunning: false }
    this.#lanes.set(orgId, lane)
    const most = this.#limits.maxBatchInCompany
    const parts: Promise<Outcome[]>[] = []
    for (let from = 0; from < items.length; from += most)
      parts.push(this.#wait(orgId, lane, items.slice(from, from + most)))
    if (!lane.isRunning) void this.#drain(orgId, lane)
    return (await Promise.all(parts)).flat()
  }

  #wait(orgId: number, lane: Lane<Item, Outcome>, items: readonly Item[]): Promise<Outcome[]> {
    const want = this.#turns.arrive(orgId, this.#turns.nowMs())
    return new Promise((resolve, reject) => lane.waiting.push({ items, want, resolve, reject }))
  }

  async #drain(orgId: number, lane: Lane<Item, Outcome>): Promise<void> {
    lane.isRunning = true
    while (lane.waiting.length > 0) {
      const admitted = this.#gate.enter(orgId, staysHere)
      if (admitted !== undefined) await admitted
      await this.#writeNext(orgId, lane)
      this.#gate.leave(orgId)
    }
    lane.isRunning = false
    this.#lanes.delete(orgId)
  }

  async #writeNext(orgId: number, lane: Lane<Item, Outcome>): Promise<void> {
    const { maxBatch, maxBatchInCompany } = this.#limits
    const most = this.#turns.hasOthers(orgId, this.#turns.nowMs()) ? maxBatchInCompany : maxBatch
    const batch: Waiting<Item, Outcome>[] = []
    let size = 0
    while (lane.waiting.length > 0 && (size === 0 || size + lane.waiting[0]!.items.length <= most)) {
      const next = lane.waiting.shift()!
      batch.push(next)
      size += next.items.length
    }
    try {
      const outcomes = await this.#write(
        orgId,
        batch.flatMap((one) => one.items),
      )
      let start = 0
      for (const { items, resolve } of batch) resolve(outcomes.slice(start, (start += items.length)))
    } catch (error) {
      for (const { reject } of batch) reject(error)
    } finally {
      this.#waitingItems -= size
      for (const { want } of batch) this.#turns.depart(want)
    }
  }
}
