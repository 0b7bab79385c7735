import { describe, expect, it } from 'vitest'
import { SerialQueue } from '../../src/api/shared/serial-queue.ts'
import type { Db } from '../../src/db/database.ts'
import { instantFromMillis } from '../../src/kernel/instant.ts'
import { LiveFeed } from '../../src/tracking/live-feed.ts'
import { Site, useTracking } from '../support/tracking.ts'

const context = useTracking('2026-05-04T12:00:00Z')

describe('The replay of a live stream', () => {
  it('uses the connections of searches, so that lookups do not wait for it', async () => {
    const site = await Site.open(context.app, 'Dock')
    const asset = await site.createAsset('Pallet')
    await site.recordSighting(site.locations[0]!, [asset], '2026-05-04T11:59:00Z')
    const { db } = context.app.context
    const read: Db = { query: () => Promise.reject(new Error('a lookup')) }
    const feed = new LiveFeed({ db: { ...db, read, searches: (orgId) => db.searches(orgId) }, clock: context.clock })
    const recordedAt = instantFromMillis(context.clock.millis() - 60_000)
    const position = { recordedAt, deliveryId: '00000000-0000-0000-0000-000000000000' }
    const moves: unknown[] = []
    for await (const batch of (await feed.replay(site.org.orgId, position))!) moves.push(...batch)
    expect(moves).toHaveLength(1)
  })
})

describe('A serial queue', () => {
  it('runs the work of one key in order, one at a time, and that of other keys meanwhile', async () => {
    const queue = new SerialQueue()
    const events: string[] = []
    const work =
      (name: string, isFailing = false) =>
      async () => {
        events.push(`${name} begins`)
        await new Promise((resume) => setTimeout(resume, 20))
        events.push(`${name} ends`)
        if (isFailing) throw new Error(name)
      }
    const results = await Promise.allSettled([
      queue.run('a', work('a1', true)),
      queue.run('a', work('a2')),
      queue.run('b', work('b1')),
    ])
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled'])
    const at = (event: string): number => events.indexOf(event)
    expect(events.slice(0, 2)).toEqual(['a1 begins', 'b1 begins'])
    expect(at('a1 ends')).toBeLessThan(at('a2 begins'))
    expect(events).toHaveLength(6)
  })
})
