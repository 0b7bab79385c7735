import { describe, expect, it } from 'vitest'
import { Gate, type GateLimits } from '../../src/http/gate.ts'
import { noTurns } from '../../src/http/turns.ts'
import type { Refusal } from '../../src/kernel/errors.ts'

const here = (): boolean => false

/** Enters and tells what became of it, in the order it came to pass. */
class Visitors {
  readonly gate: Gate
  readonly events: string[] = []

  constructor(limits: Partial<GateLimits> = {}) {
    this.gate = new Gate({ atOnce: 4, waiting: 8, patienceMs: 60_000, refusalMs: 0, ...limits }, noTurns())
  }

  enter(org: number | null, name: string, isGone = here): 'in' | 'waits' | 'refused' {
    const { waiting } = this.gate
    const admitted = this.gate.enter(org, isGone)
    admitted?.then(
      () => this.events.push(name),
      (error: unknown) => {
        const { kind, headers } = error as Refusal
        expect([kind, headers]).toEqual(['rate_limited', { 'Retry-After': '1' }])
        this.events.push(`${name} refused`)
      },
    )
    if (admitted === undefined) return 'in'
    return this.gate.waiting > waiting ? 'waits' : 'refused'
  }

  many(count: number, org: number | null, name: string): string[] {
    return Array.from({ length: count }, (_, index) => this.enter(org, `${name}${index}`))
  }
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('The gate', () => {
  it('lets an organization have three quarters of the places, lets half of the room wait, and refuses the rest', () => {
    const visitors = new Visitors()
    const outcomes = visitors.many(10, 1, 'a')
    expect(outcomes).toEqual([...Array(3).fill('in'), ...Array(4).fill('waits'), ...Array(3).fill('refused')])
    expect([visitors.gate.running, visitors.gate.waiting]).toEqual([3, 4])
    expect(visitors.enter(2, 'b')).toBe('in')
  })

  it('lets those who wait take turns by organization, each in its own order', async () => {
    const visitors = new Visitors({ atOnce: 4 })
    visitors.many(3, 1, 'a')
    visitors.enter(9, 'other')
    visitors.many(3, 1, 'a')
    visitors.many(2, 2, 'b')
    visitors.enter(null, 'nobody')
    for (const org of [1, 9, 1, 1]) visitors.gate.leave(org)
    await settled()
    expect(visitors.events).toEqual(['a0', 'b0', 'nobody', 'a1'])
    for (const org of [1, 1]) visitors.gate.leave(org)
    await settled()
    expect(visitors.events.slice(4)).toEqual(['b1', 'a2'])
    expect([visitors.gate.running, visitors.gate.waiting]).toEqual([4, 0])
  })

  it('finds room for the first of an organization when others have filled the room', () => {
    const visitors = new Visitors({ atOnce: 2, waiting: 4 })
    for (const org of [1, 2, 3]) visitors.many(4, org, 'a')
    expect(visitors.gate.waiting).toBeGreaterThanOrEqual(4)
    expect([visitors.enter(7, 'x'), visitors.enter(7, 'y')]).toEqual(['waits', 'refused'])
    for (let org = 100; org < 200; org++) visitors.enter(org, 'one of many')
    expect(visitors.gate.waiting).toBe(8)
  })

  it('does not work for those who have hung up or waited too long, and its places are free again', async () => {
    const visitors = new Visitors({ atOnce: 1, patienceMs: 100 })
    visitors.enter(1, 'first')
    visitors.enter(1, 'gone', () => true)
    visitors.enter(1, 'late')
    await expect.poll(() => visitors.events, { timeout: 5000 }).toEqual(['gone refused', 'late refused'])
    expect([visitors.gate.running, visitors.gate.waiting]).toEqual([1, 0])
    visitors.enter(2, 'gone too', () => true)
    visitors.enter(3, 'next')
    visitors.gate.leave(1)
    await settled()
    expect(visitors.events.slice(2)).toEqual(['gone too refused', 'next'])
    visitors.gate.leave(3)
    expect([visitors.gate.running, visitors.gate.waiting]).toEqual([0, 0])
  })

  it('tells those for whom there is no room a moment later, so that they cannot ask again at once', async () => {
    const visitors = new Visitors({ atOnce: 1, waiting: 2, refusalMs: 200 })
    const beganAt = performance.now()
    expect(visitors.many(4, 1, 'a')).toEqual(['in', 'waits', 'refused', 'refused'])
    visitors.gate.leave(1)
    await settled()
    expect(visitors.events).toEqual(['a1'])
    await expect.poll(() => visitors.events, { timeout: 5000 }).toEqual(['a1', 'a2 refused', 'a3 refused'])
    expect(performance.now() - beganAt).toBeGreaterThan(190)
    expect([visitors.gate.running, visitors.gate.waiting]).toEqual([1, 0])
  })
})
