import type { MqttClient } from 'mqtt'
import postgres from 'postgres'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { showInbox } from '../../src/cli/reader.ts'
import { type TestApp, startApp } from '../support/app.ts'
import { Mosquitto, isBrokerMissing, publish, connectMqtt } from '../support/mqtt.ts'
import { freePort } from '../support/free-port.ts'
import { Site, type SiteAsset, closeDatabase, database, eventually } from '../support/tracking.ts'

const minute = 60_000
const start = Math.floor(Date.now() / minute) * minute - 600 * minute
const hmacTag = (index: number): string => new Date(start + index * minute).toISOString()

/** Skipped without the program `mosquitto`, except in CI. */
describe.skipIf(isBrokerMissing)('subscribing to an external broker', () => {
  let broker: Mosquitto
  let app: TestApp
  let settings: Record<string, string>
  let site: Site
  let asset: SiteAsset
  let topic: string
  let reader: MqttClient

  beforeAll(async () => {
    broker = new Mosquitto(await freePort())
    await broker.start()
    settings = { LASTSEEN_MQTT_URL: broker.url }
    app = await startApp({ settings, isOneOfSeveral: true })
    await broker.waitForSubscribers(1)
  })
  afterAll(async () => {
    await closeDatabase(app)
    await app.stop()
    await broker.stop()
  })
  beforeEach(async () => {
    site = await Site.open(app, 'Dock', 'Hall')
    asset = await site.createAsset('Pallet')
    const [row] = await database(app)`select topic_key from readers where id = ${site.readerId}`
    topic = `lastseen/${row!['topic_key']}/reads`
    reader = await connectMqtt(broker.url, {})
    return () => reader.endAsync(true)
  })

  const read = (index: number) => ({
    reads: [{ tag: asset.tag, antenna: (index % 2) + 1, observed_at: hmacTag(index) }],
  })

  /** The recorded minutes, as the indexes they were generated from. */
  const recorded = async (): Promise<number[]> => {
    const rows = await database(app)<{ minute: Date }[]>`
      select minute from asset_minutes where org_id = ${site.org.orgId} order by minute`
    return rows.map((row) => (row.minute.getTime() - start) / minute)
  }

  const activity = async () => {
    const [row] = await database(app)`
      select messages, reads, ignored, warning from readers where id = ${site.readerId}`
    return { ...row }
  }

  /** Messages may be reordered, yet every move starts where the previous one ended, and the last one is current. */
  const expectChain = async (): Promise<void> => {
    const moves = await site.moves()
    expect(moves.map((move) => move.from)).toEqual([null, ...moves.slice(0, -1).map((move) => move.to)])
    const rows = (await site.assetLocations())['PALLET']!
    expect(rows[0]).toBe(moves.at(-1)!.to.toUpperCase())
  }

  const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index)

  it('records what is published under the topic of a reader', async () => {
    expect(await publish(reader, topic, read(0))).toBe('acknowledged')
    expect(await publish(reader, topic.replace('/reads', '/gate/2'), read(1))).toBe('acknowledged')
    await eventually(async () => expect(await recorded()).toEqual([0, 1]))
    expect((await site.moves()).map((move) => [move.from, move.to])).toEqual([
      [null, 'Dock'],
      ['Dock', 'Hall'],
    ])
    await eventually(async () => {
      expect(await activity()).toEqual({ messages: 2, reads: 2, ignored: 0, warning: null })
    })
  })

  it('ignores messages with an unknown topic or format, and processes the next ones', async () => {
    await publish(reader, 'lastseen/nobody/reads', read(0))
    await publish(reader, 'lastseen/', read(0))
    await publish(reader, `lastseen/${'x'.repeat(300)}/reads`, read(0))
    await publish(reader, topic, Buffer.from([0xff, 0x00, 0xfe]))
    await publish(reader, topic, read(1))
    await eventually(async () => expect(await recorded()).toEqual([1]))
    await eventually(async () => {
      expect(await activity()).toEqual({
        ...{ messages: 2, reads: 1, ignored: 1, warning: 'A message was in no known format' },
      })
    })
    await eventually(async () => {
      const { rows: inbox } = await showInbox(app.context)
      const at = expect.stringMatching(/^20.*Z$/)
      for (const topic of ['lastseen/nobody/reads', 'lastseen/', `lastseen/${'x'.repeat(191)}`])
        expect(inbox).toContainEqual({ topic, messages: 1, first_seen_at: at, last_seen_at: at })
    })
    const { log } = broker
    const given = [...log.matchAll(/Sending PUBLISH to (lastseen-\S+) \(d0, q1, r0, (m\d+)/g)].map(
      ([, who, id]) => `${who} ${id}`,
    )
    await eventually(async () => {
      const taken = broker
        .matches(/Received PUBACK from (lastseen-\S+) \(Mid: (\d+)/)
        .map(([, who, id]) => `${who} m${id}`)
      expect(taken).toHaveLength(given.length)
    })
  })

  it('shares the messages among the processes on one database, each handled once', async () => {
    const before = broker.matches(/Sending SUBACK to lastseen-/).length
    const second = await startApp({ settings, sharesDatabaseWith: app, isOneOfSeveral: true })
    await broker.waitForSubscribers(before + 1)
    const countBefore = broker.deliveredCounts()
    await Promise.all(upTo(200).map((index) => publish(reader, topic, read(index))))
    await eventually(async () => expect(await recorded()).toEqual(upTo(200)), 20_000)
    const shares = [...broker.deliveredCounts()].map(([who, count]) => count - (countBefore.get(who) ?? 0))
    expect(shares.reduce((sum, one) => sum + one, 0)).toBe(200)
    expect(shares.filter((one) => one > 0)).toHaveLength(2)
    await eventually(async () => expect(await activity()).toMatchObject({ messages: 200, reads: 200, ignored: 0 }))
    await second.stop()

    // The remaining process receives all messages: none waits for the stopped process.
    await Promise.all(upTo(20).map((index) => publish(reader, topic, read(200 + index))))
    await eventually(async () => expect(await recorded()).toEqual(upTo(220)))
    await expectChain()
  })

  it('receives messages that were published while no process was running', async () => {
    const [only, alone] = [new Mosquitto(await freePort()), await startApp()]
    await only.start()
    const own = await Site.open(alone, 'Dock')
    const pallet = await own.createAsset('Pallet')
    const [row] = await database(alone)`select topic_key from readers where id = ${own.readerId}`
    const client = await connectMqtt(only.url, {})
    const away = { settings: { LASTSEEN_MQTT_URL: only.url }, sharesDatabaseWith: alone }
    for (const index of [0, 1, 2]) {
      const listener = await startApp(away)
      await only.waitForSubscribers(index + 1)
      await eventually(async () => expect(await own.history(pallet)).toHaveLength(index))
      await listener.stop()
      const json = { reads: [{ tag: pallet.tag, observed_at: hmacTag(index) }] }
      expect(await publish(client, `lastseen/${row!['topic_key']}/reads`, json)).toBe('acknowledged')
      expect(await own.history(pallet)).toHaveLength(index)
    }
    await client.endAsync(true)
    await closeDatabase(alone)
    await alone.stop()
    await only.stop()
  })

  it('reconnects automatically when the broker was killed and restarted', async () => {
    await publish(reader, topic, read(0))
    await eventually(async () => expect(await recorded()).toEqual([0]))
    await broker.kill()
    await broker.start()
    await broker.waitForSubscribers(1)
    const again = await connectMqtt(broker.url, {})
    expect(await publish(again, topic, read(1))).toBe('acknowledged')
    await eventually(async () => expect(await recorded()).toEqual([0, 1]))
    await again.endAsync(true)
  })

  it('loses no acknowledged read when its database connections are dropped in the middle of a stream', async () => {
    const sql = postgres(app.databaseUrl, { max: 1, onnotice: () => undefined })
    const again = await connectMqtt(broker.url, {})
    const acknowledged: number[] = []
    let cut = 0
    for (const index of upTo(300)) {
      const sent = publish(again, topic, read(index)).then((it) => it === 'acknowledged' && acknowledged.push(index))
      if (index % 100 === 50) {
        const rows = await sql`
          select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`
        cut += rows.length
      }
      if (index % 5 === 0) await sent
    }
    await eventually(async () => expect(acknowledged).toHaveLength(300))
    expect(cut).toBeGreaterThan(3)
    await eventually(async () => expect(await recorded()).toEqual(upTo(300)), 20_000)
    await expectChain()
    await again.endAsync(true)
    await sql.end({ timeout: 5 })
  })
})
