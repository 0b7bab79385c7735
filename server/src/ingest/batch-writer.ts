import type { FairQueue } from '../admission/fair-queue.ts'

export interface Message<Item> {
  /** What the message takes in memory while it waits. */
  bytes: number
  /** Decodes the message; called when its items are about to be written. */
  open: () => readonly Item[]
}

interface PendingMessage<Item, Outcome> extends Message<Item> {
  items: readonly Item[] | null
  /** How many items were handed to a batch. */
  taken: number
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

export interface BatchLimits {
  /** The most items of a batch, so that no batch occupies the event loop or a connection for long. */
  batchSize: number
  /** Items that count as one unit of cost in the fair queue. */
  itemsPerCost: number
  maxWaitingBytes: number
  maxWaitingBytesPerTenant: number
}

/** Too much is waiting; the sender should try again later. */
export class BackpressureError extends Error {}

/**
 * Writes messages of one tenant in their order, one batch at a time. A message that arrives alone is written at once;
 * messages that arrive while a batch is being written share the next one. Large messages are split. Tenants share the
 * slots of the fair queue. What waits is bounded in bytes, over all tenants and for each; a tenant with nothing waiting is
 * always accepted.
 */
export class BatchWriter<Item, Outcome> {
  readonly #write: (orgId: number, items: readonly Item[]) => Promise<Outcome[]>
  readonly #limits: BatchLimits
  readonly #queue: FairQueue
  readonly #tenants = new Map<number, Tenant<Item, Outcome>>()
  #waitingBytes = 0

  constructor(
    write: (orgId: number, items: readonly Item[]) => Promise<Outcome[]>,
    limits: BatchLimits,
    queue: FairQueue,
  ) {
    this.#write = write
    this.#limits = limits
    this.#queue = queue
  }

  /** Resolves once every item is durable, with one outcome each. */
  add(orgId: number, { bytes, open }: Message<Item>): Promise<Outcome[]> {
    const known = this.#tenants.get(orgId)
    if (known !== undefined && !this.#hasRoom(known, bytes))
      return Promise.reject(new BackpressureError('too much is waiting'))
    const tenant = known ?? { messages: [], waitingBytes: 0 }
    tenant.waitingBytes += bytes
    this.#waitingBytes += bytes
    const written = new Promise<Outcome[]>((resolve, reject) => {
      tenant.messages.push({ bytes, open, items: null, taken: 0, isFinished: false, outcomes: [], resolve, reject })
    })
    if (known === undefined) {
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
    let batch = this.#nextBatch(tenant)
    while (batch.length > 0) {
      const written = this.#writeBatch(orgId, tenant, batch)
      // The next batch is decoded while the database writes this one.
      await new Promise((resolve) => setImmediate(resolve))
      const next = this.#nextBatch(tenant)
      await written
      // The rest of a message is not written when a part of it failed.
      batch = next.filter(({ message }) => !message.isFinished)
      if (batch.length === 0) batch = this.#nextBatch(tenant)
    }
    this.#tenants.delete(orgId)
  }

  #nextBatch(tenant: Tenant<Item, Outcome>): Chunk<Item, Outcome>[] {
    const batch: Chunk<Item, Outcome>[] = []
    let room = this.#limits.batchSize
    for (const message of [...tenant.messages]) {
      const items = this.#open(tenant, message)
      if (items === null || message.taken === items.length) continue
      const next = items.slice(message.taken, message.taken + room)
      message.taken += next.length
      room -= next.length
      batch.push({ message, items: next })
      if (room === 0) break
    }
    return batch
  }

  /** The message's items; null when it holds none or cannot be decoded, and is done with. */
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

  async #writeBatch(
    orgId: number,
    tenant: Tenant<Item, Outcome>,
    batch: readonly Chunk<Item, Outcome>[],
  ): Promise<void> {
    const items = batch.length === 1 ? batch[0]!.items : batch.flatMap((chunk) => chunk.items)
    const cost = Math.ceil(items.length / this.#limits.itemsPerCost)
    try {
      const outcomes = await this.#queue.run(orgId, cost, () => this.#write(orgId, items))
      let start = 0
      for (const { message, items: written } of batch) {
        for (const outcome of outcomes.slice(start, (start += written.length))) message.outcomes.push(outcome)
        if (message.outcomes.length < message.items!.length) continue
        message.resolve(message.outcomes)
        this.#finish(tenant, message)
      }
    } catch (error) {
      for (const { message } of batch) {
        message.reject(error)
        this.#finish(tenant, message)
      }
    }
  }

  #finish(tenant: Tenant<Item, Outcome>, message: PendingMessage<Item, Outcome>): void {
    message.isFinished = true
    tenant.messages.splice(tenant.messages.indexOf(message), 1)
    tenant.waitingBytes -= message.bytes
    this.#waitingBytes -= message.bytes
  }
}
