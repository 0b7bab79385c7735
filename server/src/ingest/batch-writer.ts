import { setImmediate as nextTick } from 'node:timers/promises'
import type { FairQueue } from '../admission/fair-queue.ts'
import { ApiError } from '../kernel/errors.ts'

export interface Message<Item> {
  /** The memory that the message occupies while it waits. */
  bytes: number
  /** Decodes the message; called when its items are about to be written. */
  open: () => readonly Item[]
}

interface PendingMessage<Item, Outcome> extends Message<Item> {
  items: readonly Item[] | null
  /** The number of items that were added to a batch. */
  batchedCount: number
  isFinished: boolean
  readonly outcomes: Outcome[]
  readonly resolve: (outcomes: Outcome[]) => void
  readonly reject: (error: unknown) => void
}

/** The next items of a message. */
interface Chunk<Item, Outcome> {
  readonly message: PendingMessage<Item, Outcome>
  readonly items: readonly Item[]
}

interface Tenant<Item, Outcome> {
  readonly messages: PendingMessage<Item, Outcome>[]
  waitingBytes: number
}

export interface BatchLimits<Item> {
  /** The maximum number of items per batch, so that no batch occupies the event loop for long. */
  batchSize: number
  /** The maximum number of different keys per batch, so that no batch occupies a connection for long. */
  keysPerBatch: number
  /** Items with equal keys take the database about as much work as one item. */
  keyOf: (item: Item) => string
  /** Messages with more bytes than this are not decoded in one event-loop tick, except a single one. */
  bytesPerTick: number
  /** Items that count as one unit of cost in the fair queue. */
  itemsPerCost: number
  maxWaitingBytes: number
  maxWaitingBytesPerTenant: number
}

/** Too many bytes wait, or a batch waited too long for a slot or in the database; the sender should retry later. */
export class BackpressureError extends Error {}

/**
 * Writes the messages of each tenant in order, one batch at a time. A message that arrives while no batch is in flight is
 * written immediately; messages that arrive while a batch is in flight share the next one. Large messages are split.
 * Tenants share the slots of the fair queue. The waiting bytes are limited in total and per tenant; a message of a tenant
 * without waiting messages is always accepted.
 */
export class BatchWriter<Item, Outcome> {
  readonly #write: (orgId: number, items: readonly Item[]) => Promise<Outcome[]>
  readonly #limits: BatchLimits<Item>
  readonly #queue: FairQueue
  readonly #tenants = new Map<number, Tenant<Item, Outcome>>()
  #waitingBytes = 0

  constructor(
    write: (orgId: number, items: readonly Item[]) => Promise<Outcome[]>,
    limits: BatchLimits<Item>,
    queue: FairQueue,
  ) {
    this.#write = write
    this.#limits = limits
    this.#queue = queue
  }

  get waitingBytes(): number {
    return this.#waitingBytes
  }

  /** Resolves with one outcome per item when all items are durable. */
  add(orgId: number, { bytes, open }: Message<Item>): Promise<Outcome[]> {
    const active = this.#tenants.get(orgId)
    if (active !== undefined && !this.#hasRoom(active, bytes))
      return Promise.reject(new BackpressureError('too many bytes are waiting'))
    const tenant = active ?? { messages: [], waitingBytes: 0 }
    tenant.waitingBytes += bytes
    this.#waitingBytes += bytes
    const written = new Promise<Outcome[]>((resolve, reject) => {
      tenant.messages.push({
        bytes,
        open,
        items: null,
        batchedCount: 0,
        isFinished: false,
        outcomes: [],
        resolve,
        reject,
      })
    })
    if (active === undefined) {
      this.#tenants.set(orgId, tenant)
      void this.#drain(orgId, tenant)
    }
    return written
  }

  #hasRoom({ waitingBytes }: Tenant<Item, Outcome>, bytes: number): boolean {
    const { maxWaitingBytes, maxWaitingBytesPerTenant } = this.#limits
    return waitingBytes + bytes <= maxWaitingBytesPerTenant && this.#waitingBytes + bytes <= maxWaitingBytes
  }

