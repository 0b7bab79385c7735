import { describe, expect, it } from 'vitest'
import { deleteLocation } from '../../../src/locations/commands.ts'
import { useSecondApp } from '../../support/app.ts'
import { type ReadJson, Site, type SiteAsset, database, useTracking } from '../../support/tracking.ts'

const clock = { millis: () => Date.parse('2026-05-04T12:00:00Z') }
const context = useTracking('2026-05-04T12:00:00Z')
const second = useSecondApp(context, { isOneOfSeveral: true, clock })

/** The number of deadlocks; the counters of PostgreSQL are updated with a delay. */
async function deadlocks(): Promise<number> {
  const sql = database(context.app)
  await sql`select pg_stat_clear_snapshot()`
  const [row] = await sql<{ deadlocks: number }[]>`
    select deadlocks from pg_stat_database where datname = current_database()`
  return row!.deadlocks
}

/** The same numbers for the same seed, so that a failure can be reproduced. */
function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

const shuffled = <T>(list: readonly T[], next: () => number): T[] =>
  list
    .map((value) => ({ value, rank: next() }))
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ value }) => value)

const hmacTag = (minute: number, second: number): string =>
  `2026-05-04T10:${String(minute).padStart(2, '0')}:${String(second).padStart(2, '0')}.000Z`

const assets = async (site: Site, count: number): Promise<SiteAsset[]> => {
  const made: SiteAsset[] = []
  for (let number = 0; number < count; number++) made.push(await site.createAsset(`T${number}`))
  return made
}

/** In minute `minute` the asset is at the antenna given by the numbers, always with the same timestamp. */
const antennaAt = (index: number, minute: number): number => ((index * 7 + minute * minute) % 3) + 1

