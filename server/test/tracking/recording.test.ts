import fc from 'fast-check'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createAsset } from '../../src/assets/commands.ts'
import { sql } from '../../src/db/sql.ts'
import { fromDatabase, type Instant, instantFromMillis } from '../../src/kernel/instant.ts'
import { createLocation } from '../../src/locations/commands.ts'
import { createOrganization } from '../../src/organizations/commands.ts'
import { recordReads } from '../../src/tracking/recording/record-reads.ts'
import { recordOperatorSighting } from '../../src/tracking/recording/record-operator-sighting.ts'
import { createReader, removeReader } from '../../src/readers/commands.ts'
import { recordSightings } from '../../src/tracking/recording/recording.sql.ts'
import { type Sighting, minuteOf } from '../../src/tracking/sighting.ts'
import type { TagRead } from '../../src/tracking/recording/tag-read.ts'
import { useAppContext } from '../support/app-context.ts'

const used = useAppContext()
const day = instantFromMillis(Date.now() - 30 * 86_400_000).slice(0, 10)
const at = (clock: string): Instant => `${day}T${clock.padEnd(15, clock.includes('.') ? '0' : '.000000')}Z` as Instant
const draft = { description: null, isActive: true, validTo: null, tags: [] }

let orgId: number
let [dock, hall, yard] = [0, 0, 0]
/** Two assets that were never seen, in ascending order. */
let [pallet, crate] = [0, 0]

const newAsset = async (...tags: string[]): Promise<number> => {
  const drafts = tags.map((value) => ({ type: 'barcode' as const, value }))
  return (await createAsset(used.context, orgId, { ...draft, name: 'Thing', metadata: {}, tags: drafts })).id
}

beforeAll(async () => {
  orgId = (await createOrganization(used.context, 'Recording')).orgId
  const locations: number[] = []
  for (const name of ['Dock', 'Hall', 'Yard'])
    locations.push((await createLocation(used.context, orgId, { ...draft, name, parent: {} })).id)
  ;[dock, hall, yard] = locations as [number, number, number]
})
beforeEach(async () => {
  const ids = [await newAsset(), await newAsset()].sort((a, b) => a - b)
  ;[pallet, crate] = ids as [number, number]
})

const seen = (assetId: number, locationId: number | null, clock: string): Sighting => ({
  assetId,
  locationId,
  observedAt: at(clock),
})

const recorded = (sightings: readonly Sighting[]) =>
  used.context.db.withTenant(orgId, (tx) => recordSightings(tx, orgId, sightings, new Map(), at('12:00:00')))

/** The minutes of these assets, in order of asset and time. */
async function minutesOf(...assetIds: number[]): Promise<Sighting[]> {
  const rows = await used.context.db.read.query<{
    asset_id: number
    location_id: number | null
    observed_at: string
  }>(sql`
    select asset_id, location_id, observed_at from asset_minutes
    where org_id = ${orgId} and asset_id = any(${assetIds}::bigint[]) order by asset_id, minute`)
  return rows.map((row) => ({
    assetId: row.asset_id,
    locationId: row.location_id,
    observedAt: fromDatabase(row.observed_at),
  }))
}

