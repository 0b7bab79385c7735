import { beforeAll, describe, expect, it } from 'vitest'
import type { Reply } from '../../support/client.ts'
import { Site, type SiteAsset, database, expectApiError, newTag, useTracking } from '../../support/tracking.ts'

const context = useTracking('2026-05-04T12:00:00Z')

const at = (clock: string): string => `2026-05-04T${clock}Z`
const path = '/ingest/v1/reads'

let site: Site
let pallet: SiteAsset

beforeAll(async () => {
  site = await Site.open(context.app, 'Dock', 'Hall')
  pallet = await site.createAsset('Pallet')
})

/** A reader whose antennas 1 and 2 are at Dock and Hall, and an asset that was never seen. */
async function fresh(format = 'auto'): Promise<{ token: string; asset: SiteAsset }> {
  const scanPoints = site.locations.map((location, index) => ({ antenna: index + 1, locationId: location.id }))
  const { token } = await site.createReader({ format, scanPoints })
  return { token, asset: await site.createAsset(`Thing ${newTag()}`) }
}

describe('a message of reads', () => {
  const read = (tag: string, antenna: number, clock: string) => ({ tag, antenna, observed_at: at(clock) })
  const zebra = (tag: string, antenna: number, clock: string) => ({
    data: { antenna, eventNum: 1, format: 'epc', idHex: tag.toLowerCase(), peakRssi: -48 },
    timestamp: at(clock).replace('Z', '+0000'),
    type: 'SIMPLE',
  })
  const impinj = (tag: string, antenna: number, clock: string) => ({
    timestamp: at(clock),
    hostname: 'impinj-1a-2b-3c',
    eventType: 'tagInventory',
    tagInventoryEvent: {
      epc: Buffer.from(tag, 'hex').toString('base64'),
      antennaPort: antenna,
      lastSeenTime: at(clock),
    },
  })
  const csl = (tag: string, antenna: number, clock: string) => ({
    sequenceNumber: 41,
    rfidReaderName: 'dock-3',
    numberOfTags: 1,
    tags: [{ epc: tag, timeStampOfRead: Date.parse(at(clock)) * 1000, antennaPort: antenna, rssi: '-58.5' }],
  })
  const lines = (...objects: object[]): string => objects.map((one) => JSON.stringify(one)).join('\n')

  it.each<[string, (tag: string) => string]>([
    ['an object of reads', (tag) => JSON.stringify({ reads: [read(tag, 1, '10:00:00'), read(tag, 2, '10:01:00')] })],
    ['a bare array', (tag) => JSON.stringify([read(tag, 1, '10:00:00'), read(tag, 2, '10:01:00')])],
    ['lines of reads', (tag) => lines(read(tag, 1, '10:00:00'), read(tag, 2, '10:01:00'))],
    [
      'lines of messages',
      (tag) => lines({ reads: [read(tag, 1, '10:00:00')] }, { seq: 2, reads: [read(tag, 2, '10:01:00')] }),
    ],
    ['lines that end with a line feed', (tag) => `${lines(read(tag, 1, '10:00:00'), read(tag, 2, '10:01:00'))}\n`],
    ['Zebra events in an array', (tag) => JSON.stringify([zebra(tag, 1, '10:00:00'), zebra(tag, 2, '10:01:00')])],
    [
      'Zebra events without a separator',
      (tag) => [zebra(tag, 1, '10:00:00'), zebra(tag, 2, '10:01:00')].map((one) => JSON.stringify(one)).join(''),
    ],
    ['Impinj events in an array', (tag) => JSON.stringify([impinj(tag, 1, '10:00:00'), impinj(tag, 2, '10:01:00')])],
    ['Impinj events in lines', (tag) => lines(impinj(tag, 1, '10:00:00'), impinj(tag, 2, '10:01:00'))],
  ])('is accepted as %s', async (_, body) => {
    const { token, asset } = await fresh()
    const reply = await context.app.anonymous('POST', path, { token, raw: body(asset.tag) })
    expect([reply.status, reply.json]).toEqual([202, { data: { accepted: 2, ignored: 0 } }])
    expect(await site.history(asset)).toEqual([
      [at('10:00:00.000'), 'DOCK', null],
      [at('10:01:00.000'), 'HALL', 60],
    ])
  })

  it.each([
    ['zebra-fixed', zebra],
    ['impinj', impinj],
    ['csl', csl],
    ['generic', read],
  ])('is accepted from a reader configured as %s', async (format, message) => {
    const { token, asset } = await fresh(format)
    const reply = await site.post(message(asset.tag, 2, '10:00:00'), token)
    expect([reply.status, reply.json]).toEqual([202, { data: { accepted: 1, ignored: 0 } }])
    expect(await site.history(asset)).toEqual([[at('10:00:00.000'), 'HALL', null]])
  })

  it('is decoded in the configured format of the reader, whatever its content', async () => {
    const { token, asset } = await fresh('impinj')
    const reply = await site.post({ reads: [read(asset.tag, 1, '10:00:00')] }, token)
    expect(reply.json.data?.accepted ?? 0).toBe(0)
    expect(await site.history(asset)).toEqual([])
  })

  it.each(['application/json', 'text/plain', 'application/octet-stream', 'application/x-www-form-urlencoded', 'x'])(
    'may claim to be %s',
    async (type) => {
      const { token, asset } = await fresh()
      const raw = JSON.stringify([read(asset.tag, 1, '10:00:00')])
      const reply = await context.app.anonymous('POST', path, { token, raw, headers: { 'content-type': type } })
      expect([reply.status, reply.json.data.accepted]).toEqual([202, 1])
    },
  )

  it('counts reads of attached tags as accepted, and unknown tags, invalid records and old reads as ignored', async () => {
    const { token, asset } = await fresh()
    const reads = [
      read(asset.tag, 1, '10:00:00'),
      read(asset.tag, 1, '10:00:30'),
      read(newTag(), 1, '10:00:00'),
      { antenna: 1 },
      'nonsense',
      { tag: asset.tag, antenna: -4 },
      { tag: asset.tag, observed_at: '2020-01-01T00:00:00Z' },
    ]
    const reply = await site.post({ reads }, token)
    expect([reply.status, reply.json]).toEqual([202, { data: { accepted: 2, ignored: 5 } }])
    expect(await site.history(asset)).toHaveLength(1)
  })

  it.each([
    ['an empty body', ''],
    ['blanks', ' \r\n '],
    ['an empty array', '[]'],
    ['an object without reads', '{"reads":[]}'],
    ['a sign of life', '{"reads":[],"seq":5,"sent_at":"2026-05-04T11:59:59Z"}'],
  ])('may be %s, which is not an error', async (_, raw) => {
    const { token } = await fresh()
    const reply = await context.app.anonymous('POST', path, { token, raw })
    expect([reply.status, reply.json]).toEqual([202, { data: { accepted: 0, ignored: 0 } }])
  })

  it('is matched by the first identity that is attached to an asset', async () => {
    const { token, asset } = await fresh()
    const event = impinj('3035AC1F00000B4000000A11', 1, '10:00:00')
    const tagInventoryEvent = { ...event.tagInventoryEvent, tidHex: asset.tag }
    const reply = await site.post({ ...event, tagInventoryEvent }, token)
    expect(reply.json).toEqual({ data: { accepted: 1, ignored: 0 } })
    expect(await site.history(asset)).toHaveLength(1)
  })

  it('counts reads past five thousand as ignored', async () => {
    const { token, asset } = await fresh()
    const reads = Array.from({ length: 5003 }, () => ({ tag: asset.tag, observed_at: at('10:00:00') }))
    expect((await site.post(reads, token)).json).toEqual({ data: { accepted: 5000, ignored: 3 } })
  })

  it('affects only the reader’s organization, also when another organization uses the same tags', async () => {
    const other = await Site.open(context.app, 'Elsewhere')
    const twin = await other.createAsset('Twin', { tags: [{ tag_type: 'rfid', value: pallet.tag }] })
    await site.sendReads(read(pallet.tag, 1, '10:00:00'))
    expect(await other.history(twin)).toEqual([])
    await other.sendReads(read(pallet.tag, 1, '10:05:00'))
    expect(await other.history(twin)).toEqual([[at('10:05:00.000'), 'ELSEWHERE', null]])
    expect((await site.history(pallet)).map(([hmacTag]) => hmacTag)).toEqual([at('10:00:00.000')])
  })

  it('changes nothing when its tag is known to another organization only', async () => {
    const other = await Site.open(context.app, 'Elsewhere')
    const reply = await other.post([read(pallet.tag, 1, '10:00:00')])
    expect(reply.json).toEqual({ data: { accepted: 0, ignored: 1 } })
  })
})