describe('concurrent batches', () => {
  it('over the same assets from two processes have the result of sequential batches', async () => {
    const sites = await Promise.all([1, 2, 3].map(() => Site.open(context.app, 'A', 'B', 'C')))
    const before = await deadlocks()
    const fleets = await Promise.all(sites.map((site) => assets(site, 10)))
    const sent = sites.flatMap((site, which) => {
      const next = random(which + 1)
      const fleet = fleets[which]!
      const all = fleet.flatMap((thing, index) =>
        Array.from({ length: 12 }, (_, minute): ReadJson => {
          return { tag: thing.tag, antenna: antennaAt(index, minute), observed_at: hmacTag(minute, index) }
        }),
      )
      // Eight overlapping, unordered batches; the last ones are sent again as a whole.
      const parts = Array.from({ length: 8 }, () => shuffled(all, next).slice(0, 70))
      const batches = [...parts, all, shuffled(all, next), ...parts.slice(0, 3)]
      return batches.map((reads, index) => site.post({ reads }, site.token, index % 2 === 0 ? context.app : second.app))
    })
    for (const reply of await Promise.all(sent)) expect([reply.status, reply.json.data.ignored]).toEqual([202, 0])
    expect(await deadlocks()).toBe(before)

    for (const [which, site] of sites.entries()) {
      const moves = await site.moves()
      const expected: Record<string, [string, string]> = {}
      for (const [index, thing] of fleets[which]!.entries()) {
        const location = (minute: number): string => site.locations[antennaAt(index, minute) - 1]!.key
        expect(await site.history(thing)).toEqual(
          Array.from({ length: 12 }, (_, minute) => [
            hmacTag(minute, index),
            location(minute),
            minute === 0 ? null : 60,
          ]),
        )
        expected[thing.key] = [location(11), hmacTag(11, index)]
        const own = moves.filter((move) => move.asset === thing.key)
        // In any order of recording, every move starts where the previous one ended.
        let last: string | null = null
        let lastAt = ''
        for (const { from, to, at } of own) {
          expect(from).toBe(last)
          expect(to).not.toBe(from)
          expect(at > lastAt).toBe(true)
          expect(to).toBe(location(Number(at.slice(14, 16))))
          ;[last, lastAt] = [to, at]
        }
        expect(last).toBe(location(11))
      }
      expect(await site.assetLocations()).toEqual(expected)
    }
  })

  it('detect each move once, however many processes see it (D32)', async () => {
    const site = await Site.open(context.app, 'A', 'B', 'C')
    const fleet = await assets(site, 6)
    const before = await deadlocks()
    for (let minute = 0; minute < 6; minute++) {
      const reads = fleet.map((thing, index) => ({
        tag: thing.tag,
        antenna: antennaAt(index, minute),
        observed_at: hmacTag(minute, index),
      }))
      const next = random(minute + 1)
      const sends = Array.from({ length: 8 }, (_, index) =>
        site.post({ reads: shuffled(reads, next) }, site.token, index % 2 === 0 ? context.app : second.app),
      )
      for (const reply of await Promise.all(sends)) expect(reply.status).toBe(202)
    }
    const expected = fleet.flatMap((thing, index) => {
      const locations = Array.from({ length: 6 }, (_, minute) => site.locations[antennaAt(index, minute) - 1]!.name)
      return locations.flatMap((to, minute) => {
        const from = locations[minute - 1] ?? null
        const at = hmacTag(minute, index).replace('Z', '000Z')
        return from === to ? [] : [{ asset: thing.key, name: thing.name, from, to, at }]
      })
    })
    const byAsset = (a: { asset: string; at: string }, b: { asset: string; at: string }): number =>
      a.asset < b.asset ? -1 : a.asset > b.asset ? 1 : a.at < b.at ? -1 : 1
    expect((await site.moves()).toSorted(byAsset)).toEqual(expected.toSorted(byAsset))
    expect(await deadlocks()).toBe(before)
  })

  it('do not deadlock with operators who save the same assets in the same minute', async () => {
    const site = await Site.open(context.app, 'A', 'B', 'C')
    const fleet = await assets(site, 6)
    const beside = new Proxy(site, { get: (target, key) => (key === 'app' ? second.app : Reflect.get(target, key)) })
    await site.sendReads(...fleet.map((thing) => ({ tag: thing.tag, antenna: 1, observed_at: hmacTag(0, 0) })))
    const before = await deadlocks()
    const next = random(7)
    for (let minute = 1; minute <= 15; minute++) {
      const reads = fleet.map((thing) => ({ tag: thing.tag, antenna: 2, observed_at: hmacTag(minute, 10) }))
      await Promise.all([
        ...[context.app, second.app, context.app].map((app) =>
          site.post({ reads: shuffled(reads, next) }, site.token, app),
        ),
        site.recordSighting(site.locations[2]!, shuffled(fleet, next), hmacTag(minute, 20)),
        beside.recordSighting(site.locations[2]!, shuffled(fleet, next), hmacTag(minute, 21)),
      ])
    }
    for (const thing of fleet) {
      const history = await site.history(thing)
      expect(history).toHaveLength(16)
      expect(history.slice(1).map(([, key]) => key)).toEqual(Array.from({ length: 15 }, () => 'C'))
      let last: string | null = null
      const own = (await site.moves()).filter((move) => move.asset === thing.key)
      for (const { from, to } of own) {
        expect(from).toBe(last)
        last = to
      }
    }
    await new Promise((resume) => setTimeout(resume, 1200))
    expect(await deadlocks()).toBe(before)
  })

  it('leave the asset at the location of its latest minute when a save meets a reader whose clock is ahead', async () => {
    const site = await Site.open(context.app, 'A', 'B', 'C')
    for (let round = 0; round < 20; round++) {
      const thing = await site.createAsset(`Ahead ${round}`)
      if (round % 2 === 0) await site.sendReads({ tag: thing.tag, antenna: 1, observed_at: hmacTag(0, 0) })
      await Promise.all([
        site.sendReads({ tag: thing.tag, antenna: 2, observed_at: hmacTag(2, 0) }),
        site.recordSighting(site.locations[2]!, [thing], hmacTag(1, 30)),
        site.sendReads({ tag: thing.tag, antenna: 2, observed_at: hmacTag(2, 10) }),
      ])
      const latest = (await site.history(thing)).at(-1)!
      expect((await site.assetLocations({ asset_id: thing.id }))[thing.key]).toEqual([latest[1], latest[0]])
      // A save in a reader's minute counts as observed at the minute's start, so the steps are joined by location.
      const steps = (await site.moves()).filter((move) => move.asset === thing.key)
      let last: string | null = null
      for (let left = steps.length; left > 0; left--) {
        const next: number = steps.findIndex((step) => step.from === last)
        expect(next).toBeGreaterThanOrEqual(0)
        last = steps.splice(next, 1)[0]!.to
      }
      expect(steps).toEqual([])
      expect(last).toBe(latest[1])
    }
  })

  it('never leave a live asset at a location that was deleted meanwhile', async () => {
    const site = await Site.open(context.app)
    for (let round = 0; round < 25; round++) {
      const location = await site.createLocation(`Spot ${round}`)
      const thing = await site.createAsset(`Spot thing ${round}`)
      const { token } = await site.createReader({ scanPoints: [{ antenna: 1, locationId: location.id }] })
      const [reply, deletion] = await Promise.all([
        site.post([{ tag: thing.tag, observed_at: hmacTag(0, 0) }], token),
        deleteLocation(context.app.context, site.org.orgId, location.id).then(
          () => 204,
          () => 409,
        ),
      ])
      expect(reply.status).toBe(202)
      const [position] = await database(
        context.app,
      )`select location_id from asset_positions where asset_id = ${thing.id}`
      expect([deletion, position!['location_id']]).toEqual(deletion === 204 ? [204, null] : [409, location.id])
    }
  })
})
