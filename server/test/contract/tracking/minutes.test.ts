import { describe, expect, it } from 'vitest'
import { type SiteLocation, Site, database, newTag, useTracking } from '../../support/tracking.ts'

const context = useTracking('2026-05-04T12:00:00Z')

const at = (clock: string): string => `2026-05-04T${clock}Z`

describe('a minute of history', () => {
  it('belongs to the first observation of the asset in it; later reads leave it unchanged', async () => {
    const site = await Site.open(context.app, 'Dock', 'Hall')
    const pallet = await site.createAsset('Pallet')
    await site.sendReads({ tag: pallet.tag, antenna: 1, observed_at: at('10:00:05') })
    await site.sendReads({ tag: pallet.tag, antenna: 2, observed_at: at('10:00:59.999') })
    expect(await site.history(pallet)).toEqual([[at('10:00:05.000'), 'DOCK', null]])
    expect(await site.assetLocations()).toEqual({ PALLET: ['DOCK', at('10:00:05.000')] })
    expect(await site.moves()).toHaveLength(1)
  })

  it('belongs to the earliest timestamp of a message, whatever the order of its reads', async () => {
    const site = await Site.open(context.app, 'Dock', 'Hall')
    const pallet = await site.createAsset('Pallet')
    await site.sendReads(
      { tag: pallet.tag, antenna: 2, observed_at: at('10:00:30') },
      { tag: pallet.tag, antenna: 1, observed_at: at('10:00:05') },
      { tag: pallet.tag, antenna: 2, observed_at: at('10:00:10') },
    )
    expect(await site.history(pallet)).toEqual([[at('10:00:05.000'), 'DOCK', null]])
  })

  it('belongs to the earliest timestamp also for a large message, which is written in several batches', async () => {
    const site = await Site.open(context.app, 'Dock', 'Hall')
    const other = await Site.open(context.app, 'Gate')
    const pallet = await site.createAsset('Pallet')
    const outsiders = Array.from({ length: 200 }, () => ({ tag: newTag(), antenna: 1, observed_at: at('10:00:20') }))
    await other.post({ reads: outsiders.slice(0, 1) })
    const reads = [
      { tag: pallet.tag, antenna: 2, observed_at: at('10:00:30') },
      ...outsiders,
      { tag: pallet.tag, antenna: 1, observed_at: at('10:00:05') },
    ]
    expect((await site.post({ reads })).json).toEqual({ data: { accepted: 2, ignored: 200 } })
    expect(await site.history(pallet)).toEqual([[at('10:00:05.000'), 'DOCK', null]])
    expect(await site.moves()).toHaveLength(1)
  })

  it('keeps the read that was recorded first when an earlier timestamp of the same minute arrives later', async () => {
    const site = await Site.open(context.app, 'Dock', 'Hall')
    const pallet = await site.createAsset('Pallet')
    await site.sendReads({ tag: pallet.tag, antenna: 1, observed_at: at('10:00:30') })
    await site.sendReads({ tag: pallet.tag, antenna: 2, observed_at: at('10:00:05') })
    expect(await site.history(pallet)).toEqual([[at('10:00:30.000'), 'DOCK', null]])
  })

  it('ends where the next one begins, to the microsecond', async () => {
    const site = await Site.open(context.app, 'Dock', 'Hall')
    const pallet = await site.createAsset('Pallet')
    await site.sendReads(
      { tag: pallet.tag, antenna: 1, observed_at: at('10:00:59.999999') },
      { tag: pallet.tag, antenna: 2, observed_at: at('10:01:00.000000') },
    )
    expect(await site.history(pallet)).toEqual([
      [at('10:00:59.999'), 'DOCK', null],
      [at('10:01:00.000'), 'HALL', 0],
    ])
  })

  it('counts whole seconds from observation to observation, truncated and not rounded (D28)', async () => {
    const site = await Site.open(context.app, 'Dock')
    const pallet = await site.createAsset('Pallet')
    await site.sendReads(
      { tag: pallet.tag, observed_at: '2026-05-03T10:02:02Z' },
      { tag: pallet.tag, observed_at: at('10:00:00.000001') },
      { tag: pallet.tag, observed_at: at('10:01:01.000000') },
      { tag: pallet.tag, observed_at: at('10:02:02.000000') },
    )
    expect((await site.history(pallet)).map(([, , duration]) => duration)).toEqual([null, 86278, 60, 61])
  })

  it('is one for the asset, whichever of its tags was read', async () => {
    const site = await Site.open(context.app, 'Dock', 'Hall')
    const pallet = await site.createAsset('Pallet')
    await site.api.post(`/api/v1/assets/${pallet.id}/tags`, { tag_type: 'barcode', value: 'PALLET/1' })
    await site.sendReads(
      { tag: 'PALLET/1', antenna: 2, observed_at: at('10:00:01') },
      { tag: pallet.tag, antenna: 1, observed_at: at('10:00:02') },
      { tag: pallet.tag, antenna: 1, observed_at: at('10:01:02') },
    )
    expect(await site.history(pallet)).toEqual([
      [at('10:00:01.000'), 'HALL', null],
      [at('10:01:02.000'), 'DOCK', 61],
    ])
  })

  it('is separate for every asset', async () => {
    const site = await Site.open(context.app, 'Dock', 'Hall')
    const [one, two] = [await site.createAsset('One'), await site.createAsset('Two')]
    await site.sendReads(
      { tag: one.tag, antenna: 1, observed_at: at('10:00:01') },
      { tag: two.tag, antenna: 2, observed_at: at('10:00:02') },
    )
    expect(await site.assetLocations()).toEqual({
      ONE: ['DOCK', at('10:00:01.000')],
      TWO: ['HALL', at('10:00:02.000')],
    })
  })

  it.each([
    ['rfid', 'E28011700000020A1B2C3D4E', 'e28011700000020a1b2c3d4e'],
    ['ble', 'c1:a2:b3:c4:d5:e6', 'C1A2B3C4D5E6'],
    ['ble', 'C1A2B3C4D5E7', 'c1-a2-b3-c4-d5-e7'],
  ])('is found by a %s tag written as %s and read as %s (D22)', async (type, written, read) => {
    const site = await Site.open(context.app, 'Dock')
    const pallet = await site.createAsset('Pallet', { tags: [{ tag_type: type, value: written }] })
    await site.sendReads({ tag: read, tag_type: type, observed_at: at('10:00:00') })
    expect(await site.history(pallet)).toEqual([[at('10:00:00.000'), 'DOCK', null]])
  })

  it('is not found by a barcode in another case (D22)', async () => {
    const site = await Site.open(context.app, 'Dock')
    const pallet = await site.createAsset('Pallet', { tags: [{ tag_type: 'barcode', value: 'Box-1' }] })
    const reply = await site.post({ reads: [{ tag: 'BOX-1', observed_at: at('10:00:00') }] })
    expect(reply.json).toEqual({ data: { accepted: 0, ignored: 1 } })
    expect(await site.history(pallet)).toEqual([])
  })
})

