import { describe, expect, it } from 'vitest'
import { FairQueue } from '../../src/admission/fair-queue.ts'
import { BackpressureError, BatchWriter } from '../../src/ingest/batch-writer.ts'

interface Write {
  orgId: number
  items: readonly number[]
  finish: () => void
  fail: (error: Error) => void
}

const defaults = {
  batchSize: 4,
  keysPerBatch: 4,
  keyOf: String,
  bytesPerTick: 100,
  itemsPerCost: 2,
  maxWaitingBytes: 100,
  maxWaitingBytesPerTenant: 50,
}

/** A writer whose writes end when the test releases them; the result of an item is ten times the item. */
function held(limits: Partial<typeof defaults> = {}, queue = new FairQueue({ maxInFlight: 4 })) {
  const writes: Write[] = []
  const writer = new BatchWriter<number, number>(
    (orgId, items) =>
      new Promise((resolve, reject) => {
        const finish = (): void => resolve(items.map((item) => item * 10))
        writes.push({ orgId, items, finish, fail: reject })
      }),
    { ...defaults, ...limits },
    queue,
  )
  const opened: (readonly number[])[] = []
  const add = (orgId: number, items: readonly number[]): Promise<number[]> =>
    writer.add(orgId, { bytes: items.length, open: () => (opened.push(items), items) })
  const finish = async (...indexes: number[]): Promise<void> => {
    for (const index of indexes) {
      writes[index]!.finish()
      await tick()
    }
  }
  const written = (): (readonly number[])[] => writes.map((one) => one.items)
  return { writer, add, writes, opened, finish, written }
}

const tick = (): Promise<void> => new Promise((resume) => setImmediate(resume))

async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const nothing = Symbol('nothing')
  await tick()
  return (await Promise.race([promise.catch(() => undefined), Promise.resolve(nothing)])) !== nothing
}