describe('the first observation of a minute', () => {
  it('sets it, in any order of the reads', async () => {
    await recorded([
      seen(pallet, hall, '10:00:40'),
      seen(pallet, dock, '10:00:05'),
      seen(pallet, yard, '10:00:59.999999'),
    ])
    expect(await minutesOf(pallet)).toEqual([seen(pallet, dock, '10:00:05')])
  })

  it('is determined to the microsecond', async () => {
    await recorded([seen(pallet, hall, '10:00:05.000002'), seen(pallet, dock, '10:00:05.000001')])
    expect(await minutesOf(pallet)).toEqual([seen(pallet, dock, '10:00:05.000001')])
  })

  it('is the first received one when two have the same instant', async () => {
    await recorded([seen(pallet, hall, '10:00:05'), seen(pallet, dock, '10:00:05')])
    expect(await minutesOf(pallet)).toEqual([seen(pallet, hall, '10:00:05')])
  })

  it('is one per asset and minute', async () => {
    await recorded([
      seen(crate, dock, '10:01:00'),
      seen(pallet, dock, '10:01:00'),
      seen(pallet, hall, '10:00:59.999999'),
      seen(crate, hall, '10:01:01'),
    ])
    expect(await minutesOf(pallet, crate)).toEqual([
      seen(pallet, hall, '10:00:59.999999'),
      seen(pallet, dock, '10:01:00'),
      seen(crate, dock, '10:01:00'),
    ])
  })

  it('may be one without a location', async () => {
    await recorded([seen(pallet, dock, '10:00:06'), seen(pallet, null, '10:00:05')])
    expect(await minutesOf(pallet)).toEqual([seen(pallet, null, '10:00:05')])
  })

  it('does not exist without observations', async () => {
    expect(await recorded([])).toEqual([])
  })

  it('holds for any reads: one per asset and minute, and none of the others is earlier', async () => {
    const read = fc.record({
      which: fc.constantFrom(0, 1),
      location: fc.option(fc.constantFrom(0, 1, 2), { nil: null }),
      second: fc.integer({ min: 0, max: 240 }),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(read, { maxLength: 30 }), async (reads) => {
        const assets = [await newAsset(), await newAsset()]
        const given = reads.map(({ which, location, second }): Sighting => {
          const clock = new Date(second * 1000).toISOString().slice(14, 19)
          return seen(assets[which]!, location === null ? null : [dock, hall, yard][location]!, `10:${clock}`)
        })
        await recorded(given)
        const key = (one: Sighting): string => `${one.assetId} ${minuteOf(one.observedAt)}`
        const first = await minutesOf(...assets)
        expect(new Set(first.map(key)).size).toBe(first.length)
        expect(new Set(first.map(key))).toEqual(new Set(given.map(key)))
        for (const one of first) {
          const rivals = given.filter((other) => key(other) === key(one))
          expect(one).toEqual(rivals.reduce((best, other) => (other.observedAt < best.observedAt ? other : best)))
        }
      }),
      { numRuns: 40 },
    )
  })
})

describe('moves along sightings', () => {
  /** The moves that the sightings make, as origin, target and instant, in the order of the instants. */
  async function along(...sightings: Sighting[]) {
    const moves = await recorded(sightings)
    return moves
      .map((move) => [move.from?.id ?? null, move.to.id, move.occurredAt])
      .toSorted((a, b) => (a[2]! < b[2]! ? -1 : 1))
  }

  it('include a first sighting as a move without an origin (D32)', async () => {
    expect(await along(seen(pallet, dock, '10:00:05'))).toEqual([[null, dock, at('10:00:05')]])
  })

  it('do not include a first sighting without a location', async () => {
    expect(await along(seen(pallet, null, '10:00:05'))).toEqual([])
  })

  it('do not include a rescan at the same location', async () => {
    await along(seen(pallet, dock, '09:59:00'))
    expect(await along(seen(pallet, dock, '10:00:05'), seen(pallet, dock, '10:01:05'))).toEqual([])
  })

  it('include a change of location, at the instant of the observation', async () => {
    await along(seen(pallet, dock, '09:59:00'))
    expect(await along(seen(pallet, hall, '10:00:05.000001'))).toEqual([[dock, hall, at('10:00:05.000001')]])
  })

  it('include every step of a batch that spans several minutes, separately for each asset', async () => {
    await along(seen(pallet, dock, '09:59:00'), seen(crate, hall, '09:59:00'))
    const steps = [
      seen(pallet, hall, '10:00:05'),
      seen(crate, hall, '10:00:06'),
      seen(pallet, hall, '10:01:05'),
      seen(crate, dock, '10:01:06'),
      seen(pallet, yard, '10:02:05'),
      seen(pallet, hall, '10:03:05'),
    ]
    expect(await along(...steps)).toEqual([
      [dock, hall, at('10:00:05')],
      [hall, dock, at('10:01:06')],
      [hall, yard, at('10:02:05')],
      [yard, hall, at('10:03:05')],
    ])
  })

  it('do not include a scan without a location, which clears the location', async () => {
    await along(seen(pallet, dock, '09:59:00'))
    expect(await along(seen(pallet, null, '10:00:05'), seen(pallet, dock, '10:01:05'))).toEqual([
      [null, dock, at('10:01:05')],
    ])
  })

  it('do not include sightings before the last-seen minute, which keep the location (D30)', async () => {
    await along(seen(pallet, dock, '09:59:00'))
    const late = [seen(pallet, hall, '09:57:05'), seen(pallet, yard, '09:58:05'), seen(pallet, dock, '10:00:05')]
    expect(await along(...late)).toEqual([])
  })

  it('include a change within the last-seen minute, which only an operator can make', async () => {
    await along(seen(pallet, dock, '10:00:00'))
    expect(await along(seen(pallet, hall, '10:00:30'))).toEqual([])
    const moves = await used.context.db.withTenant(orgId, (tx) =>
      recordOperatorSighting(tx, orgId, hall, [pallet, pallet], at('10:00:30')),
    )
    expect(moves).toMatchObject([{ from: { id: dock }, to: { id: hall }, occurredAt: at('10:00:30') }])
  })

  it('have no origin when the previous scan had no location', async () => {
    await along(seen(pallet, null, '09:59:00'))
    expect(await along(seen(pallet, dock, '10:00:05'))).toEqual([[null, dock, at('10:00:05')]])
  })
})

