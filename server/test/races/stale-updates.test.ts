import { describe, expect, it } from 'vitest'
import { assetPath } from '../support/assets.ts'
import { expectErrorType, raceTimeoutMs, rounds, countStatuses, useRace } from '../support/race.ts'

const race = useRace()

describe('twenty writers with the same updated_at', () => {
  it(
    'get exactly one 200 and nineteen errors for a stale updated_at, every time (D21)',
    { timeout: raceTimeoutMs },
    async () => {
      const org = await race.newOrg()
      const asset = await org.create()
      let updated_at = asset.updated_at
      for (let round = 0; round < rounds; round++) {
        const token = { updated_at }
        const replies = await org.sendConcurrently(20, (principal, index) =>
          principal.patch(assetPath(asset), { ...token, name: `round ${round} writer ${index}` }),
        )
        expect(countStatuses(replies), `round ${round}`).toEqual({ 200: 1, 400: 19 })
        for (const { status, json } of replies)
          if (status === 400)
            expect(json.error).toMatchObject({
              type: 'validation_error',
              fields: [{ field: 'updated_at', code: 'read_only' }],
            })
        const winner = replies.findIndex((reply) => reply.status === 200)
        const written = replies[winner]!.json.data
        expect(written.name).toBe(`round ${round} writer ${winner}`)
        expect(written.updated_at > updated_at).toBe(true)
        updated_at = written.updated_at
        const read = await org.clients[round % 2]!.get(assetPath(asset))
        expect(read.json.data).toStrictEqual(written)
      }
    },
  )
})

describe('eight writers without an updated_at', () => {
  it(
    'all succeed, no two with the same updated_at, and no member of metadata is lost',
    { timeout: raceTimeoutMs },
    async () => {
      const org = await race.newOrg()
      const asset = await org.create()
      const times = new Set<string>()
      for (let round = 0; round < rounds; round++) {
        const replies = await org.sendConcurrently(8, (principal, index) =>
          principal.patch(assetPath(asset), { metadata: { [`w${index}`]: round } }),
        )
        expect(countStatuses(replies), `round ${round}`).toEqual({ 200: 8 })
        for (const reply of replies) times.add(reply.json.data.updated_at)
        const { metadata } = (await org.clients[0].get(assetPath(asset))).json.data
        expect(metadata).toEqual(Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`w${index}`, round])))
      }
      expect(times.size).toBe(8 * rounds)
    },
  )
})

describe('eight deletes of one asset', () => {
  it('are answered with exactly one 204 and seven 404, every time', { timeout: raceTimeoutMs }, async () => {
    const org = await race.newOrg()
    for (let round = 0; round < rounds; round++) {
      const asset = await org.create()
      const replies = await org.sendConcurrently(8, (principal) => principal.delete(assetPath(asset)))
      expect(countStatuses(replies), `round ${round}`).toEqual({ 204: 1, 404: 7 })
      expectErrorType(replies, 404, 'not_found')
    }
    const all = await org.clients[0].get('/api/v1/assets', { include_deleted: true, limit: 1 })
    const live = await org.clients[0].get('/api/v1/assets')
    expect([all.json.total_count, live.json.total_count]).toEqual([rounds, 0])
  })
})

it('writers of one asset never cause a deadlock', async () => {
  expect(await race.deadlocks()).toBe(0)
})