describe('The batch writer', () => {
  it('writes a message at once when nothing is being written', async () => {
    const { add, writes } = held()
    void add(1, [1, 2])
    await tick()
    expect(writes.map((one) => [one.orgId, one.items])).toEqual([[1, [1, 2]]])
  })

  it('answers only when the items are written', async () => {
    const { add, finish } = held()
    const added = add(1, [1])
    expect(await isSettled(added)).toBe(false)
    await finish(0)
    expect(await added).toEqual([10])
  })

  it('writes items that arrive meanwhile as one batch and gives every sender the results of its own items', async () => {
    const { add, finish, written } = held({ batchSize: 10, keysPerBatch: 10 })
    const all = [add(1, [1])]
    await tick()
    all.push(add(1, [2, 3]), add(1, [4]), add(1, [5, 6, 7]))
    await finish(0, 1)
    expect(await Promise.all(all)).toEqual([[10], [20, 30], [40], [50, 60, 70]])
    expect(written()).toEqual([[1], [2, 3, 4, 5, 6, 7]])
  })

  it('keeps the order of each organization and splits messages into batches of bounded size', async () => {
    const { add, finish, written } = held()
    const all = [add(1, [1, 2, 3, 4, 5, 6]), add(1, [7, 8, 9]), add(1, [10])]
    await tick()
    await finish(0, 1, 2)
    expect(await Promise.all(all)).toEqual([[10, 20, 30, 40, 50, 60], [70, 80, 90], [100]])
    expect(written()).toEqual([
      [1, 2, 3, 4],
      [5, 6, 7, 8],
      [9, 10],
    ])
  })

  it('limits a batch by its different keys, and by its items', async () => {
    const { add, finish, written } = held({ batchSize: 6, keysPerBatch: 2 })
    const all = [add(1, [1, 1, 1, 2]), add(1, [2, 3]), add(1, [3, 3, 3, 3, 3, 3, 3])]
    await tick()
    await finish(0, 1, 2)
    expect(await Promise.all(all)).toEqual([
      [10, 10, 10, 20],
      [20, 30],
      [30, 30, 30, 30, 30, 30, 30],
    ])
    expect(written()).toEqual([
      [1, 1, 1, 2],
      [2, 3, 3, 3, 3, 3],
      [3, 3, 3],
    ])
  })

  it('sends the next batch before it answers the messages of the previous one', async () => {
    const events: string[] = []
    const writer = new BatchWriter<number, number>(
      async (_orgId, items) => {
        events.push(`write ${items[0]}`)
        await tick()
        return [...items]
      },
      { ...defaults, batchSize: 1 },
      new FairQueue({ maxInFlight: 1 }),
    )
    const add = async (item: number): Promise<void> => {
      await writer.add(1, { bytes: 1, open: () => [item] })
      events.push(`answer ${item}`)
    }
    await Promise.all([add(1), add(2), add(3)])
    expect(events).toEqual(['write 1', 'write 2', 'answer 1', 'write 3', 'answer 2', 'answer 3'])
  })

  it('rejects a message when a batch of it failed, and writes no further items of it', async () => {
    const { add, writes, finish, written } = held()
    const large = add(1, [1, 2, 3, 4, 5, 6])
    const next = add(1, [7])
    await tick()
    writes[0]!.fail(new Error('disk full'))
    await expect(large).rejects.toThrow('disk full')
    await tick()
    await finish(1)
    expect(await next).toEqual([70])
    expect(written()).toEqual([[1, 2, 3, 4], [7]])
  })

  it('rejects every message of a failed batch and continues with the next', async () => {
    const { add, writes, finish } = held()
    const failing = [add(1, [1]), add(1, [2])]
    await tick()
    const later = add(1, [3])
    writes[0]!.fail(new Error('disk full'))
    await expect(failing[0]).rejects.toThrow('disk full')
    await tick()
    await finish(1)
    writes[2]?.finish()
    expect(await later).toEqual([30])
  })

  it('does not make an organization wait for the slow batch of another', async () => {
    const { add, writes, finish } = held()
    const slow = add(1, [1])
    const quick = add(2, [2])
    await tick()
    expect(writes.map((one) => one.orgId)).toEqual([1, 2])
    await finish(1)
    expect(await quick).toEqual([20])
    expect(await isSettled(slow)).toBe(false)
  })

  it('shares the slots among organizations in turn', async () => {
    const { add, writes, finish } = held({}, new FairQueue({ maxInFlight: 1 }))
    for (const item of [1, 2, 3]) void add(1, [item, item, item, item])
    for (const item of [7, 8]) void add(2, [item, item, item, item])
    await tick()
    await finish(0, 1, 2, 3)
    expect(writes.map((one) => one.orgId)).toEqual([1, 2, 1, 2, 1])
  })

  it('decodes messages one batch ahead and no further', async () => {
    const { add, opened, finish } = held({ batchSize: 2 })
    for (const item of [1, 2, 3]) void add(1, [item, item])
    expect(opened).toEqual([[1, 1]])
    await tick()
    await tick()
    expect(opened).toHaveLength(2)
    await finish(0)
    await tick()
    expect(opened).toHaveLength(3)
  })

  it('writes nothing for a message without items', async () => {
    const { add, writes } = held()
    expect(await add(1, [])).toEqual([])
    expect(writes).toEqual([])
  })

  it('rejects a message that cannot be decoded, and no other', async () => {
    const { writer, add, finish } = held()
    const open = (): number[] => {
      throw new Error('torn')
    }
    const torn = writer.add(1, { bytes: 1, open })
    const fine = add(1, [2])
    await expect(torn).rejects.toThrow('torn')
    await tick()
    await finish(0)
    expect(await fine).toEqual([20])
  })

  it('rejects messages beyond the byte limit of the tenant or in total, but never the first message of a tenant', async () => {
    const { add, finish } = held({ maxWaitingBytes: 6, maxWaitingBytesPerTenant: 4 })
    const first = add(1, [1, 2, 3])
    await expect(add(1, [4, 5])).rejects.toBeInstanceOf(BackpressureError)
    const second = add(2, [6, 7, 8])
    await expect(add(2, [9])).rejects.toBeInstanceOf(BackpressureError)
    const third = add(3, [1])
    await tick()
    await finish(0, 1, 2)
    expect(await Promise.all([first, second, third])).toEqual([[10, 20, 30], [60, 70, 80], [10]])
    const again = add(1, [1, 2, 3, 4])
    await tick()
    await finish(3)
    expect(await again).toEqual([10, 20, 30, 40])
  })

  it('rejects the messages of a batch that waited too long for a slot, and continues with the next', async () => {
    const { add, finish, written } = held({}, new FairQueue({ maxInFlight: 1, timeoutMs: 20 }))
    const slow = add(1, [1])
    await tick()
    await expect(add(2, [2])).rejects.toBeInstanceOf(BackpressureError)
    await finish(0)
    expect(await slow).toEqual([10])
    const next = add(2, [3])
    await tick()
    await finish(1)
    expect(await next).toEqual([30])
    expect(written()).toEqual([[1], [3]])
  })

  it('frees the bytes of a failed batch', async () => {
    const { add, writes, finish } = held({ maxWaitingBytes: 2, maxWaitingBytesPerTenant: 2 })
    const first = add(1, [1, 2])
    await tick()
    writes[0]!.fail(new Error('no'))
    await expect(first).rejects.toThrow('no')
    await tick()
    const next = add(1, [3, 4])
    await tick()
    await finish(1)
    expect(await next).toEqual([30, 40])
  })

  it('decodes large messages in several event-loop ticks, also when they contain nothing', async () => {
    const { writer } = held({ bytesPerTick: 10 })
    const decodedAt: number[] = []
    let ticks = 0
    let isDone = false
    const count = async (): Promise<void> => {
      for (; !isDone; ticks++) await tick()
    }
    const counting = count()
    const open = (): readonly number[] => (decodedAt.push(ticks), [])
    const all = [30, 5, 5, 5, 2].map((bytes) => writer.add(1, { bytes, open }))
    expect(await Promise.all(all)).toEqual([[], [], [], [], []])
    isDone = true
    await counting
    // Those of 5 bytes fit into one tick in pairs.
    const gaps = decodedAt.slice(1).map((at, index) => at > decodedAt[index]!)
    expect(gaps).toEqual([true, false, true, false])
    expect(writer.waitingBytes).toBe(0)
  })
})
