import { describe, expect, it } from 'vitest'
import { lockWaits } from '../../support/database.ts'
import { type SiteLocation, Site, type SiteAsset, database, eventually, useTracking } from '../../support/tracking.ts'

const context = useTracking('2026-05-04T12:00:00Z')

const at = (clock: string): string => `2026-05-04T${clock}Z`

const prepared = async (): Promise<{
  site: Site
  dock: SiteLocation
  hall: SiteLocation
  yard: SiteLocation
  pallet: SiteAsset
}> => {
  const site = await Site.open(context.app, 'Dock', 'Hall', 'Yard')
  const [dock, hall, yard] = site.locations as [SiteLocation, SiteLocation, SiteLocation]
  return { site, dock, hall, yard, pallet: await site.createAsset('Pallet') }
}

const steps = async (site: Site) => (await site.moves()).map((move) => [move.at.slice(11, 26), move.from, move.to])

describe('an operator’s save', () => {
  it('is a sighting like any other when the minute is free', async () => {
    const { site, hall, pallet } = await prepared()
    await site.sendReads({ tag: pallet.tag, antenna: 1, observed_at: at('10:00:05') })
    const moves = await site.recordSighting(hall, [pallet], at('10:01:05.123456'))
    expect(moves).toMatchObject([
      {
        assetId: pallet.id,
        from: { name: 'Dock' },
        to: { id: hall.id, name: 'Hall' },
        occurredAt: at('10:01:05.123456'),
      },
    ])
    expect(await site.history(pallet)).toEqual([
      [at('10:00:05.000'), 'DOCK', null],
      [at('10:01:05.123'), 'HALL', 60],
    ])
    expect(await steps(site)).toEqual([
      ['10:00:05.000000', null, 'Dock'],
      ['10:01:05.123456', 'Dock', 'Hall'],
    ])
  })

  it('emits a move without an origin for a first sighting (D32)', async () => {
    const { site, dock, pallet } = await prepared()
    await site.recordSighting(dock, [pallet], at('10:00:00'))
    expect(await steps(site)).toEqual([['10:00:00.000000', null, 'Dock']])
    expect(await site.assetLocations()).toEqual({ PALLET: ['DOCK', at('10:00:00.000')] })
  })

  it('wins the minute and at once emits a move from the location it overrode', async () => {
    const { site, yard, pallet } = await prepared()
    await site.sendReads({ tag: pallet.tag, antenna: 1, observed_at: at('10:00:05') })
    await site.sendReads({ tag: pallet.tag, antenna: 2, observed_at: at('10:01:05') })
    await site.recordSighting(yard, [pallet], at('10:01:30'))
    expect(await site.history(pallet)).toEqual([
      [at('10:00:05.000'), 'DOCK', null],
      [at('10:01:30.000'), 'YARD', 85],
    ])
    expect(await site.assetLocations()).toEqual({ PALLET: ['YARD', at('10:01:30.000')] })
    expect(await steps(site)).toEqual([
      ['10:00:05.000000', null, 'Dock'],
      ['10:01:05.000000', 'Dock', 'Hall'],
      ['10:01:30.000000', 'Hall', 'Yard'],
    ])
  })

  it('wins the minute of a scan without a location and emits a move without an origin', async () => {
    const { site, dock, pallet } = await prepared()
    await site.sendReads({ tag: pallet.tag, antenna: 9, observed_at: at('10:00:05') })
    await site.recordSighting(dock, [pallet], at('10:00:30'))
    expect(await site.history(pallet)).toEqual([[at('10:00:30.000'), 'DOCK', null]])
    expect(await steps(site)).toEqual([['10:00:30.000000', null, 'Dock']])
  })

  it('may override a save of the same minute', async () => {
    const { site, dock, hall, pallet } = await prepared()
    await site.recordSighting(dock, [pallet], at('10:00:10'))
    await site.recordSighting(hall, [pallet], at('10:00:20'))
    await site.recordSighting(dock, [pallet], at('10:00:30'))
    expect(await site.history(pallet)).toEqual([[at('10:00:30.000'), 'DOCK', null]])
    expect(await steps(site)).toEqual([
      ['10:00:10.000000', null, 'Dock'],
      ['10:00:20.000000', 'Dock', 'Hall'],
      ['10:00:30.000000', 'Hall', 'Dock'],
    ])
  })

  it.each([
    ['a save', (site: Site, pallet: SiteAsset) => site.recordSighting(site.locations[0]!, [pallet], at('10:00:10'))],
    [
      'a reader',
      (site: Site, pallet: SiteAsset) => site.sendReads({ tag: pallet.tag, antenna: 1, observed_at: at('10:00:10') }),
    ],
  ])('emits nothing when %s set the minute at the same location', async (_, first) => {
    const { site, dock, pallet } = await prepared()
    await first(site, pallet)
    const before = await database(context.app)`select * from asset_minutes where org_id = ${site.org.orgId}`
    expect(await site.recordSighting(dock, [pallet], at('10:00:40'))).toEqual([])
    expect(await database(context.app)`select * from asset_minutes where org_id = ${site.org.orgId}`).toEqual(before)
    expect(await steps(site)).toEqual([['10:00:10.000000', null, 'Dock']])
    expect(await site.history(pallet)).toEqual([[at('10:00:10.000'), 'DOCK', null]])
  })

  it('at an unchanged location in a later minute is recorded and emits nothing', async () => {
    const { site, dock, pallet } = await prepared()
    await site.recordSighting(dock, [pallet], at('10:00:10'))
    expect(await site.recordSighting(dock, [pallet], at('10:01:10'))).toEqual([])
    expect(await site.history(pallet)).toEqual([
      [at('10:00:10.000'), 'DOCK', null],
      [at('10:01:10.000'), 'DOCK', 60],
    ])
    expect(await steps(site)).toHaveLength(1)
  })

  it('keeps its minute against every reader', async () => {
    const { site, hall, pallet } = await prepared()
    await site.sendReads({ tag: pallet.tag, antenna: 1, observed_at: at('10:00:05') })
    await site.recordSighting(hall, [pallet], at('10:00:30'))
    await site.sendReads({ tag: pallet.tag, antenna: 1, observed_at: at('10:00:59') })
    await site.sendReads({ tag: pallet.tag, antenna: 1, observed_at: at('10:00:01') })
    expect(await site.history(pallet)).toEqual([[at('10:00:30.000'), 'HALL', null]])
    expect(await site.assetLocations()).toEqual({ PALLET: ['HALL', at('10:00:30.000')] })
    expect(await steps(site)).toHaveLength(2)
  })

  it('is superseded by a fixed reader’s read of the next minute, which re-asserts the reader’s location', async () => {
    const { site, hall, pallet } = await prepared()
    await site.sendReads({ tag: pallet.tag, antenna: 1, observed_at: at('10:00:05') })
    await site.recordSighting(hall, [pallet], at('10:00:30'))
    await site.sendReads({ tag: pallet.tag, antenna: 1, observed_at: at('10:01:00') })
    expect(await site.assetLocations()).toEqual({ PALLET: ['DOCK', at('10:01:00.000')] })
    expect(await steps(site)).toEqual([
      ['10:00:05.000000', null, 'Dock'],
      ['10:00:30.000000', 'Dock', 'Hall'],
      ['10:01:00.000000', 'Hall', 'Dock'],
    ])
  })

  it('moves many assets at once, each from its own location, and each once', async () => {
    const { site, dock, hall, pallet } = await prepared()
    const [crate, fresh] = [await site.createAsset('Crate'), await site.createAsset('Fresh')]
    await site.sendReads(
      { tag: pallet.tag, antenna: 1, observed_at: at('10:00:05') },
      { tag: crate.tag, antenna: 2, observed_at: at('10:00:05') },
    )
    const moves = await site.recordSighting(hall, [fresh, crate, pallet, crate, fresh], at('10:05:00'))
    expect(new Map(moves.map((move) => [move.assetKey, move.from?.name ?? null]))).toEqual(
      new Map([
        ['PALLET', 'Dock'],
        ['FRESH', null],
      ]),
    )
    expect(await site.assetLocations()).toEqual({
      PALLET: ['HALL', at('10:05:00.000')],
      CRATE: ['HALL', at('10:05:00.000')],
      FRESH: ['HALL', at('10:05:00.000')],
    })
    expect([dock.name, await site.moves()]).toMatchObject(['Dock', { length: 4 }])
  })

  it('emits the names at the time of the move, and no origin when that was deleted', async () => {
    const { site, dock, hall, pallet } = await prepared()
    await site.recordSighting(dock, [pallet], at('10:00:10'))
    await database(context.app)`update locations set deleted_at = now() where id = ${dock.id}`
    await site.api.patch(`/api/v1/assets/${pallet.id}`, { name: 'Pallet, blue' })
    const moves = await site.recordSighting(hall, [pallet], at('10:00:20'))
    expect(moves).toMatchObject([{ assetName: 'Pallet, blue', from: null, to: { name: 'Hall' } }])
  })

  it('saves nothing for no assets', async () => {
    const { site, dock } = await prepared()
    expect(await site.recordSighting(dock, [], at('10:00:00'))).toEqual([])
  })
})