describe('a message that is rejected', () => {
  it.each([
    ['words', 'hello'],
    ['broken JSON', '{"reads":['],
    ['a number', '5'],
    ['null', 'null'],
    ['an unknown object', '{"temperature":21}'],
    ['invalid UTF-8', Buffer.from([0xff, 0xfe, 0x00])],
    ['JSON too deep', '['.repeat(100) + ']'.repeat(100)],
  ])('is %s', async (_, raw) => {
    const { token } = await fresh()
    const reply = await context.app.anonymous('POST', path, { token, raw })
    expectApiError(reply, 400, 'bad_request')
    expect(reply.json.error.instance).toBe(path)
  })

  it('is larger than 1 MiB, and the connection stays usable', async () => {
    const { token, asset } = await fresh()
    const padding = (size: number): string =>
      JSON.stringify([{ tag: asset.tag, observed_at: at('10:00:00') }]).padEnd(size)
    const rejected = await context.app.anonymous('POST', path, { token, raw: padding(1024 * 1024 + 1) })
    expectApiError(rejected, 400, 'bad_request')
    expect(await site.history(asset)).toEqual([])
    const taken = await context.app.anonymous('POST', path, { token, raw: padding(1024 * 1024) })
    expect([taken.status, taken.json.data.accepted]).toEqual([202, 1])
  })

  it('changes nothing', async () => {
    const before = await database(context.app)`select count(*) as count from asset_minutes`
    const { token } = await fresh()
    await context.app.anonymous('POST', path, { token, raw: `{"temperature":21,"tag_":"${pallet.tag}"}` })
    expect(await database(context.app)`select count(*) as count from asset_minutes`).toEqual(before)
  })
})

