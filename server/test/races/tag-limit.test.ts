import { expect, it } from 'vitest'
import { assetPath } from '../support/assets.ts'
import { countStatuses, raceTimeoutMs, rounds, useRace } from '../support/race.ts'

const race = useRace()

it('two concurrent writers give an asset with 99 tags exactly one more', { timeout: raceTimeoutMs }, async () => {
  const org = await race.newOrg()
  for (let round = 0; round < rounds; round++) {
    const rfid = (index: number) => ({ tag_type: 'rfid', value: `${round}-${index}` })
    const asset = await org.create({ tags: Array.from({ length: 99 }, (_, index) => rfid(index)) })
    const replies = await org.sendConcurrently(2, (client, index) =>
      client.post(`${assetPath(asset)}/tags`, rfid(1000 + index)),
    )
    expect(countStatuses(replies), `round ${round}`).toEqual({ 201: 1, 409: 1 })
    const read = await org.clients[0].get(assetPath(asset))
    expect(read.json.data.tags).toHaveLength(100)
  }
})
