import { Gate, boundless } from '../http/gate.ts'
import type { Turns, Want } from '../http/turns.ts'

/** What somebody sent, as it came. */
export interface Message<Item> {
  /** What it takes while it waits. */
  weight: number
  open: () => readonly Item[]
}

/** Not yet opened, and waiting for its turn. */
interface Sealed<Item, Outcome> {
  open: () => readonly Item[]
  want: Want
  resolve: (outcomes: Promise<Outcome[]>) => void
  reject: (error: unknown) => void
}

/** All of a message or a part of it, waiting to be written. */
interface Part<Item, Outcome> {
  items: readonly Item[]
  want: Want
  things: number
  resolve: (outcomes: Outcome[]) => void
  reject: (error: unknown) => void
}

interface Lane<Item, Outcome> {
  readonly orgId: number
  sealed: Sealed<Item, Outcome>[]
  parts: Part<Item, Outcome>[]
  /** Items of the parts. */
  openItems: number
  isRunning: boolean
}

export interface BatchLimits {
  maxBatch: number
  /** The same while other organizations ask too: what they want fits in between. Larger messages are then split. */
  maxBatchInCompany: number
  /** So many items are as much work as a request. */
  itemsPerThing: number
  /** The most that may wait, by weight. */
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
 *
 * Messages are opened as far ahead as the next batch needs it. What a flood left waiting as objects would be copied by the
 * collection of garbage over and over, while everybody waits.
 */
export class Batches<Item, Outcome> {
  readonly #write: (orgId: number, items: readonly Item[]) => Promise<Outcome[]>
  readonly #limits: BatchLimits
  readonly #turns: Turns
  readonly #gate: Gate
  readonly #lanes = new Map<number, Lane<Item, Outcome>>()
  #waiting = 0

  constructor(write: (orgId: number, items: readonly Item[]) => Promise<Outcome[]>, limits: BatchLimits, turns: Turns) {
    this.#write = write
    this.#limits = limits
    this.#turns = turns
    this.#gate = new Gate({ ...boundless, isLarge: true }, turns)
  }

  /** Resolves once the items are durable, with one outcome each. They are written in their order, together or in parts. */
  async add(orgId: number, { weight, open }: Message<Item>): Promise<Outcome[]> {
    if (this.#waiting + weight > this.#limits.maxWaiting) throw new Overloaded('too much is waiting')
    this.#waiting += weight
    try {
      return await this.#takeIn(orgId, open)
    } finally {
      this.#waiting -= weight
    }
  }

  #takeIn(orgId: number, open: () => readonly Item[]): Promise<Outcome[]> {
    const lane = this.#lanes.get(orgId) ?? { orgId, sealed: [], parts: [], openItems: 0, isRunning: false }
    this.#lanes.set(orgId, lane)
    const want = this.#turns.arrive(orgId, this.#turns.nowMs())
    const taken = new Promise<Outcome[]>((resolve, reject) => lane.sealed.push({ open, want, resolve, reject }))
    if (lane.sealed.length === 1) this.#openNext(lane)
    if (!lane.isRunning) void this.#drain(lane)
    return taken
  }

  #most(orgId: number): number {
    const { maxBatch, maxBatchInCompany } = this.#limits
    return this.#turns.hasOthers(orgId, this.#turns.nowMs()) ? maxBatchInCompany : maxBatch
  }

  /** One message more, if the next batch is not full. */
  #openNext(lane: Lane<Item, Outcome>): boolean {
    if (lane.sealed.length === 0 || lane.openItems >= this.#most(lane.orgId)) return false
    const { open, want, resolve, reject } = lane.sealed.shift()!
    try {
      resolve(this.#waitInParts(lane, open()))
    } catch (error) {
      reject(error)
    }
    this.#turns.depart(want)
    return true
  }

  /** While a batch is being written, and each in a turn of the loop of its own, so that others are heard in between. */
  readonly #openAhead = (lane: Lane<Item, Outcome>): void => {
    if (this.#openNext(lane)) setImmediate(this.#openAhead, lane)
  }

  async #waitInParts(lane: Lane<Item, Outcome>, items: readonly Item[]): Promise<Outcome[]> {
    const most = this.#limits.maxBatchInCompany
    const parts: Promise<Outcome[]>[] = []
    for (let from = 0; from < items.length; from += most) parts.push(this.#wait(lane, items.slice(from, from + most)))
    return (await Promise.all(parts)).flat()
  }

  #wait(lane: Lane<Item, Outcome>, items: readonly Item[]): Promise<Outcome[]> {
    const things = Math.ceil(items.length / this.#limits.itemsPerThing)
    const want = this.#turns.arrive(lane.orgId, this.#turns.nowMs(), things)
    lane.openItems += items.length
    return new Promise((resolve, reject) => lane.parts.push({ items, want, things, resolve, reject }))
  }

  async #drain(lane: Lane<Item, Outcome>): Promise<void> {
    lane.isRunning = true
    while (lane.parts.length > 0 || lane.sealed.length > 0) {
      const admitted = this.#gate.enter(lane.orgId, staysHere)
      if (admitted !== undefined) await admitted
      await this.#writeNext(lane)
      this.#gate.leave(lane.orgId)
    }
    lane.isRunning = false
    this.#lanes.delete(lane.orgId)
  }

  async #writeNext(lane: Lane<Item, Outcome>): Promise<void> {
    while (this.#openNext(lane));
    const batch = this.#nextBatch(lane)
    if (batch.length === 0) return
    if (lane.sealed.length > 0) setImmediate(this.#openAhead, lane)
    try {
      const outcomes = await this.#write(
        lane.orgId,
        batch.flatMap((one) => one.items),
      )
      let start = 0
      for (const { items, resolve } of batch) resolve(outcomes.slice(start, (start += items.length)))
    } catch (error) {
      for (const { reject } of batch) reject(error)
    } finally {
      for (const { want, things } of batch) this.#turns.depart(want, things)
    }
  }

  #nextBatch(lane: Lane<Item, Outcome>): Part<Item, Outcome>[] {
    const most = this.#most(lane.orgId)
    const batch: Part<Item, Outcome>[] = []
    let size = 0
    while (lane.parts.length > 0 && (size === 0 || size + lane.parts[0]!.items.length <= most)) {
      const next = lane.parts.shift()!
      batch.push(next)
      size += next.items.length
    }
    lane.openItems -= size
    return batch
  }
}
