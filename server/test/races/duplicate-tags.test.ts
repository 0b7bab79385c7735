import { describe, expect, it } from 'vitest'
import { assetsPath, assetPath } from '../support/assets.ts'
import { expectErrorType, raceTimeoutMs, rounds, countStatuses, useRace } from '../support/race.ts'

const race = useRace()

const rfid = (value: string) => ({ tag_type: 'rfid', value })
/** Enough tags that another writer begins while they are being written. */
const many = (prefix: string) => Array.from({ length: 40 }, (_, index) => rfid(`${prefix}-${index}`))

describe('eight concurrent writers of one tag', () => {
  it('attach it exactly once, in any notation (D22)', { timeout: raceTimeoutMs }, async () => {
    const org = await race.newOrg()
    const assets = await Promise.all(Array.from({ length: 8 }, () => org.create()))
    for (let round = 0; round < rounds; round++) {
      const replies = await org.sendConcurrently(8, (principal, index) =>
        principal.post(`${assetPath(assets[index]!)}/tags`, rfid(index % 4 < 2 ? `Tag-${round}` : `tAG-${round}`)),
      )
      expect(countStatuses(replies), `round ${round}`).toEqual({ 201: 1, 409: 7 })
      expectErrorType(replies, 409, 'conflict')
    }
    const list = await org.clients[0].get(assetsPath)
    expect(list.json.data.flatMap((row: { tags: unknown[] }) => row.tags)).toHaveLength(rounds)
  })

  it(
    'create exactly one asset with many tags, also when half of them send the tags in reverse order (D17)',
    { timeout: raceTimeoutMs },
    async () => {
      const org = await race.newOrg()
      for (let round = 0; round < rounds; round++) {
        const tags = many(`round-${round}`)
        const replies = await org.sendConcurrently(8, (principal, index) =>
          principal.post(assetsPath, { name: 'a', tags: index % 4 < 2 ? tags : [...tags].reverse() }),
        )
        expect(countStatuses(replies), `round ${round}`).toEqual({ 201: 1, 409: 7 })
        expectErrorType(replies, 409, 'conflict')
      }
      const list = await org.clients[0].get(assetsPath, { limit: 1 })
      expect(list.json.total_count).toBe(rounds)
    },
  )

  it('detach it exactly once', { timeout: raceTimeoutMs }, async () => {
    const org = await race.newOrg()
    for (let round = 0; round < rounds; round++) {
      const asset = await org.create({ tags: [rfid('HELD')] })
      const path = `${assetPath(asset)}/tags/${asset.tags[0]!.id}`
      const replies = await org.sendConcurrently(8, (principal) => principal.delete(path))
      expect(countStatuses(replies), `round ${round}`).toEqual({ 204: 1, 404: 7 })
    }
  })
})

describe('tags whose owner is deleted', () => {
  it(
    'go to at most one of the waiting writers, and are free afterwards (D22)',
    { timeout: raceTimeoutMs },
    async () => {
      const org = await race.newOrg()
      let owner = await org.create({ tags: many('held') })
      for (let round = 0; round < rounds; round++) {
        const [deleted, ...created] = await org.sendConcurrently(8, (principal, index) =>
          index === 0
            ? principal.delete(assetPath(owner))
            : principal.post(assetsPath, { name: 'a', tags: many('HELD') }),
        )
        expect(deleted!.status, `round ${round}`).toBe(204)
        const made = created.filter((reply) => reply.status === 201)
        expect(made.length, `round ${round}`).toBeLessThanOrEqual(1)
        expect(countStatuses(created)[409], `round ${round}`).toBe(created.length - made.length)
        owner = made[0]?.json.data ?? (await org.create({ tags: many('held') }))
      }
    },
  )
})

it('writers of one tag never cause a deadlock', async () => {
  expect(await race.deadlocks()).toBe(0)
})
