import { setImmediate as nextTick } from 'node:timers/promises'

/** How long a computation keeps the event loop before other requests continue. */
const sliceMs = 5

/** Runs a computation that yields after every small step, so that it can be spread over many event-loop ticks. */
export async function inSlices<Result>(steps: Generator<void, Result, void>): Promise<Result> {
  for (let endMs = performance.now() + sliceMs; ;) {
    const { done, value } = steps.next()
    if (done === true) return value
    if (performance.now() < endMs) continue
    await nextTick()
    endMs = performance.now() + sliceMs
  }
}

/** Maps the items, one after the other. */
export function* mapSteps<Item, Result>(
  items: readonly Item[],
  map: (item: Item, index: number) => Result,
): Generator<void, Result[], void> {
  const mapped: Result[] = []
  for (const [index, item] of items.entries()) {
    mapped.push(map(item, index))
    yield
  }
  return mapped
}

/** Sorting a run of this length takes less than a slice. */
const runLength = 1024

/** Sorts the items into a new list: runs first, then pairs of runs are merged. The order of equal items is kept. */
export function* sortSteps<Item>(
  items: readonly Item[],
  compare: (a: Item, b: Item) => number,
): Generator<void, Item[], void> {
  let runs: Item[][] = []
  for (let start = 0; start < items.length; start += runLength) {
    runs.push(items.slice(start, start + runLength).sort(compare))
    yield
  }
  while (runs.length > 1) {
    const longer: Item[][] = []
    for (let index = 0; index < runs.length; index += 2)
      longer.push(yield* mergeSteps(runs[index]!, runs[index + 1] ?? [], compare))
    runs = longer
  }
  return runs[0] ?? []
}

function* mergeSteps<Item>(
  left: readonly Item[],
  right: readonly Item[],
  compare: (a: Item, b: Item) => number,
): Generator<void, Item[], void> {
  const merged: Item[] = []
  let [fromLeft, fromRight] = [0, 0]
  while (merged.length < left.length + right.length) {
    const isLeftNext =
      fromRight === right.length || (fromLeft < left.length && compare(left[fromLeft]!, right[fromRight]!) <= 0)
    merged.push(isLeftNext ? left[fromLeft++]! : right[fromRight++]!)
    yield
  }
  return merged
}
