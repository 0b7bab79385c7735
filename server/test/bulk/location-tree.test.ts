import { describe, expect, it } from 'vitest'
import { type Placement, orderByParent } from '../../src/bulk/location-tree.ts'
import { longestTickMs } from '../support/event-loop.ts'

const key = (index: number): string => `L${index}`

const placement = (index: number, parentKey: string | null, isNew = true): Placement => ({
  ...{ line: index + 1, bytes: 50, externalKey: key(index), parentKey, isNew, isMoved: true },
})

/** Each location is the parent of the next one; the first one has this parent. */
const chain = (count: number, rootParent: string | null): Placement[] =>
  Array.from({ length: count }, (_, index) => placement(index, index === 0 ? rootParent : key(index - 1)))

const messagesByLine = (errors: readonly { line: number; message: string }[]): [number, string][] =>
  errors.map(({ line, message }) => [line, message])

describe('The order of the locations of a file', () => {
  it('rejects a location whose parent is missing, and every location that would be created below it', async () => {
    const missing = 'parent_external_key does not name a location'
    const { levels, errors } = await orderByParent(
      [...chain(3, 'NOWHERE'), placement(3, null), placement(4, key(3))],
      new Map(),
    )
    expect(messagesByLine(errors)).toEqual([
      [1, missing],
      [2, missing],
      [3, missing],
    ])
    expect(levels.map((level) => level.map(({ line }) => line))).toEqual([[4], [5]])
  })

  it('keeps a row below an existing location whose own move is rejected', async () => {
    const tree = new Map([[key(0), { id: 1, parentKey: null }]])
    const { levels, errors } = await orderByParent([placement(0, 'NOWHERE', false), placement(1, key(0))], tree)
    expect(errors.map(({ line }) => line)).toEqual([1])
    expect(levels.flat().map(({ line }) => line)).toEqual([2])
  })

  it.each([
    ['a missing parent', 'NOWHERE', new Map(), 'parent_external_key does not name a location'],
    ['a cycle', key(99_999), new Map(), 'A location cannot be placed inside itself or one of its descendants'],
    ['too many levels', null, new Map(), 'A tree of locations has at most 64 levels'],
  ])(
    'takes linear time for a chain of 100,000 locations with %s, in steps that let other requests run',
    { retry: 3 },
    async (_case, rootParent, tree, message) => {
      const rows = chain(100_000, rootParent)
      let errors: readonly { line: number; message: string }[] = []
      const delayMs = await longestTickMs(async () => ({ errors } = await orderByParent(rows, tree)))
      expect(errors.length).toBeGreaterThan(99_900)
      expect(new Set(errors.map((error) => error.message))).toEqual(new Set([message]))
      expect(delayMs).toBeLessThan(150)
    },
  )

  it('rejects the other moves when each rejected move leads to another cycle', { retry: 3 }, async () => {
    // Existing pairs A(i) below B(i). The file puts each B(i) below A(i + 1) and each A(i + 1) below A(i), so that the
    // rejection of A(i) leaves B(i) below A(i + 1) below A(i) below B(i).
    const pairs = 5_000
    const rows = [{ ...placement(0, 'NOWHERE', false), externalKey: 'A0' }]
    const tree = new Map<string, { id: number; parentKey: string | null }>()
    for (let index = 0; index < pairs; index++) {
      tree.set(`A${index}`, { id: 2 * index + 1, parentKey: `B${index}` })
      tree.set(`B${index}`, { id: 2 * index + 2, parentKey: null })
      if (index + 1 === pairs) break
      rows.push({ ...placement(2 * index + 1, `A${index + 1}`, false), externalKey: `B${index}` })
      rows.push({ ...placement(2 * index + 2, `A${index}`, false), externalKey: `A${index + 1}` })
    }
    let rejected = 0
    const delayMs = await longestTickMs(async () => (rejected = (await orderByParent(rows, tree)).errors.length))
    expect(rejected).toBe(rows.length)
    expect(delayMs).toBeLessThan(150)
  })
})
