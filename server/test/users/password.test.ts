import { describe, expect, it } from 'vitest'
import { hashPassword, verifyPassword } from '../../src/users/password.ts'

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!

async function cpuMsOf(storedHash: string | null): Promise<number> {
  const before = process.cpuUsage()
  expect(await verifyPassword(storedHash, 'a wrong password')).toBe(false)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

describe('A sign-in', () => {
  it('takes as much CPU time for an address without an account as for a wrong password', async () => {
    const storedHash = await hashPassword('the right password')
    const [known, unknown]: [number[], number[]] = [[], []]
    for (let round = 0; round < 9; round++) {
      known.push(await cpuMsOf(storedHash))
      unknown.push(await cpuMsOf(null))
    }
    const ratio = median(unknown) / median(known)
    expect(ratio).toBeGreaterThan(0.6)
    expect(ratio).toBeLessThan(1.7)
  })
})