describe('a batch of reads', () => {
  const tag = (value: string) => ({ type: 'barcode' as const, value })
  const read = (readerId: number, antenna: number, clock: string, ...identities: string[]): TagRead => ({
    identities: identities.map(tag),
    readerId,
    antenna,
    rssiDbm: null,
    observedAt: at(clock),
  })
  const newReader = async (smoothing: { reads: number; seconds: number; marginDb: null } | null = null) => {
    const scanPoints = [dock, hall].map((locationId, index) => ({ antenna: index + 1, locationId }))
    const whole = { name: 'Gate', format: 'auto', clock: 'reader', scanPoints, smoothing }
    return (await createReader(used.context, orgId, whole)).reader.id
  }

  it('uses the first identity that is attached to an asset, for each read', async () => {
    const readerId = await newReader()
    const [first, second] = [await newAsset('A-1'), await newAsset('B-1', 'B-2')]
    const { isKnown, moves } = await recordReads(used.context, orgId, [
      read(readerId, 1, '10:00:05', 'A-0', 'A-1', 'B-2'),
      read(readerId, 2, '10:00:05', 'B-2', 'A-1'),
      read(readerId, 2, '10:00:05', 'A-0'),
      read(readerId, 7, '10:01:05', 'B-1'),
    ])
    expect(isKnown).toEqual([true, true, false, true])
    expect(moves).toBe(2)
    expect(await minutesOf(first)).toEqual([seen(first, dock, '10:00:05')])
    expect(await minutesOf(second)).toEqual([seen(second, hall, '10:00:05'), seen(second, null, '10:01:05')])
  })

  it.each([
    ['by a reader', null],
    ['by a reader that smooths', { reads: 1, seconds: 60, marginDb: null }],
  ])('%s leaves out reads of a reader that was deleted meanwhile', async (_by, smoothing) => {
    const [gone, there] = [await newReader(smoothing), await newReader(smoothing)]
    const asset = await newAsset(`C-${there}`)
    await removeReader(used.context, orgId, gone)
    const { isKnown, moves } = await recordReads(used.context, orgId, [
      read(gone, 1, '10:00:05', `C-${there}`),
      read(there, 2, '10:00:06', `C-${there}`),
    ])
    expect(isKnown).toEqual([false, true])
    expect(moves).toBe(1)
    expect(await minutesOf(asset)).toEqual([seen(asset, hall, '10:00:06')])
  })

  it('records the earliest read of a minute, of several antennas in any order (D28)', async () => {
    const readerId = await newReader()
    const asset = await newAsset('D-1')
    const { isKnown, moves } = await recordReads(used.context, orgId, [
      read(readerId, 1, '10:00:30', 'D-1'),
      read(readerId, 1, '10:00:40', 'D-0'),
      read(readerId, 2, '10:00:05', 'D-1'),
      read(readerId, 1, '10:00:05', 'D-1'),
      read(readerId, 1, '10:01:05', 'D-1'),
      read(readerId, 2, '10:00:41', 'D-0'),
    ])
    expect(isKnown).toEqual([true, false, true, true, true, false])
    expect(moves).toBe(2)
    expect(await minutesOf(asset)).toEqual([seen(asset, hall, '10:00:05'), seen(asset, dock, '10:01:05')])
  })

  it('of unknown tags records nothing', async () => {
    const readerId = await newReader()
    const batch = [read(readerId, 1, '10:00:05', 'nobody'), read(readerId, 1, '10:00:05')]
    expect(await recordReads(used.context, orgId, batch)).toEqual({ isKnown: [false, false], moves: 0 })
  })
})
