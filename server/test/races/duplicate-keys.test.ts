import { describe, expect, it } from 'vitest'
import { assetsPath, assetPath } from '../support/assets.ts'
import { expectErrorType, raceTimeoutMs, rounds, countStatuses, useRace } from '../support/race.ts'

const race = useRace()

describe('eight concurrent writers of one key', () => {
  it('create exactly one asset and get seven conflicts, every time', { timeout: raceTimeoutMs }, async () => {
    const org = await race.newOrg()
    for (let round = 0; round < rounds; round++) {
      const body = { name: 'a', external_key: `KEY-${round}` }
      const replies = await org.sendConcurrently(8, (principal) => principal.post(assetsPath, body))
      expect(countStatuses(replies), `round ${round}`).toEqual({ 201: 1, 409: 7 })
      expectErrorType(replies, 409, 'conflict')
    }
    const list = await org.clients[0].get(assetsPath, { include_deleted: true, limit: 1 })
    expect(list.json.total_count).toBe(rounds)
  })

  it('rename exactly one asset to it, and the others keep their keys', { timeout: raceTimeoutMs }, async () => {
    const org = await race.newOrg()
    const assets = await Promise.all(
      Array.from({ length: 8 }, (_, index) => org.create({ external_key: `S-${index}` })),
    )
    const held = assets.map((asset) => asset.external_key)
    for (let round = 0; round < rounds; round++) {
      const external_key = `R-${round}`
      const replies = await org.sendConcurrently(8, (principal, index) =>
        principal.post(`${assetPath(assets[index]!)}/rename`, { external_key }),
      )
      expect(countStatuses(replies), `round ${round}`).toEqual({ 200: 1, 409: 7 })
      expectErrorType(replies, 409, 'conflict')
      held[replies.findIndex((reply) => reply.status === 200)] = external_key
    }
    const list = await org.clients[0].get(assetsPath, { sort: 'created_at' })
    const shown = new Map(list.json.data.map((row: { id: number; external_key: string }) => [row.id, row.external_key]))
    expect(assets.map((asset) => shown.get(asset.id))).toEqual(held)
  })

  it('can use it one after the other when each deletes its asset at once', { timeout: raceTimeoutMs }, async () => {
    const org = await race.newOrg()
    for (let round = 0; round < rounds / 4; round++) {
      const made = await org.sendConcurrently(8, async (principal) => {
        for (;;) {
          const reply = await principal.post(assetsPath, { name: 'a', external_key: 'RELAY' })
          if (reply.status === 201) return principal.delete(assetPath(reply.json.data))
          if (reply.status !== 409) return reply
        }
      })
      expect(countStatuses(made), `round ${round}`).toEqual({ 204: 8 })
    }
  })
})

it('writers of one key never cause a deadlock', async () => {
  expect(await race.deadlocks()).toBe(0)
})
