import { describe, expect, it } from 'vitest'
import { Gate, boundless } from '../../src/http/gate.ts'
import { Turns, noTurns } from '../../src/http/turns.ts'
import { Batches, Overloaded } from '../../src/ingest/batches.ts'

interface Writing {
  orgId: number
  items: readonly number[]
  finish: () => void
  fail: (error: Error) => void
}

/** Batches whose writings end when the test says so; the outcome of an item is ten times the item. */
function held(limits = { maxBatch: 10, maxWaiting: 100 }, turns = noTurns()) {
  const writings: Writing[] = []
  const batches = new Batches<number, number>(
    (orgId, items) =>
      new Promise((resolve, reject) => {
        const finish = (): void => resolve(items.map((item) => item * 10))
        writings.push({ orgId, items, finish, fail: reject })
      }),
    { maxBatchInCompany: 4, itemsPerThing: 2, ...limits },
    turns,
  )
  const opened: (readonly number[])[] = []
  const add = (orgId: number, items: readonly number[]): Promise<number[]> =>
    batches.add(orgId, { weight: items.length, open: () => (opened.push(items), items) })
  return { batches, add, writings, opened }
}

const settled = async (promise: Promise<unknown>): Promise<boolean> => {
  const nothing = Symbol('nothing')
  await new Promise((resume) => setImmediate(resume))
  return (await Promise.race([promise.catch(() => undefined), Promise.resolve(nothing)])) !== nothing
}

const turn = (): Promise<void> => new Promise((resume) => setImmediate(resume))

