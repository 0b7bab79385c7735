import { describe, expect, it } from 'vitest'
import { type SiteLocation, Site, database, useTracking } from '../../support/tracking.ts'

const context = useTracking('2026-05-04T12:00:00Z')

const at = (clock: string): string => `2026-05-04T${clock}Z`
const full = (clock: string): string => `2026-05-04T${clock}.000000Z`

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

describe('a move', () => {
  it('is detected when an asset is scanned at another location than the one it was last seen at', async () => {
    const site = await Site.open(context.app, 'Dock', 'Hall')
    const [dock, hall] = site.locations as [SiteLocation, SiteLocation]
    const pallet = await site.createAsset('Pallet')
    await site.sendReads({ tag: pallet.tag, antenna: 1, observed_at: at('10:00:05.123456') })
    await site.sendReads({ tag: pallet.tag, antenna: 2, observed_at: at('10:01:05.654321') })
    const rows = await database(context.app)`
      select delivery_id, asset_id, asset_external_key, asset_name, from_location_id, from_location_name, to_location_id,
        to_location_name, to_char(occurred_at at time zone 'UTC', 'HH24:MI:SS.US') as occurred,
        to_char(recorded_at at time zone 'UTC', 'HH24:MI:SS.US') as recorded
      from moves where org_id = ${site.org.orgId} order by occurred_at`
    const common = { asset_id: pallet.id, asset_external_key: 'PALLET', asset_name: 'Pallet' }
    expect([...rows]).toEqual([
      {
        ...common,
        delivery_id: expect.stringMatching(uuid),
        from_location_id: null,
        from_location_name: null,
        to_location_id: dock.id,
        to_location_name: 'Dock',
        occurred: '10:00:05.123456',
        recorded: '12:00:00.000000',
      },
      {
        ...common,
        delivery_id: expect.stringMatching(uuid),
        from_location_id: dock.id,
        from_location_name: 'Dock',
        to_location_id: hall.id,
        to_location_name: 'Hall',
        occurred: '10:01:05.654321',
        recorded: '12:00:00.000000',
      },
    ])
    expect(new Set(rows.map((row) => row['delivery_id'] as string)).size).toBe(2)
  })

  it('has no origin at a first sighting (D32)', async () => {
    const site = await Site.open(context.app, 'Dock')
    const pallet = await site.createAsset('Pallet')
    await site.sendReads({ tag: pallet.tag, observed_at: at('10:00:00') })
    expect(await site.moves()).toEqual([
      { asset: 'PALLET', name: 'Pallet', from: null, to: 'Dock', at: full('10:00:00') },
    ])
  })

  it('is not detected for rescans at the same location', async () => {
    const site = await Site.open(context.app, 'Dock')
    const pallet = await site.createAsset('Pallet')
    for (const clock of ['10:00:00', '10:00:30', '10:01:00', '11:00:00'])
      await site.sendReads({ tag: pallet.tag, observed_at: at(clock) })
    expect(await site.moves()).toHaveLength(1)
  })

  it('is not detected for another antenna or another reader of the same location', async () => {
    const site = await Site.open(context.app, 'Dock')
    const pallet = await site.createAsset('Pallet')
    const scanPoints = [
      { antenna: 1, locationId: site.locations[0]!.id },
      { antenna: 2, locationId: site.locations[0]!.id },
    ]
    const { token } = await site.createReader({ scanPoints })
    await site.sendReads({ tag: pallet.tag, observed_at: at('10:00:00') })
    for (const antenna of [1, 2])
      expect(
        (await site.post([{ tag: pallet.tag, antenna, observed_at: at(`10:0${antenna}:00`) }], token)).status,
      ).toBe(202)
    expect(await site.history(pallet)).toHaveLength(3)
    expect(await site.moves()).toHaveLength(1)
  })

  it('is not detected for a scan without a location', async () => {
    const site = await Site.open(context.app, 'Dock')
    const pallet = await site.createAsset('Pallet')
    await site.sendReads({ tag: pallet.tag, antenna: 1, observed_at: at('10:00:00') })
    await site.sendReads({ tag: pallet.tag, antenna: 9, observed_at: at('10:01:00') })
    expect(await site.moves()).toHaveLength(1)
  })

  it('has no origin after a scan without a location, also back to the previous location', async () => {
    const site = await Site.open(context.app, 'Dock')
    const pallet = await site.createAsset('Pallet')
    await site.sendReads({ tag: pallet.tag, antenna: 1, observed_at: at('10:00:00') })
    await site.sendReads({ tag: pallet.tag, antenna: 9, observed_at: at('10:01:00') })
    await site.sendReads({ tag: pallet.tag, antenna: 1, observed_at: at('10:02:00') })
    expect((await site.moves()).slice(1)).toEqual([
      { asset: 'PALLET', name: 'Pallet', from: null, to: 'Dock', at: full('10:02:00') },
    ])
  })

  it('has no origin when the location it left was deleted', async () => {
    const site = await Site.open(context.app, 'Dock', 'Hall')
    const pallet = await site.createAsset('Pallet')
    await site.sendReads({ tag: pallet.tag, antenna: 1, observed_at: at('10:00:00') })
    await database(context.app)`update locations set deleted_at = now() where id = ${site.locations[0]!.id}`
    await site.sendReads({ tag: pallet.tag, antenna: 2, observed_at: at('10:01:00') })
    const [row] = await database(context.app)`
      select from_location_id, from_location_name from moves where org_id = ${site.org.orgId} and to_location_name = 'Hall'`
    expect(row).toEqual({ from_location_id: null, from_location_name: null })
  })

  it('is at most one per asset and minute, detected when the next minute begins', async () => {
    const site = await Site.open(context.app, 'Dock', 'Hall', 'Yard')
    const pallet = await site.createAsset('Pallet')
    await site.sendReads({ tag: pallet.tag, antenna: 1, observed_at: at('10:00:01') })
    await site.sendReads({ tag: pallet.tag, antenna: 2, observed_at: at('10:00:02') })
    await site.sendReads({ tag: pallet.tag, antenna: 3, observed_at: at('10:00:03') })
    expect(await site.moves()).toHaveLength(1)
    await site.sendReads({ tag: pallet.tag, antenna: 3, observed_at: at('10:01:00') })
    expect((await site.moves()).slice(1)).toEqual([
      { asset: 'PALLET', name: 'Pallet', from: 'Dock', to: 'Yard', at: full('10:01:00') },
    ])
  })

  it('is detected for every step when a message spans several minutes', async () => {
    const site = await Site.open(context.app, 'Dock', 'Hall')
    const pallet = await site.createAsset('Pallet')
    await site.sendReads(
      { tag: pallet.tag, antenna: 2, observed_at: at('10:02:00') },
      { tag: pallet.tag, antenna: 1, observed_at: at('10:01:00') },
      { tag: pallet.tag, antenna: 1, observed_at: at('10:03:00') },
    )
    expect((await site.moves()).map((move) => [move.at.slice(11, 16), move.from, move.to])).toEqual([
      ['10:01', null, 'Dock'],
      ['10:02', 'Dock', 'Hall'],
      ['10:03', 'Hall', 'Dock'],
    ])
  })

  it('has the names and the key at the time of the move', async () => {
    const site = await Site.open(context.app, 'Dock', 'Hall')
    const pallet = await site.createAsset('Pallet')
    await site.sendReads({ tag: pallet.tag, antenna: 1, observed_at: at('10:00:00') })
    await site.api.patch(`/api/v1/assets/${pallet.id}`, { name: 'Pallet, blue' })
    await site.api.post(`/api/v1/assets/${pallet.id}/rename`, { external_key: 'P-BLUE' })
    await site.api.patch(`/api/v1/locations/${site.locations[0]!.id}`, { name: 'Dock, old' })
    await site.sendReads({ tag: pallet.tag, antenna: 2, observed_at: at('10:01:00') })
    await site.api.patch(`/api/v1/locations/${site.locations[1]!.id}`, { name: 'Hall, new' })
    expect(await site.moves()).toEqual([
      { asset: 'PALLET', name: 'Pallet', from: null, to: 'Dock', at: full('10:00:00') },
      { asset: 'P-BLUE', name: 'Pallet, blue', from: 'Dock, old', to: 'Hall', at: full('10:01:00') },
    ])
  })

  it('uses the location of the antenna at the time the read arrives', async () => {
    const site = await Site.open(context.app, 'Dock', 'Hall')
    const pallet = await site.createAsset('Pallet')
    await site.sendReads({ tag: pallet.tag, observed_at: at('10:00:00') })
    const { accessToken } = await site.org.signIn('manager')
    const json = { scan_points: [{ antenna: 1, location_id: site.locations[1]!.id }] }
    await context.app.anonymous('PATCH', `/api/v1/readers/${site.readerId}`, { token: accessToken, json })
    await site.sendReads({ tag: pallet.tag, observed_at: at('10:01:00') })
    expect((await site.moves()).map((move) => [move.from, move.to])).toEqual([
      [null, 'Dock'],
      ['Dock', 'Hall'],
    ])
  })

  it('is not detected for a deleted asset, whose tags are free', async () => {
    const site = await Site.open(context.app, 'Dock', 'Hall')
    const pallet = await site.createAsset('Pallet')
    await site.sendReads({ tag: pallet.tag, antenna: 1, observed_at: at('10:00:00') })
    await site.api.delete(`/api/v1/assets/${pallet.id}`)
    const reply = await site.post([{ tag: pallet.tag, antenna: 2, observed_at: at('10:01:00') }])
    expect(reply.json).toEqual({ data: { accepted: 0, ignored: 1 } })
    expect(await site.moves()).toHaveLength(1)
    expect(await site.assetLocations({ include_deleted: true })).toEqual({ PALLET: ['DOCK', at('10:00:00.000')] })
  })

  it('is not detected for a tag of a location', async () => {
    const site = await Site.open(context.app, 'Dock')
    await site.api.post(`/api/v1/locations/${site.locations[0]!.id}/tags`, { tag_type: 'barcode', value: 'SHELF' })
    const reply = await site.post([{ tag: 'SHELF', observed_at: at('10:01:00') }])
    expect(reply.json).toEqual({ data: { accepted: 0, ignored: 1 } })
    expect(await site.moves()).toEqual([])
  })
})

describe('a move and its detection (D32)', () => {
  it('are committed together, or not at all', async () => {
    const site = await Site.open(context.app, 'Dock', 'Hall')
    const pallet = await site.createAsset('Pallet')
    await site.sendReads({ tag: pallet.tag, antenna: 1, observed_at: at('10:00:00') })
    const sql = database(context.app)
    await sql`alter table moves add constraint no_more_moves check (org_id <> ${sql.unsafe(String(site.org.orgId))}) not valid`
    const rejected = await site.post([{ tag: pallet.tag, antenna: 2, observed_at: at('10:01:00') }])
    expect([rejected.status, rejected.json.error.type]).toEqual([500, 'internal_error'])
    expect(await site.history(pallet)).toHaveLength(1)
    expect(await site.assetLocations()).toEqual({ PALLET: ['DOCK', at('10:00:00.000')] })
    await sql`alter table moves drop constraint no_more_moves`
    await site.sendReads({ tag: pallet.tag, antenna: 2, observed_at: at('10:01:00') })
    expect((await site.moves()).map((move) => move.to)).toEqual(['Dock', 'Hall'])
  })
})
