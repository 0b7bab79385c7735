import { describe, expect, it } from 'vitest'
import { type ReadJson, Site, database, useTracking } from '../../support/tracking.ts'

const context = useTracking('2026-05-04T12:00:00.500Z')

const at = (clock: string): string => `2026-05-04T${clock}Z`

/** All data that reads can change. */
async function state(site: Site) {
  const sql = database(context.app)
  const { orgId } = site.org
  return {
    minutes: [...(await sql`select * from asset_minutes where org_id = ${orgId} order by asset_id, minute`)],
    positions: [
      ...(await sql`
      select asset_id, location_id, last_seen_at, last_minute, minutes from asset_positions
      where org_id = ${orgId} order by asset_id`),
    ],
    moves: [...(await sql`select * from moves where org_id = ${orgId} order by delivery_id`)],
  }
}

describe('a read’s timestamp (D30)', () => {
  it.each([
    ['a timestamp of the past', at('07:00:00.123'), at('07:00:00.123')],
    ['a timestamp exactly two minutes ahead', at('12:02:00.500'), at('12:02:00.500')],
    ['a timestamp over two minutes ahead', at('12:02:00.501'), at('12:00:00.500')],
    ['a timestamp of next year', '2027-05-04T12:00:00Z', at('12:00:00.500')],
    ['no timestamp', undefined, at('12:00:00.500')],
    ['an invalid timestamp', 'yesterday', at('12:00:00.500')],
    ['null for a timestamp', null, at('12:00:00.500')],
  ])('records a read with %s', async (_, hmacTag, observed) => {
    const site = await Site.open(context.app, 'Dock')
    const pallet = await site.createAsset('Pallet')
    await site.sendReads({ tag: pallet.tag, ...(hmacTag === undefined ? {} : { observed_at: hmacTag as string }) })
    expect(await site.history(pallet)).toEqual([[observed, 'DOCK', null]])
    expect(await site.assetLocations()).toEqual({ PALLET: ['DOCK', observed] })
    expect((await site.moves()).map((move) => move.at)).toEqual([observed.replace('Z', '000Z')])
  })

  it('is replaced by the receive time for a reader whose clock is configured as wrong', async () => {
    const site = await Site.open(context.app, 'Dock')
    const pallet = await site.createAsset('Pallet')
    const { token } = await site.createReader({
      clock: 'server',
      scanPoints: [{ antenna: 1, locationId: site.locations[0]!.id }],
    })
    expect((await site.post([{ tag: pallet.tag, observed_at: at('07:00:00') }], token)).status).toBe(202)
    expect(await site.history(pallet)).toEqual([[at('12:00:00.500'), 'DOCK', null]])
  })

  it('is corrected by the sending time where the reader is configured so', async () => {
    const site = await Site.open(context.app, 'Dock')
    const pallet = await site.createAsset('Pallet')
    const { token } = await site.createReader({
      clock: 'sent_at',
      scanPoints: [{ antenna: 1, locationId: site.locations[0]!.id }],
    })
    const message = {
      sent_at: '2020-01-01T00:10:00Z',
      reads: [{ tag: pallet.tag, observed_at: '2020-01-01T00:00:00Z' }],
    }
    expect((await site.post(message, token)).json).toEqual({ data: { accepted: 1, ignored: 0 } })
    expect(await site.history(pallet)).toEqual([[at('11:50:00.500'), 'DOCK', null]])
  })
})