  async #drain(orgId: number, tenant: Tenant<Item, Outcome>): Promise<void> {
    let batch = await this.#nextBatch(tenant)
    let finishPrevious = (): void => undefined
    while (tenant.messages.length > 0) {
      const written = this.#writeBatch(orgId, tenant, batch)
      // While the database writes this batch, the previous one is answered and the next one decoded.
      await nextTick()
      finishPrevious()
      const next = await this.#nextBatch(tenant)
      finishPrevious = await written
      // The rest of a message is not written when a part of it failed.
      batch = next.filter(({ message }) => !message.isFinished)
      if (batch.length === 0) batch = await this.#nextBatch(tenant)
    }
    this.#tenants.delete(orgId)
  }

  async #nextBatch(tenant: Tenant<Item, Outcome>): Promise<Chunk<Item, Outcome>[]> {
    const batch: Chunk<Item, Outcome>[] = []
    const { batchSize, keysPerBatch, keyOf } = this.#limits
    const keys = new Set<string>()
    let size = 0
    let openedBytes = 0
    for (const message of [...tenant.messages]) {
      if (size === batchSize) break
      if (message.items === null) {
        if (openedBytes > 0 && openedBytes + message.bytes > this.#limits.bytesPerTick) {
          await nextTick()
          openedBytes = 0
        }
        openedBytes += message.bytes
      }
      // The write of its first part may have failed meanwhile.
      if (message.isFinished) continue
      const items = this.#open(tenant, message)
      if (items === null || message.batchedCount === items.length) continue
      const start = message.batchedCount
      for (; message.batchedCount < items.length && size < batchSize; message.batchedCount++, size++) {
        keys.add(keyOf(items[message.batchedCount]!))
        if (keys.size > keysPerBatch) break
      }
      if (message.batchedCount > start) batch.push({ message, items: items.slice(start, message.batchedCount) })
      if (message.batchedCount < items.length) break
    }
    return batch
  }

  /** The items of the message. Returns null and finishes the message when it has no items or cannot be decoded. */
  #open(tenant: Tenant<Item, Outcome>, message: PendingMessage<Item, Outcome>): readonly Item[] | null {
    try {
      message.items ??= message.open()
      if (message.items.length > 0) return message.items
      message.resolve([])
    } catch (error) {
      message.reject(error)
    }
    this.#finish(tenant, message)
    return null
  }

  /** Returns a function that answers the messages that are written completely. */
  async #writeBatch(
    orgId: number,
    tenant: Tenant<Item, Outcome>,
    batch: readonly Chunk<Item, Outcome>[],
  ): Promise<() => void> {
    if (batch.length === 0) return () => undefined
    const items = batch.length === 1 ? batch[0]!.items : batch.flatMap((chunk) => chunk.items)
    const cost = Math.ceil(items.length / this.#limits.itemsPerCost)
    try {
      const outcomes = await this.#queue.run(orgId, cost, () => this.#write(orgId, items))
      return () => {
        let start = 0
        for (const { message, items: written } of batch) {
          for (const outcome of outcomes.slice(start, (start += written.length))) message.outcomes.push(outcome)
          if (message.outcomes.length < message.items!.length) continue
          message.resolve(message.outcomes)
          this.#finish(tenant, message)
        }
      }
    } catch (error) {
      const isBusy = error instanceof ApiError && error.kind === 'rate_limited'
      const reason = isBusy ? new BackpressureError('the batch waited too long', { cause: error }) : error
      for (const { message } of batch) {
        message.reject(reason)
        this.#finish(tenant, message)
      }
      return () => undefined
    }
  }

  #finish(tenant: Tenant<Item, Outcome>, message: PendingMessage<Item, Outcome>): void {
    message.isFinished = true
    tenant.messages.splice(tenant.messages.indexOf(message), 1)
    tenant.waitingBytes -= message.bytes
    this.#waitingBytes -= message.bytes
  }
}
