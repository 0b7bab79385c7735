import { describe, expect, it } from 'vitest'
import { eventually } from '../support/tracking.ts'
import { Watched, urlOf, useNetwork } from '../support/webhooks.ts'

const network = useNetwork()

describe('a move', () => {
  it('is posted', async () => {
    const receiver = await network.receiver()
    const watched = await Watched.with(network.app, urlOf(receiver))
    const ids = await watched.move(3)
    await eventually(async () => expect(receiver.received).toHaveLength(3))
    expect(receiver.received.map((one) => one.headers['x-service-delivery']).sort()).toEqual(ids.sort())
    console.log(receiver.received[0], receiver.received[0]!.body.toString())
    await eventually(async () => console.log(await watched.attempts()))
  })
})