describe('a read older than the asset’s last-seen minute (D30)', () => {
  it('is recorded in its own minute and neither moves the asset nor emits', async () => {
    const site = await Site.open(context.app, 'Dock', 'Hall')
    const pallet = await site.createAsset('Pallet')
    await site.sendReads({ tag: pallet.tag, antenna: 1, observed_at: at('10:10:00') })
    const before = await site.moves()
    await site.sendReads({ tag: pallet.tag, antenna: 2, observed_at: at('10:05:00') })
    expect(await site.history(pallet)).toEqual([
      [at('10:05:00.000'), 'HALL', null],
      [at('10:10:00.000'), 'DOCK', 300],
    ])
    expect(await site.assetLocations()).toEqual({ PALLET: ['DOCK', at('10:10:00.000')] })
    expect(await site.moves()).toEqual(before)
  })

  it('changes the duration of the following row and of no other', async () => {
    const site = await Site.open(context.app, 'Dock')
    const pallet = await site.createAsset('Pallet')
    await site.sendReads(
      { tag: pallet.tag, observed_at: at('10:00:00') },
      { tag: pallet.tag, observed_at: at('10:10:00') },
      { tag: pallet.tag, observed_at: at('10:20:00') },
    )
    await site.sendReads({ tag: pallet.tag, observed_at: at('10:04:00') })
    expect((await site.history(pallet)).map(([, , duration]) => duration)).toEqual([null, 240, 360, 600])
  })

  it('does not change a minute that is already recorded', async () => {
    const site = await Site.open(context.app, 'Dock', 'Hall')
    const pallet = await site.createAsset('Pallet')
    await site.sendReads(
      { tag: pallet.tag, antenna: 1, observed_at: at('10:00:30') },
      { tag: pallet.tag, antenna: 1, observed_at: at('10:10:00') },
    )
    const before = await state(site)
    await site.sendReads({ tag: pallet.tag, antenna: 2, observed_at: at('10:00:00') })
    expect(await state(site)).toEqual(before)
  })

  it('may be in one message with newer reads, which do move the asset', async () => {
    const site = await Site.open(context.app, 'Dock', 'Hall', 'Yard')
    const pallet = await site.createAsset('Pallet')
    await site.sendReads({ tag: pallet.tag, antenna: 1, observed_at: at('10:10:00') })
    await site.sendReads(
      { tag: pallet.tag, antenna: 3, observed_at: at('10:20:00') },
      { tag: pallet.tag, antenna: 2, observed_at: at('10:05:00') },
    )
    expect((await site.moves()).map((move) => [move.at.slice(11, 16), move.from, move.to])).toEqual([
      ['10:10', null, 'Dock'],
      ['10:20', 'Dock', 'Yard'],
    ])
    expect(await site.assetLocations()).toEqual({ PALLET: ['YARD', at('10:20:00.000')] })
  })

  it('without a location does not clear the current location', async () => {
    const site = await Site.open(context.app, 'Dock', 'Hall')
    const pallet = await site.createAsset('Pallet')
    await site.sendReads({ tag: pallet.tag, antenna: 1, observed_at: at('10:10:00') })
    await site.sendReads({ tag: pallet.tag, antenna: 9, observed_at: at('10:05:00') })
    await site.sendReads({ tag: pallet.tag, antenna: 2, observed_at: at('10:15:00') })
    expect((await site.moves()).map((move) => [move.from, move.to])).toEqual([
      [null, 'Dock'],
      ['Dock', 'Hall'],
    ])
  })
})

describe('the retention window (D30)', () => {
  const day = (days: number, extraMs = 0): string =>
    new Date(Date.parse(at('12:00:00.500')) - days * 86_400_000 + extraMs).toISOString()

  it('ignores and counts reads older than it, and accepts the others of the message', async () => {
    const site = await Site.open(context.app, 'Dock')
    const pallet = await site.createAsset('Pallet')
    const reads = [day(400), day(400, -1), day(900), at('10:00:00.000')].map((hmacTag) => ({
      tag: pallet.tag,
      observed_at: hmacTag,
    }))
    const reply = await site.post({ reads })
    expect([reply.status, reply.json]).toEqual([202, { data: { accepted: 2, ignored: 2 } }])
    expect((await site.history(pallet)).map(([hmacTag]) => hmacTag)).toEqual([day(400), at('10:00:00.000')])
  })

  it('ignores a whole message of old reads', async () => {
    const site = await Site.open(context.app, 'Dock')
    const pallet = await site.createAsset('Pallet')
    const reply = await site.post([{ tag: pallet.tag, observed_at: day(401) }])
    expect([reply.status, reply.json]).toEqual([202, { data: { accepted: 0, ignored: 1 } }])
    expect(await state(site)).toEqual({ minutes: [], positions: [], moves: [] })
  })
})

