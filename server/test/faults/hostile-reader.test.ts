import { once } from 'node:events'
import { connect } from 'node:net'
import type { MqttClient } from 'mqtt'
import { beforeAll, describe, expect, it } from 'vitest'
import { ReaderFleet, overHttp, overMqtt } from '../support/reader-fleet.ts'
import { publish, connectMqtt } from '../support/mqtt.ts'
import { freePort } from '../support/free-port.ts'
import { Site, type SiteAsset, database, useTracking } from '../support/tracking.ts'

const port = await freePort()
const url = `mqtt://127.0.0.1:${port}`
const now = '2026-05-04T12:00:00Z'
const context = useTracking(now, { settings: { LASTSEEN_MQTT_PORT: String(port) } })

const mib = 1024 * 1024

/** Payloads of a broken or hostile device; `tag` is attached to an asset of its organization. */
const hostile = (tag: string): [string, string | Buffer][] => [
  ['nothing', ''],
  ['broken JSON', `{"reads":[{"tag":"${tag}"`],
  ['bytes that are no text', Buffer.from([0xff, 0xfe, 0x00, 0x80, 0xc3])],
  ['a million brackets', '['.repeat(500_000) + ']'.repeat(500_000)],
  ['brackets that never close', '{"a":'.repeat(100_000)],
  ['the deepest it may be', `${'['.repeat(63)}${']'.repeat(63)}`],
  ['a list of everything', JSON.stringify([null, 1, 'x', [], {}, true, [[]], { tag: null }, { reads: 5 }])],
  [
    'every field of a wrong type',
    JSON.stringify([
      { tag: 5, antenna: 'one', rssi: {}, observed_at: [] },
      { tag: {}, antenna: null },
      { tag, antenna: -1, observed_at: '2026-05-04T08:00:00Z', tag_type: 7 },
      { tag, antenna: 1e308, rssi: 'loud', observed_at: 5 },
      { tag: [tag], observed_at: true },
    ]),
  ],
  ['names of objects', JSON.stringify({ __proto__: 1, constructor: 2, reads: { length: 5e9 } })],
  ['characters that cannot be stored', JSON.stringify([{ tag: '\u0000' }, { tag: '\uD800' }, { tag: '\u001b[2J' }])],
  ['a tag as long as a book', JSON.stringify([{ tag: 'A'.repeat(900_000) }])],
  ['a hundred thousand reads', `[${Array.from({ length: 90_000 }, () => '{"tag":1}').join()}]`],
  ['other numbers than there are', `[{"tag":"${tag}","antenna":1e999},{"tag":"${tag}","rssi":NaN}]`],
]

const dated = (tag: string, observed_at: string) => JSON.stringify([{ tag, antenna: 1, observed_at }])

let site: Site
let asset: SiteAsset
beforeAll(async () => {
  site = await Site.open(context.app, 'Dock')
  asset = await site.createAsset('Pallet')
})

const postRaw = (raw: string | Buffer) => context.app.anonymous('POST', '/ingest/v1/reads', { token: site.token, raw })
const signIn = (): Promise<MqttClient> => connectMqtt(url, { username: String(site.readerId), password: site.token })

/** After any payload, no minute of the asset is in the future, and its tag still belongs to it. */
async function expectSane(clock: string): Promise<void> {
  const rows = await database(context.app)`
    select from asset_minutes where org_id = ${site.org.orgId} and minute > ${now}::timestamptz + interval '2 minutes'`
  expect(rows).toHaveLength(0)
  const before = (await site.history(asset)).length
  await site.sendReads({ tag: asset.tag, antenna: 1, observed_at: `2026-05-04T${clock}Z` })
  expect(await site.history(asset)).toHaveLength(before + 1)
}

