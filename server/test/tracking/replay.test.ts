import { describe, expect, it } from 'vitest'
import { liveRoute } from '../../src/api/shared/live.ts'
import { SerialQueue } from '../../src/api/shared/serial-queue.ts'
import type { Db } from '../../src/db/database.ts'
import { instantFromMillis } from '../../src/kernel/instant.ts'
import type { EventStream } from '../../src/http/route.ts'
import { type LiveEvent, LiveFeed, maxReplayedMoves } from '../../src/tracking/live-feed.ts'
import { Site, database, useTracking } from '../support/tracking.ts'

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

  it('has at most 10,000 moves', async () => {
    const { orgId } = await context.app.newOrg()
    const add = (from: number, to: number) => database(context.app)`
      insert into moves (org_id, delivery_id, asset_id, asset_external_key, asset_name, to_location_id, to_location_name,
        occurred_at, recorded_at)
      select ${orgId}, gen_random_uuid(), n, 'K', 'A', 1, 'L', '2026-05-04T11:59:59Z', '2026-05-04T11:59:59Z'
      from generate_series(${from}::int, ${to}::int) n`
    const feed = new LiveFeed({ db: context.app.context.db, clock: context.clock })
    const recordedAt = instantFromMillis(context.clock.millis() - 60_000)
    const replay = () => feed.replay(orgId, { recordedAt, deliveryId: '00000000-0000-0000-0000-000000000000' })
    await add(1, 10_000)
    let moves = 0
    for await (const batch of (await replay())!) moves += batch.length
    expect([moves, maxReplayedMoves]).toEqual([10_000, 10_000])
    await add(10_001, 10_001)
    expect(await replay()).toBeNull()
  })

  it.each([
    ['999 events that arrive meanwhile are sent after it', 999, 0],
    ['of 1,000 events that arrive meanwhile a gap says that there may be more', 1000, 1],
  ])('%s', async (_what, events, gaps) => {
    let publish: (events: readonly LiveEvent[]) => void = () => undefined
    let finish: () => void = () => undefined
    const replayed = new Promise<void>((resolve) => (finish = resolve))
    const live = {
      earlierMoves: async () => [],
      position: () => ({ recordedAt: instantFromMillis(0), deliveryId: '00000000-0000-0000-0000-000000000000' }),
      watch: (_orgId: number, _earlier: unknown, listener: typeof publish) => void (publish = listener),
      replay: async () =>
        (async function* () {
          await replayed
          yield []
        })(),
    }
    const deps = { live, streams: { add: () => undefined }, quotas: { limit: async () => 100 } }
    const principal = { kind: 'session', orgId: 1, subject: '1' }
    const header = (): string => '1777882502120.0b8c2a52-6a0f-4a53-9f0e-2f4d5a1d2c11'
    const { stream: open } = await liveRoute(deps as never).handle({ principal, header } as never)
    const closed = new AbortController()
    let text = ''
    const stream: EventStream = {
      write: (written) => ((text += written), true),
      drained: async () => undefined,
      end: () => closed.abort(),
      closed: closed.signal,
    }
    open!(stream)
    for (let index = 0; index < events; index++) publish([{ kind: 'readers' }])
    finish()
    await expect.poll(() => text.match(/event: readers/g)?.length).toBe(events)
    expect(text.match(/event: gap/g)?.length ?? 0).toBe(gaps)
    closed.abort()
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