describe('batches', () => {
  it('write a message at once when nothing is being written', () => {
    const { add, writings } = held()
    void add(1, [1, 2])
    expect(writings.map((one) => [one.orgId, one.items])).toEqual([[1, [1, 2]]])
  })

  it('answer only when what they were given is written', async () => {
    const { add, writings } = held()
    const added = add(1, [1])
    expect(await settled(added)).toBe(false)
    writings[0]!.finish()
    expect(await added).toEqual([10])
  })

  it('gather what comes meanwhile and give everybody the outcomes of their own items', async () => {
    const { add, writings } = held()
    const first = add(1, [1])
    const rest = [add(1, [2, 3]), add(1, [4]), add(1, [5, 6, 7])]
    expect(writings).toHaveLength(1)
    writings[0]!.finish()
    expect(await first).toEqual([10])
    await turn()
    expect(writings[1]!.items).toEqual([2, 3, 4, 5, 6, 7])
    writings[1]!.finish()
    expect(await Promise.all(rest)).toEqual([[20, 30], [40], [50, 60, 70]])
  })

  it('keep the order of an organization, one batch after the other', async () => {
    const { add, writings } = held({ maxBatch: 2, maxWaiting: 100 })
    const all = [1, 2, 3, 4, 5].map((item) => add(1, [item]))
    for (let index = 0; index < 3; index++) {
      await turn()
      expect(writings).toHaveLength(index + 1)
      writings[index]!.finish()
    }
    await Promise.all(all)
    expect(writings.map((one) => one.items)).toEqual([[1], [2, 3], [4, 5]])
  })

  it('split no message while an organization has the process to itself', async () => {
    const { add, writings } = held({ maxBatch: 6, maxWaiting: 100 })
    const all = [add(1, [1]), add(1, [2, 3, 4, 5, 6]), add(1, [7, 8])]
    for (let index = 0; index < 3; index++) {
      await turn()
      writings[index]?.finish()
    }
    expect(await Promise.all(all)).toEqual([[10], [20, 30, 40, 50, 60], [70, 80]])
    expect(writings.map((one) => one.items)).toEqual([[1], [2, 3, 4, 5, 6], [7, 8]])
  })

  it('write a large message in parts while another organization asks too, and answer when all are written', async () => {
    const { add, writings } = held({ maxBatch: 10, maxWaiting: 100 }, new Turns({ atOnce: 1, calm: 1 }, () => 0))
    void add(2, [7])
    const large = add(1, [1, 2, 3, 4, 5, 6, 7, 8, 9])
    for (const items of [[1, 2, 3, 4], [5, 6, 7, 8], [9]]) {
      expect(await settled(large)).toBe(false)
      expect(writings.at(-1)!.items).toEqual(items)
      writings.at(-1)!.finish()
      await turn()
    }
    expect(await large).toEqual([10, 20, 30, 40, 50, 60, 70, 80, 90])
  })

  it('tell the sender of a large message that a part of it failed, and write the parts behind it', async () => {
    const { add, writings } = held({ maxBatch: 10, maxWaiting: 9 }, new Turns({ atOnce: 1, calm: 1 }, () => 0))
    void add(2, [7])
    writings[0]!.finish()
    await turn()
    const large = add(1, [1, 2, 3, 4, 5, 6, 7, 8, 9])
    writings[1]!.fail(new Error('disk full'))
    await expect(large).rejects.toThrow('disk full')
    for (const index of [2, 3]) {
      await turn()
      writings[index]!.finish()
    }
    await turn()
    expect(writings.map((one) => one.items)).toEqual([[7], [1, 2, 3, 4], [5, 6, 7, 8], [9]])
    void add(1, [1, 2, 3, 4, 5, 6, 7, 8, 9])
    expect(writings).toHaveLength(5)
  })

  it('let no organization wait for another', async () => {
    const { add, writings } = held()
    const slow = add(1, [1])
    const quick = add(2, [2])
    expect(writings.map((one) => one.orgId)).toEqual([1, 2])
    writings[1]!.finish()
    expect(await quick).toEqual([20])
    expect(await settled(slow)).toBe(false)
    writings[0]!.finish()
    expect(await slow).toEqual([10])
  })

  it('tell everybody in a batch that it failed, and go on with the next', async () => {
    const { add, writings } = held()
    const first = add(1, [1])
    const doomed = [add(1, [2]), add(1, [3])]
    writings[0]!.finish()
    await first
    await turn()
    const later = add(1, [4])
    writings[1]!.fail(new Error('disk full'))
    for (const one of doomed) await expect(one).rejects.toThrow('disk full')
    await turn()
    expect(writings[2]!.items).toEqual([4])
    writings[2]!.finish()
    expect(await later).toEqual([40])
  })

  it('have nothing to do for nothing', async () => {
    const { add, writings } = held()
    expect(await add(1, [])).toEqual([])
    expect(writings).toEqual([])
  })

  it('refuse what is over the bound at once, whoever sends it, and take more when there is room', async () => {
    const { add, writings } = held({ maxBatch: 10, maxWaiting: 3 })
    const first = add(1, [1, 2])
    await expect(add(1, [3, 4])).rejects.toBeInstanceOf(Overloaded)
    await expect(add(2, [3, 4])).rejects.toBeInstanceOf(Overloaded)
    const fits = add(2, [5])
    await expect(add(3, [6])).rejects.toBeInstanceOf(Overloaded)
    writings[0]!.finish()
    writings[1]!.finish()
    expect(await Promise.all([first, fits])).toEqual([[10, 20], [50]])
    await turn()
    const again = add(3, [7, 8, 9])
    writings[2]!.finish()
    expect(await again).toEqual([70, 80, 90])
  })

  it('free the room that a failed batch took', async () => {
    const { add, writings } = held({ maxBatch: 10, maxWaiting: 2 })
    const first = add(1, [1, 2])
    writings[0]!.fail(new Error('no'))
    await expect(first).rejects.toThrow('no')
    await turn()
    void add(1, [3, 4])
    expect(writings[1]!.items).toEqual([3, 4])
  })

  it('are small while another organization asks too, one after the other', async () => {
    const { add, writings } = held(undefined, new Turns({ atOnce: 1, calm: 1 }, () => 0))
    void add(1, [1])
    void add(2, [7])
    for (const item of [2, 3, 4, 5, 6]) void add(1, [item])
    writings[0]!.finish()
    await turn()
    expect(writings.map((one) => [one.orgId, one.items])).toEqual([
      [1, [1]],
      [2, [7]],
      [1, [2, 3, 4, 5]],
    ])
    writings[2]!.finish()
    await turn()
    expect(writings[3]!.items).toEqual([6])
  })

  it('rest between the parts of a large message while another organization asks too, and not for a small one', async () => {
    let nowMs = 0
    const rests: { ms: number; end: () => void }[] = []
    const turns = new Turns(
      { atOnce: 1, calm: 2, burstMs: 500 },
      () => nowMs,
      (end, ms) => rests.push({ ms, end }),
    )
    const { add, writings } = held(undefined, turns)
    const small = add(2, [7, 8])
    const large = add(1, [1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3])
    const written = (from = 0): (readonly number[])[] => writings.slice(from).map((one) => one.items)
    expect(written()).toEqual([
      [7, 8],
      [1, 1, 1, 1],
    ])
    const later = add(2, [9])
    nowMs = 5
    for (const writing of [...writings]) writing.finish()
    await turn()
    expect(rests.map(({ ms }) => ms)).toEqual([25])
    expect(written(2)).toEqual([[9]])
    rests[0]!.end()
    await turn()
    expect(written(3)).toEqual([[2, 2, 2, 2]])
    writings[2]!.finish()
    writings[3]!.finish()
    await turn()
    // What is left is not much.
    expect([written(4), rests.length]).toEqual([[[3, 3, 3, 3]], 1])
    writings[4]!.finish()
    expect(await Promise.all([small, later])).toEqual([[70, 80], [90]])
    expect(await large).toEqual([10, 10, 10, 10, 20, 20, 20, 20, 30, 30, 30, 30])
  })

  it('wait for the turn of their organization, and gather meanwhile what comes', async () => {
    const turns = new Turns({ atOnce: 1, calm: 1 }, () => 0)
    const api = new Gate(boundless, turns)
    const { add, writings } = held(undefined, turns)
    void api.enter(2, () => false)
    void api.enter(1, () => false)
    void add(1, [1])
    void add(1, [2])
    expect(writings).toEqual([])
    api.leave(1)
    await turn()
    expect(writings.map((one) => one.items)).toEqual([[1, 2]])
  })

  it('open messages as they come, as far as the next batch has room, and further ones while it is being written', async () => {
    const { add, writings, opened } = held({ maxBatch: 3, maxWaiting: 100 })
    const all = [[1], [2, 3], [4, 5], [6], [7, 8]].map((items) => add(1, items))
    expect(writings.map((one) => one.items)).toEqual([[1]])
    expect(opened).toEqual([[1], [2, 3], [4, 5]])
    writings[0]!.finish()
    await all[0]
    expect(writings[1]!.items).toEqual([2, 3])
    expect(opened).toHaveLength(3)
    await turn()
    await turn()
    expect(opened).toEqual([[1], [2, 3], [4, 5], [6]])
    for (const index of [1, 2, 3]) {
      writings[index]!.finish()
      await turn()
    }
    expect(await Promise.all(all)).toEqual([[10], [20, 30], [40, 50], [60], [70, 80]])
    expect(writings.map((one) => one.items)).toEqual([[1], [2, 3], [4, 5, 6], [7, 8]])
  })

  it('open one batch ahead and no more while another organization asks too', async () => {
    const { add, writings, opened } = held(undefined, new Turns({ atOnce: 1, calm: 1 }, () => 0))
    void add(2, [7])
    for (const item of [1, 2, 3]) void add(1, [item, item, item, item])
    await turn()
    await turn()
    expect(opened).toEqual([[7], [1, 1, 1, 1], [2, 2, 2, 2]])
    writings[1]!.finish()
    await turn()
    await turn()
    expect(writings[2]!.items).toEqual([2, 2, 2, 2])
    expect(opened.at(-1)).toEqual([3, 3, 3, 3])
  })

  it('tell the sender of a message that cannot be opened, and nobody else', async () => {
    const { batches, add, writings } = held()
    const open = (): number[] => {
      throw new Error('torn')
    }
    const first = add(1, [1])
    const torn = batches.add(1, { weight: 1, open })
    const last = add(1, [2])
    await expect(torn).rejects.toThrow('torn')
    for (const index of [0, 1]) {
      writings[index]!.finish()
      await turn()
    }
    expect(await Promise.all([first, last])).toEqual([[10], [20]])
  })

  it('count what waits unopened against the bound, and the turns of its organization', async () => {
    const turns = new Turns({ atOnce: 1, calm: 2 }, () => 0)
    const { add, writings, opened } = held({ maxBatch: 1, maxWaiting: 4 }, turns)
    const all = [1, 2, 3, 4].map((item) => add(1, [item]))
    expect(opened).toEqual([[1], [2]])
    await expect(add(1, [5])).rejects.toBeInstanceOf(Overloaded)
    const want = turns.arrive(1, 0)
    expect(want.count).toBe(6)
    turns.depart(want)
    for (let index = 0; index < 4; index++) {
      writings[index]!.finish()
      await turn()
    }
    await Promise.all(all)
    expect(turns.arrive(1, 0).count).toBe(1)
  })
})