describe('the response to a message', () => {
  it('is sent only when its reads are durable', async () => {
    const { token, asset } = await fresh()
    await site.post([{ tag: asset.tag, antenna: 1, observed_at: at('10:00:00') }], token)
    const sql = database(context.app)
    let answered = false
    let going: Promise<Reply> | undefined
    await sql.begin(async (tx) => {
      await tx`select from asset_positions where org_id = ${site.org.orgId} and asset_id = ${asset.id} for update`
      going = site.post([{ tag: asset.tag, antenna: 2, observed_at: at('10:01:00') }], token)
      void going.then(() => (answered = true))
      await new Promise((resume) => setTimeout(resume, 400))
      expect(answered).toBe(false)
    })
    expect((await going)?.status).toBe(202)
    const rows = await sql`select location_id from asset_minutes where asset_id = ${asset.id} order by minute`
    expect(rows.map((row) => row['location_id'])).toEqual(site.locations.map((location) => location.id))
  })

  it('is internal_error when the reads could not be written, and sending them again succeeds', async () => {
    const { token, asset } = await fresh()
    const sql = database(context.app)
    await sql`alter table asset_minutes add constraint not_now check (asset_id <> ${sql.unsafe(String(asset.id))}) not valid`
    const message = [{ tag: asset.tag, antenna: 1, observed_at: at('10:00:00') }]
    expectApiError(await site.post(message, token), 500, 'internal_error')
    await sql`alter table asset_minutes drop constraint not_now`
    expect((await site.post(message, token)).json).toEqual({ data: { accepted: 1, ignored: 0 } })
    expect(await site.history(asset)).toHaveLength(1)
  })
})
