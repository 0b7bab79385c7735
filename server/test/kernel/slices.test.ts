import fc from 'fast-check'
import { expect, it } from 'vitest'
import { inSlices, sortSteps } from '../../src/kernel/slices.ts'
import { longestTickMs } from '../support/event-loop.ts'

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

// The garbage collector may take longer than a slice, in a run of all tests even 180 ms.
it('A sort of 200,000 texts lets other work run', { retry: 3 }, async () => {
  const texts = Array.from({ length: 200_000 }, (_, index) => `rfid e280${(index * 7919) % 200_003}`)
  let sorted: string[] = []
  const delayMs = await longestTickMs(
    async () => (sorted = await inSlices(sortSteps(texts, (a, b) => (a < b ? -1 : 1)))),
  )
  expect(sorted.every((text, index) => index === 0 || sorted[index - 1]! < text)).toBe(true)
  expect(delayMs).toBeLessThan(150)
})
