import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { RecentMap } from '../../src/kernel/recent-map.ts'

describe('A recent map', () => {
  it('forgets what was written longest ago once it is full', () => {
    const map = new RecentMap<string, number>(2)
    map.set('a', 1)
    map.set('b', 2)
    map.set('c', 3)
    expect([map.get('a'), map.get('b'), map.get('c')]).toEqual([undefined, 2, 3])
  })

  it('counts a value written again as new', () => {
    const map = new RecentMap<string, number>(2)
    map.set('a', 1)
    map.set('b', 2)
    map.set('a', 3)
    map.set('c', 4)
    expect([map.get('a'), map.get('b'), map.get('c')]).toEqual([3, undefined, 4])
  })

  it('tells a value that is null from one it does not have', () => {
    const map = new RecentMap<string, null>(1)
    map.set('a', null)
    expect([map.get('a'), map.get('b')]).toEqual([null, undefined])
  })

  it('forgets one or all when told to', () => {
    const map = new RecentMap<string, number>(3)
    for (const key of ['a', 'b', 'c']) map.set(key, 1)
    map.delete('a')
    expect([map.get('a'), map.get('b')]).toEqual([undefined, 1])
    map.clear()
    expect([map.get('b'), map.get('c')]).toEqual([undefined, undefined])
  })

  it('always holds exactly the last few keys written', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5 }), fc.array(fc.nat(9)), (capacity, writes) => {
        const map = new RecentMap<number, number>(capacity)
        writes.forEach((key, index) => map.set(key, index))
        const lastFew = [...new Set(writes.toReversed())].slice(0, capacity)
        for (let key = 0; key < 10; key++)
          expect(map.get(key)).toBe(lastFew.includes(key) ? writes.lastIndexOf(key) : undefined)
      }),
    )
  })
})