describe('redelivery (D31)', () => {
  const message = (tags: readonly string[]): ReadJson[] => [
    { tag: tags[0]!, antenna: 1, observed_at: at('10:00:10') },
    { tag: tags[0]!, antenna: 2, observed_at: at('10:00:20') },
    { tag: tags[0]!, antenna: 2, observed_at: at('10:01:20') },
    { tag: tags[1]!, antenna: 9, observed_at: at('10:01:25') },
    { tag: tags[1]!, antenna: 1, observed_at: at('10:02:25') },
    { tag: tags[0]!, antenna: 1, observed_at: at('10:03:25') },
    { tag: tags[1]!, antenna: 2, observed_at: at('09:03:25') },
  ]

  const prepared = async (): Promise<{ site: Site; reads: ReadJson[] }> => {
    const site = await Site.open(context.app, 'Dock', 'Hall')
    const reads = message([(await site.createAsset('One')).tag, (await site.createAsset('Two')).tag])
    await site.sendReads(...reads)
    return { site, reads }
  }

  it.each([
    ['the whole message', (reads: ReadJson[]) => [reads]],
    ['the whole message many times', (reads: ReadJson[]) => Array.from({ length: 5 }, () => reads)],
    ['the message in reverse', (reads: ReadJson[]) => [reads.toReversed()]],
    ['each read alone', (reads: ReadJson[]) => reads.map((read) => [read])],
    ['each read alone in reverse', (reads: ReadJson[]) => reads.toReversed().map((read) => [read])],
    ['parts of it, overlapping', (reads: ReadJson[]) => [reads.slice(3), reads.slice(0, 5), reads.slice(2, 6)]],
    ['it twice in one message', (reads: ReadJson[]) => [[...reads, ...reads]]],
  ])('of %s changes nothing', async (_, grouped) => {
    const { site, reads } = await prepared()
    const before = await state(site)
    expect(before.moves).toHaveLength(5)
    for (const group of grouped(reads)) await site.sendReads(...group)
    expect(await state(site)).toEqual(before)
  })

  it('at the same moment as the first changes nothing either', async () => {
    const site = await Site.open(context.app, 'Dock', 'Hall')
    const reads = message([(await site.createAsset('One')).tag, (await site.createAsset('Two')).tag])
    await Promise.all(Array.from({ length: 8 }, () => site.sendReads(...reads)))
    const { minutes, moves } = await state(site)
    expect([minutes.length, moves.length]).toEqual([6, 5])
  })

  it('changes nothing after newer reads, nor after the antenna was assigned to another location', async () => {
    const { site, reads } = await prepared()
    await site.sendReads({ tag: reads[0]!.tag, antenna: 2, observed_at: at('11:00:00') })
    const { accessToken } = await site.org.signIn('manager')
    const scan_points = [{ antenna: 1, location_id: site.locations[1]!.id }]
    const patched = await context.app.anonymous('PATCH', `/api/v1/readers/${site.readerId}`, {
      token: accessToken,
      json: { scan_points },
    })
    expect(patched.status).toBe(200)
    const before = await state(site)
    await site.sendReads(...reads)
    expect(await state(site)).toEqual(before)
  })

  it('does not undo an operator’s save', async () => {
    const { site, reads } = await prepared()
    const [one] = (await site.api.get('/api/v1/assets')).json.data
    await site.recordSighting(site.locations[1]!, [one], at('10:03:40'))
    const before = await state(site)
    await site.sendReads(...reads)
    expect(await state(site)).toEqual(before)
    expect((await site.assetLocations())['ONE']).toEqual(['HALL', at('10:03:40.000')])
  })
})
