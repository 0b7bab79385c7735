import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type TestApp, startApp } from '../support/app.ts'
import { ReaderFleet, overMqtt } from '../support/reader-fleet.ts'
import { Mosquitto, isBrokerMissing } from '../support/mqtt.ts'
import { TcpProxy } from '../support/tcp-proxy.ts'
import { freePort } from '../support/free-port.ts'
import { eventually } from '../support/tracking.ts'

describe('an embedded broker whose connections are dropped in the middle of a stream', () => {
  let app: TestApp
  let proxy: TcpProxy
  beforeAll(async () => {
    const port = String(await freePort())
    app = await startApp({ settings: { LASTSEEN_MQTT_PORT: port } })
    proxy = new TcpProxy(`mqtt://127.0.0.1:${port}`)
    await proxy.open()
  })
  afterAll(async () => {
    await app.stop()
    await proxy.close()
  })

  it('has recorded every read it acknowledged once, and every move once (D31, D32)', async () => {
    const fleet = await ReaderFleet.create(app.databaseUrl, 4, 5)
    const transport = overMqtt(proxy.url, { isOutside: false })
    fleet.start(transport)
    for (let round = 0; round < 20; round++) {
      await fleet.waitForBatches(4)
      await sleep(Math.random() * 20)
      proxy.dropConnections()
    }
    await fleet.waitForBatches(4)
    await fleet.finish()
    await transport.end()
    expect(fleet.resent).toBeGreaterThan(20)
    expect(await fleet.recorded(app.databaseUrl)).toEqual(fleet.expected())
  }, 120_000)
})

/** Skipped without the program `mosquitto`, except in CI. */
describe.skipIf(isBrokerMissing)('an external broker that is restarted in the middle of a stream', () => {
  let app: TestApp
  let broker: Mosquitto
  beforeAll(async () => {
    broker = new Mosquitto(await freePort(), { isKeeping: true })
    await broker.start()
    app = await startApp({ settings: { LASTSEEN_MQTT_URL: broker.url } })
    await broker.waitForSubscribers(1)
  })
  afterAll(async () => {
    await app.stop()
    await broker.stop()
  })

  it('is subscribed to again automatically, and every read it acknowledged is recorded once (D31, D32)', async () => {
    const fleet = await ReaderFleet.create(app.databaseUrl, 3, 5)
    const transport = overMqtt(broker.url, { isOutside: true })
    // The broker acknowledges at once, so the readers are throttled to the write rate of a slow machine.
    fleet.start(async (reader, body) => (await sleep(10), transport(reader, body)))
    for (let round = 0; round < 4; round++) {
      await fleet.waitForBatches(30)
      await broker.end()
      await broker.start()
      await broker.waitForSubscribers(1)
    }
    await fleet.waitForBatches(30)
    await fleet.finish()
    await transport.end()
    const expected = fleet.expected()
    expect(expected.minutes.length).toBeGreaterThan(5 * 30 * 5)
    await eventually(async () => expect(await fleet.recorded(app.databaseUrl)).toEqual(expected), 20_000)
  }, 120_000)
})