describe('a scan without a location (D29)', () => {
  it('sets its minute, and shows null for the location in history and report', async () => {
    const site = await Site.open(context.app, 'Dock')
    const pallet = await site.createAsset('Pallet')
    await site.sendReads({ tag: pallet.tag, antenna: 5, observed_at: at('10:00:10') })
    await site.sendReads({ tag: pallet.tag, antenna: 1, observed_at: at('10:00:20') })
    const history = await site.api.get(`/api/v1/assets/${pallet.id}/history`)
    expect(history.json.data).toEqual([
      { event_observed_at: at('10:00:10.000'), location_id: null, location_external_key: null, duration_seconds: null },
    ])
    const report = await site.api.get('/api/v1/reports/asset-locations')
    expect(report.json.data).toMatchObject([{ location_id: null, location_external_key: null }])
    expect(await site.moves()).toEqual([])
  })

  it('comes from an antenna without a location or without a scan point', async () => {
    const site = await Site.open(context.app)
    const pallet = await site.createAsset('Pallet')
    const { token } = await site.createReader({ scanPoints: [{ antenna: 1, locationId: null }] })
    expect((await site.post([{ tag: pallet.tag, observed_at: at('10:00:00') }], token)).status).toBe(202)
    expect((await site.post([{ tag: pallet.tag, antenna: 2, observed_at: at('10:01:00') }], token)).status).toBe(202)
    expect(await site.history(pallet)).toEqual([
      [at('10:00:00.000'), null, null],
      [at('10:01:00.000'), null, 60],
    ])
  })

  it('comes from an antenna whose location was deleted', async () => {
    const site = await Site.open(context.app, 'Dock')
    const pallet = await site.createAsset('Pallet')
    expect((await site.api.delete(`/api/v1/locations/${site.locations[0]!.id}`)).status).toBe(204)
    await site.sendReads({ tag: pallet.tag, antenna: 1, observed_at: at('10:00:00') })
    expect(await site.history(pallet)).toEqual([[at('10:00:00.000'), null, null]])
    const [row] = await database(context.app)`select location_id from asset_minutes where asset_id = ${pallet.id}`
    expect(row).toEqual({ location_id: null })
  })

  it('counts its time like any other row', async () => {
    const site = await Site.open(context.app, 'Dock')
    const pallet = await site.createAsset('Pallet')
    await site.sendReads(
      { tag: pallet.tag, antenna: 1, observed_at: at('10:00:00') },
      { tag: pallet.tag, antenna: 9, observed_at: at('10:02:00') },
      { tag: pallet.tag, antenna: 1, observed_at: at('10:05:00') },
    )
    expect(await site.history(pallet)).toEqual([
      [at('10:00:00.000'), 'DOCK', null],
      [at('10:02:00.000'), null, 120],
      [at('10:05:00.000'), 'DOCK', 180],
    ])
  })
})