describe('a hostile reader', () => {
  it.each(hostile('E2800000000000000000FFFF'))(
    'that sends %s over HTTP gets a response, and so does its next request',
    async (_, raw) => {
      const reply = await postRaw(raw)
      expect([202, 400]).toContain(reply.status)
      if (reply.status === 400) expect(reply.json.error.type).toBe('bad_request')
      else expect(reply.json.data.accepted).toBe(0)
    },
  )

  it('that sends any of this over MQTT gets an acknowledgement, and its next message is processed', async () => {
    const client = await signIn()
    for (const [what, bytes] of hostile('E2800000000000000000FFFF'))
      expect([what, await publish(client, 'gate', bytes)]).toEqual([what, 'acknowledged'])
    expect(await publish(client, 'gate', 'x'.repeat(3 * mib))).toBe('acknowledged')
    expect(await publish(client, 'gate', dated(asset.tag, '2026-05-04T07:00:00Z'))).toBe('acknowledged')
    expect(await site.history(asset)).toEqual([['2026-05-04T07:00:00.000Z', 'DOCK', null]])
    await client.endAsync(true)
    await expectSane('07:01:00')
  })

  it('that sends more than the limits is disconnected, over MQTT and HTTP, authenticated or not', async () => {
    const client = await signIn()
    expect(await publish(client, 'gate', Buffer.alloc(5 * mib))).toBe('cut off')
    await client.endAsync(true)
    const outsider = connect(port, '127.0.0.1')
    const ended = once(outsider.on('error', () => undefined).resume(), 'close')
    outsider.write(Buffer.from([0x10, 0xff, 0xff, 0xff, 0x7f]))
    await ended
    const reply = await postRaw('x'.repeat(3 * mib))
    expect([reply.status, reply.json.error.type]).toEqual([400, 'bad_request'])
    await expectSane('07:02:00')
  })

  it('that sends future timestamps records nothing in the future, over HTTP and MQTT (D30)', async () => {
    const client = await signIn()
    for (const hmacTag of [
      '9999-12-31T23:59:59Z',
      '2026-05-04T12:02:00.000001Z',
      '2261-01-01T00:00:00Z',
      '10000-01-01',
    ]) {
      expect((await postRaw(dated(asset.tag, hmacTag))).status).toBe(202)
      expect(await publish(client, 'gate', dated(asset.tag, hmacTag))).toBe('acknowledged')
    }
    await client.endAsync(true)
    expect((await site.assetLocations())['PALLET']).toEqual(['DOCK', '2026-05-04T12:00:00.000Z'])
    await expectSane('07:03:00')
  })

  it('that replays its messages changes nothing, over HTTP and MQTT (D31)', async () => {
    const client = await signIn()
    const message = dated(asset.tag, '2026-05-04T07:30:00Z')
    expect((await postRaw(message)).status).toBe(202)
    const before = [await site.history(asset), await site.moves(), await site.assetLocations()]
    await Promise.all([
      ...Array.from({ length: 100 }, () => postRaw(message)),
      ...Array.from({ length: 100 }, () => publish(client, 'gate', message)),
    ])
    await client.endAsync(true)
    expect([await site.history(asset), await site.moves(), await site.assetLocations()]).toEqual(before)
  })

  it('leaves the ingest of other organizations untouched', async () => {
    const createFleet = () => ReaderFleet.create(context.app.databaseUrl, 2, 5, Date.parse(now))
    const fleets = [await createFleet(), await createFleet()]
    const mqtt = overMqtt(url, { isOutside: false })
    fleets[0]!.start(overHttp(context.app.url))
    fleets[1]!.start(mqtt)
    const client = await signIn()
    for (const [, bytes] of hostile(asset.tag)) {
      await Promise.all([postRaw(bytes), publish(client, 'gate', bytes)])
      for (const fleet of fleets) await fleet.waitForBatches(1)
    }
    await client.endAsync(true)
    for (const fleet of fleets) await fleet.finish()
    await mqtt.end()
    for (const fleet of fleets) {
      expect(fleet.resent).toBe(0)
      expect(await fleet.recorded(context.app.databaseUrl)).toEqual(fleet.expected())
    }
    expect((await context.app.anonymous('GET', '/readyz')).status).toBe(200)
  }, 60_000)
})