describe('an operator’s save where a reader’s clock is ahead', () => {
  it('wins the asset’s latest minute, so that the asset is at the operator’s location', async () => {
    const { site, hall, pallet } = await prepared()
    await site.sendReads({ tag: pallet.tag, antenna: 1, observed_at: at('12:01:40') })
    const moves = await site.recordSighting(hall, [pallet], at('12:00:00'))
    expect(moves).toMatchObject([{ from: { name: 'Dock' }, to: { name: 'Hall' }, occurredAt: at('12:01:00.000000') }])
    expect(await site.assetLocations()).toEqual({ PALLET: ['HALL', at('12:01:00.000')] })
    expect(await site.history(pallet)).toEqual([[at('12:01:00.000'), 'HALL', null]])
  })

  it('emits nothing when that minute is at the same location', async () => {
    const { site, dock, pallet } = await prepared()
    await site.sendReads({ tag: pallet.tag, antenna: 1, observed_at: at('12:01:40') })
    expect(await site.recordSighting(dock, [pallet], at('12:00:00'))).toEqual([])
    expect(await site.history(pallet)).toEqual([[at('12:01:40.000'), 'DOCK', null]])
  })

  it('keeps the later minute against the reader until the next minute', async () => {
    const { site, hall, pallet } = await prepared()
    await site.sendReads({ tag: pallet.tag, antenna: 1, observed_at: at('12:01:10') })
    await site.recordSighting(hall, [pallet], at('12:00:00'))
    await site.sendReads({ tag: pallet.tag, antenna: 1, observed_at: at('12:01:50') })
    expect((await site.assetLocations())['PALLET']).toEqual(['HALL', at('12:01:00.000')])
    await site.sendReads({ tag: pallet.tag, antenna: 1, observed_at: at('12:02:00') })
    expect((await site.assetLocations())['PALLET']).toEqual(['DOCK', at('12:02:00.000')])
    expect(await steps(site)).toEqual([
      ['12:01:00.000000', 'Dock', 'Hall'],
      ['12:01:10.000000', null, 'Dock'],
      ['12:02:00.000000', 'Hall', 'Dock'],
    ])
  })

  it('uses the operator’s own minute for assets whose readers have correct clocks', async () => {
    const { site, hall, pallet } = await prepared()
    const crate = await site.createAsset('Crate')
    await site.sendReads(
      { tag: pallet.tag, antenna: 1, observed_at: at('12:01:10') },
      { tag: crate.tag, antenna: 1, observed_at: at('11:59:10') },
    )
    await site.recordSighting(hall, [pallet, crate], at('12:00:00'))
    expect(await site.assetLocations()).toEqual({
      PALLET: ['HALL', at('12:01:00.000')],
      CRATE: ['HALL', at('12:00:00.000')],
    })
  })

  it('also wins when that reader’s read is recorded while the save is being written', async () => {
    const { site, hall, pallet } = await prepared()
    // Another session locks the minute of the save, so that it waits after reading the asset's location.
    const holder = await database(context.app).reserve()
    await holder`begin`
    await holder`
      insert into asset_minutes (org_id, asset_id, minute, observed_at, source)
      values (${site.org.orgId}, ${pallet.id}, ${at('12:00:00')}, ${at('12:00:00')}, 'reader')`
    const saving = site.recordSighting(hall, [pallet], at('12:00:00'))
    await eventually(async () => expect(await lockWaits(context.app.databaseUrl)).toBe(1))
    await site.sendReads({ tag: pallet.tag, antenna: 1, observed_at: at('12:01:40') })
    await holder`rollback`
    holder.release()
    await saving
    expect(await site.history(pallet)).toEqual([[at('12:01:00.000'), 'HALL', null]])
    expect(await site.assetLocations()).toEqual({ PALLET: ['HALL', at('12:01:00.000')] })
    expect(await steps(site)).toEqual([
      ['12:01:00.000000', 'Dock', 'Hall'],
      ['12:01:40.000000', null, 'Dock'],
    ])
  })
})
