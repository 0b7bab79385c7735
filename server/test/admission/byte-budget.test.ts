import { describe, expect, it } from 'vitest'
import { ByteBudget } from '../../src/admission/byte-budget.ts'

describe('A byte budget', () => {
  it('is limited per tenant and in total, and can be used again when bytes are released', () => {
    const budget = new ByteBudget({ maxBytes: 100, maxBytesPerTenant: 60 })
    const [a, b, c, d] = [{}, {}, {}, {}]
    expect(budget.hold(a, 1, 50)).toBe(true)
    expect(budget.hold(b, 1, 20)).toBe(false)
    expect(budget.hold(b, 1, 10)).toBe(true)
    expect(budget.hold(c, '192.0.2.1', 40)).toBe(true)
    expect(budget.hold(d, 3, 1)).toBe(false)
    expect(budget.hold(a, 1, 0)).toBe(true)
    expect(budget.hold(d, 3, 50)).toBe(true)
    budget.release(d)
    budget.release(d)
    expect(budget.hold(b, 1, 60)).toBe(true)
  })
})