describe('a location that was deleted (D29)', () => {
  it('shows its id and a null key in history, and nulls in the report', async () => {
    const site = await Site.open(context.app, 'Dock', 'Hall')
    const [dock, hall] = site.locations as [SiteLocation, SiteLocation]
    const pallet = await site.createAsset('Pallet')
    await site.sendReads(
      { tag: pallet.tag, antenna: 1, observed_at: at('10:00:00') },
      { tag: pallet.tag, antenna: 2, observed_at: at('10:01:00') },
    )
    expect((await site.api.delete(`/api/v1/locations/${dock.id}`)).status).toBe(204)
    await database(context.app)`update locations set deleted_at = now() where id = ${hall.id}`
    const history = await site.api.get(`/api/v1/assets/${pallet.id}/history`, { sort: 'event_observed_at' })
    expect(history.json.data).toMatchObject([
      { location_id: dock.id, location_external_key: null, duration_seconds: null },
      { location_id: hall.id, location_external_key: null, duration_seconds: 60 },
    ])
    const report = await site.api.get('/api/v1/reports/asset-locations')
    expect(report.json.data).toMatchObject([{ asset_id: pallet.id, location_id: null, location_external_key: null }])
    expect(await site.assetLocations({ location_id: hall.id })).toEqual({})
    expect(await site.assetLocations({ at: at('10:00:30') })).toEqual({ PALLET: [null, at('10:00:00.000')] })
  })

  it('could not be deleted while an asset was in it, and could once the asset was elsewhere or deleted', async () => {
    const site = await Site.open(context.app, 'Dock', 'Hall')
    const [dock, hall] = site.locations as [SiteLocation, SiteLocation]
    const pallet = await site.createAsset('Pallet')
    await site.sendReads({ tag: pallet.tag, antenna: 1, observed_at: at('10:00:00') })
    expect((await site.api.delete(`/api/v1/locations/${dock.id}`)).status).toBe(409)
    await site.sendReads({ tag: pallet.tag, antenna: 2, observed_at: at('10:01:00') })
    expect((await site.api.delete(`/api/v1/locations/${dock.id}`)).status).toBe(204)
    expect((await site.api.delete(`/api/v1/locations/${hall.id}`)).status).toBe(409)
    await site.api.delete(`/api/v1/assets/${pallet.id}`)
    expect((await site.api.delete(`/api/v1/locations/${hall.id}`)).status).toBe(204)
  })
})
