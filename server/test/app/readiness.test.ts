import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openAppContext } from '../../src/app/context.ts'
import { startServer } from '../../src/app/server.ts'
import { readConfig } from '../../src/config/config.ts'
import { send } from '../support/client.ts'
import { cloneDatabase } from '../support/database.ts'
import { readMetrics } from '../support/metrics.ts'
import { Mosquitto, isBrokerMissing } from '../support/mqtt.ts'
import { freePort } from '../support/free-port.ts'
import { TcpProxy } from '../support/tcp-proxy.ts'
import { eventually } from '../support/tracking.ts'

const outageGraceMs = 4000

/** Skipped without the program `mosquitto`, except in CI. */
describe.skipIf(isBrokerMissing)('GET /readyz', () => {
  let broker: Mosquitto
  let proxy: TcpProxy
  let url: string
  const closings: (() => Promise<unknown>)[] = []

  /** Starts a server that reaches its database through the proxy. Its grace time is shorter than the default of a minute. */
  async function start(settings: Record<string, string>): Promise<string> {
    const config = readConfig({ DATABASE_URL: proxy.url, ...settings })
    const context = await openAppContext({ config, url: proxy.url })
    const log = pino({ level: 'silent' })
    const options = { host: '127.0.0.1', port: 0, isOneOfSeveral: true, log, outageGraceMs }
    const server = await startServer(context, options)
    closings.unshift(async () => {
      await server.close(1000)
      await context.close()
    })
    return `http://127.0.0.1:${server.port}`
  }

  beforeAll(async () => {
    const database = await cloneDatabase()
    proxy = new TcpProxy(database.url)
    await proxy.open()
    broker = new Mosquitto(await freePort())
    await broker.start()
    closings.push(
      () => proxy.close(),
      () => database.drop(),
      () => broker.stop(),
    )
    url = await start({ LASTSEEN_MQTT_URL: broker.url })
    await broker.waitForSubscribers(1)
  })
  afterAll(async () => {
    for (const close of closings) await close()
  })

  /** Asks once; the answer must come within a second, whatever is lost. */
  const ready = async (of = url): Promise<[number, string]> => {
    const askedAt = performance.now()
    const reply = await send(of, 'GET', '/readyz')
    expect(performance.now() - askedAt).toBeLessThan(1000)
    return [reply.status, reply.text]
  }
  const brokerOutage = async (): Promise<number> => (await readMetrics(url)).sum('lastseen_mqtt_broker_outage_seconds')
  const listenerOutage = async (): Promise<number> =>
    (await readMetrics(url)).sum('lastseen_notifications_outage_seconds')

  it('is 503 when the external broker is unreachable for long, and 200 as soon as it is back', async () => {
    const others = await start({ LASTSEEN_MQTT_URL: broker.url, LASTSEEN_ROLES: 'api' })
    expect(await ready()).toEqual([200, 'ready\n'])
    expect(await brokerOutage()).toBe(0)
    const killedAt = performance.now()
    await broker.kill()
    await eventually(async () => expect(await brokerOutage()).toBeGreaterThan(0))
    if (performance.now() - killedAt < outageGraceMs - 1000) expect(await ready()).toEqual([200, 'ready\n'])
    await eventually(async () => expect(await ready()).toEqual([503, 'the MQTT broker is not reachable\n']))
    expect(performance.now() - killedAt).toBeGreaterThanOrEqual(outageGraceMs)
    expect(await ready(others), 'a process without the role ingest').toEqual([200, 'ready\n'])
    await broker.start()
    await eventually(async () => expect(await ready()).toEqual([200, 'ready\n']), 30_000)
    expect(await brokerOutage()).toBe(0)
  })

  it('is 503 when the connection for notifications is lost for long, and 200 as soon as it is back', async () => {
    expect(await listenerOutage()).toBe(0)
    const cutAt = performance.now()
    proxy.refuse('lastseen pubsub')
    await eventually(async () => expect(await listenerOutage()).toBeGreaterThan(0))
    await eventually(async () =>
      expect(await ready()).toEqual([503, 'the database connection for notifications is lost\n']),
    )
    expect(performance.now() - cutAt).toBeGreaterThanOrEqual(outageGraceMs - 1000)
    proxy.refuse(null)
    await eventually(async () => expect(await ready()).toEqual([200, 'ready\n']))
    expect(await listenerOutage()).toBe(0)
  })

  it('is 503 at once when the database does not answer, and 200 as soon as it does', async () => {
    await proxy.close()
    expect(await ready()).toEqual([503, 'the database does not answer\n'])
    await proxy.open()
    await eventually(async () => expect(await ready()).toEqual([200, 'ready\n']))
  })
})
