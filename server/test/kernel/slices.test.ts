import { setImmediate as nextTick } from 'node:timers/promises'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { inSlices, sortSteps } from '../../src/kernel/slices.ts'

it('A list that is sorted in slices has the order of a sort in one piece', async () => {
  const compare = (a: [number, number], b: [number, number]): number => a[0] - b[0]
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(500), { maxLength: 5000, size: 'max' }), async (numbers) => {
      const items = numbers.map((number, index): [number, number] => [number, index])
      expect(await inSlices(sortSteps(items, compare))).toEqual([...items].sort(compare))
    }),
    { numRuns: 20 },
  )
})

it('A sort of 200,000 texts does little work at a time, and lets other work run in between', async () => {
  const texts = Array.from({ length: 200_000 }, (_, index) => `rfid e280${(index * 7919) % 200_003}`)
  let [comparisons, mostComparisons, ticks] = [0, 0, 0]
  function* countedSteps(): Generator<void, string[], void> {
    const steps = sortSteps(texts, (a, b) => (comparisons++, a < b ? -1 : 1))
    for (;;) {
      comparisons = 0
      const { done, value } = steps.next()
      mostComparisons = Math.max(mostComparisons, comparisons)
      if (done === true) return value
      yield
    }
  }
  let isSorted = false
  const countTicks = async (): Promise<void> => {
    for (; !isSorted; ticks++) await nextTick()
  }
  const counting = countTicks()
  const sorted = await inSlices(countedSteps())
  isSorted = true
  await counting
  expect(sorted.every((text, index) => index === 0 || sorted[index - 1]! < text)).toBe(true)
  // A run of 1,024 texts takes at most 11 comparisons for each; a sort in one piece takes more than 3 million.
  expect(mostComparisons).toBeLessThanOrEqual(11 * 1024)
  expect(ticks).toBeGreaterThan(5)
})
