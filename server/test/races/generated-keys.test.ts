import { describe, expect, it } from 'vitest'
import { assetsPath } from '../support/assets.ts'
import { raceTimeoutMs, rounds, countStatuses, useRace } from '../support/race.ts'

const race = useRace()

const numberOf = (key: string): number => {
  expect(key).toMatch(/^ASSET-\d{4,}$/)
  return Number(key.slice('ASSET-'.length))
}

describe('eight creates without a key', () => {
  it('all succeed with distinct keys, every time (D18)', { timeout: raceTimeoutMs }, async () => {
    const org = await race.newOrg()
    const keys = new Set<string>()
    for (let round = 0; round < rounds; round++) {
      const replies = await org.sendConcurrently(8, (principal) => principal.post(assetsPath, { name: 'a' }))
      expect(countStatuses(replies), `round ${round}`).toEqual({ 201: 8 })
      for (const reply of replies) keys.add(reply.json.data.external_key)
    }
    expect(keys.size).toBe(8 * rounds)
    expect(Math.max(...[...keys].map(numberOf))).toBe(8 * rounds)
  })

  it('all succeed while another client uses the next keys explicitly (D18)', { timeout: raceTimeoutMs }, async () => {
    const org = await race.newOrg()
    const keys = new Set<string>()
    let highest = 0
    for (let round = 0; round < rounds; round++) {
      const wanted = [1, 2, 4, 6].map((step) => `ASSET-${String(highest + step).padStart(4, '0')}`)
      const replies = await org.sendConcurrently(8 + wanted.length, (principal, index) =>
        // Spread, so that the explicit keys arrive before, between and after the others.
        index % 3 === 0
          ? principal.post(assetsPath, { name: 'by hand', external_key: wanted[index / 3]! })
          : principal.post(assetsPath, { name: 'a' }),
      )
      const generated = replies.filter((_, index) => index % 3 !== 0)
      expect(countStatuses(generated), `round ${round}`).toEqual({ 201: 8 })
      const made = replies.filter((reply) => reply.status === 201)
      expect(countStatuses(replies)[409] ?? 0).toBe(replies.length - made.length)
      for (const reply of made) {
        const key: string = reply.json.data.external_key
        expect(keys.has(key), `${key} was given twice`).toBe(false)
        keys.add(key)
        highest = Math.max(highest, numberOf(key))
      }
    }
  })
})

it('creates without a key never cause a deadlock', async () => {
  expect(await race.deadlocks()).toBe(0)
})
