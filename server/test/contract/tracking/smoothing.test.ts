import { beforeEach, describe, expect, it } from 'vitest'
import { lockWaits } from '../../support/database.ts'
import { Site, type SiteAsset, database, eventually, useTracking } from '../../support/tracking.ts'

const context = useTracking('2026-05-04T12:00:00Z')

let site: Site
let asset: SiteAsset
let smooth: { token: string; readerId: number }

beforeEach(async () => {
  site = await Site.open(context.app, 'Dock', 'Hall')
  asset = await site.createAsset('Pallet')
  const scanPoints = site.locations.map((location, index) => ({ antenna: index + 1, locationId: location.id }))
  smooth = await site.createReader({ scanPoints, smoothing: { reads: 3, seconds: 60, marginDb: 10 } })
})

/** `[clock, antenna]`, with antenna 1 at the dock, 2 in the hall and 9 without a location. */
const see = async (reads: readonly [clock: string, antenna: number, rssi?: number][], token = smooth.token) => {
  const reply = await site.post(
    reads.map(([clock, antenna, rssi]) => ({
      ...{ tag: asset.tag, antenna, observed_at: `2026-05-04T${clock}Z` },
      ...(rssi === undefined ? {} : { rssi }),
    })),
    token,
  )
  expect([reply.status, reply.json]).toEqual([202, { data: { accepted: reads.length, ignored: 0 } }])
}

const history = async () => (await site.history(asset)).map(([at, key]) => `${at.slice(11, 19)} ${key ?? 'nowhere'}`)
const moves = async () => (await site.moves()).map((move) => `${move.at.slice(11, 19)} ${move.from} → ${move.to}`)

describe('a reader with smoothing', () => {
  it('sets the location of an asset without one at its first sighting', async () => {
    await see([['08:00:05', 2]])
    expect(await history()).toEqual(['08:00:05 HALL'])
    expect(await moves()).toEqual(['08:00:05 null → Hall'])
  })

  it('confirms a move early in a message with more reads of the asset than are stored', async () => {
    await see([['08:00:05', 1]])
    const later = Array.from({ length: 50 }, (_, index) => String(index + 10))
    await see([
      ['08:00:40', 2],
      ['08:00:50', 2],
      ...later.map((second): [string, number] => [`08:01:${second}`, 2]),
      ...later.map((second): [string, number] => [`08:02:${second}`, 2]),
    ])
    expect(await history()).toEqual(['08:00:05 DOCK', '08:01:10 HALL', '08:02:10 HALL'])
    const [stored] = await database(context.app)<{ seen: string }[]>`
      select seen from recent_sightings where asset_id = ${asset.id}`
    expect(JSON.parse(stored!.seen)).toHaveLength(64)
  })

  it('keeps the location of an asset that two antennas read alternately, and still updates its last-seen time', async () => {
    for (let minute = 0; minute < 6; minute++)
      await see([
        [`08:0${minute}:05`, (minute % 2) + 1],
        [`08:0${minute}:35`, ((minute + 1) % 2) + 1],
      ])
    expect(await history()).toEqual(['00', '01', '02', '03', '04', '05'].map((minute) => `08:${minute}:05 DOCK`))
    expect(await moves()).toEqual(['08:00:05 null → Dock'])
    expect(await site.assetLocations()).toEqual({ PALLET: ['DOCK', '2026-05-04T08:05:05.000Z'] })
  })

  it('moves an asset once it was seen elsewhere three times in a row', async () => {
    await see([['08:00:05', 1]])
    await see([['08:01:05', 2]])
    await see([['08:01:25', 2]])
    expect(await moves()).toHaveLength(1)
    await see([['08:02:05', 2]])
    expect(await history()).toEqual(['08:00:05 DOCK', '08:01:05 DOCK', '08:02:05 HALL'])
    expect(await moves()).toEqual(['08:00:05 null → Dock', '08:02:05 Dock → Hall'])
  })

  it('moves an asset at once when the signal is stronger by the margin', async () => {
    await see([['08:00:55', 1, -80]])
    await see([['08:01:05', 2, -69]])
    expect(await moves()).toEqual(['08:00:55 null → Dock', '08:01:05 Dock → Hall'])
  })

  it('gives the same result for one message of many reads as for single reads', async () => {
    const reads = [
      ['08:00:05', 1],
      ['08:01:05', 2],
      ['08:01:25', 2],
      ['08:02:05', 2],
      ['08:03:05', 9],
      ['08:04:05', 1],
    ] as [string, number][]
    await see(reads)
    const [historyAtOnce, movesAtOnce] = [await history(), await moves()]
    expect(historyAtOnce).toEqual([
      ...['08:00:05 DOCK', '08:01:05 DOCK', '08:02:05 HALL', '08:03:05 HALL', '08:04:05 HALL'],
    ])
    asset = await site.createAsset('Crate')
    for (const read of reads) await see([read])
    expect(await history()).toEqual(historyAtOnce)
    expect((await moves()).slice(2)).toHaveLength(2)
    expect(movesAtOnce).toEqual(['08:00:05 null → Dock', '08:02:05 Dock → Hall'])
  })

  it('does not count a redelivered message as new evidence (D31)', async () => {
    await see([['08:00:05', 1]])
    const messages: [string, number][][] = [[['08:01:05', 2]], [['08:01:25', 2]]]
    for (const message of [...messages, ...messages, ...messages]) await see(message)
    await see([['08:02:06', 1]])
    const before = [await history(), await moves(), await site.assetLocations()]
    for (const message of [...messages, [['08:02:06', 1]] as [string, number][]]) await see(message)
    expect([await history(), await moves(), await site.assetLocations()]).toEqual(before)
    expect(before[1]).toEqual(['08:00:05 null → Dock'])
  })

  it('records late reads at their own location and moves nothing (D30)', async () => {
    await see([['08:10:05', 1]])
    await see([['08:05:05', 2]])
    expect(await history()).toEqual(['08:05:05 HALL', '08:10:05 DOCK'])
    expect(await moves()).toEqual(['08:10:05 null → Dock'])
  })

  it('does not affect other readers and operators, whose sightings count at once', async () => {
    await see([['08:00:05', 1]])
    await see([['08:01:05', 2]], site.token)
    await site.recordSighting(site.locations[0]!, [asset], '2026-05-04T08:02:00Z')
    expect(await moves()).toEqual(['08:00:05 null → Dock', '08:01:05 Dock → Hall', '08:02:00 Hall → Dock'])
  })

  it('does not move an asset back that was moved while its sighting was unconfirmed', async () => {
    await see([['08:00:05', 1]])
    const sql = database(context.app)
    const holder = await sql.reserve()
    await holder`begin`
    await holder`update asset_positions set location_id = ${site.locations[1]!.id} where org_id = ${site.org.orgId}
      and asset_id = ${asset.id}`
    const seen = see([['08:01:05', 2]])
    await eventually(async () => expect(await lockWaits(context.app.databaseUrl)).toBe(1))
    await holder`commit`
    holder.release()
    await seen
    expect(await history()).toEqual(['08:00:05 DOCK', '08:01:05 HALL'])
    expect(await moves()).toEqual(['08:00:05 null → Dock'])
    expect(await site.assetLocations()).toEqual({ PALLET: ['HALL', '2026-05-04T08:01:05.000Z'] })
  })
})
