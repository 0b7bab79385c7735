import mqtt, { type MqttClient } from 'mqtt'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { readerChangedTopic, rotateReaderToken } from '../../src/readers/commands.ts'
import { type TestApp, startApp } from '../support/app.ts'
import { freePort } from '../support/process.ts'
import { Site, database, eventually, useTracking } from '../support/tracking.ts'

const ports = [await freePort(), await freePort()] as const
const alone = 'the second process has a broker of its own'
const context = useTracking('2026-09-22T00:00:00Z', { settings: { LASTSEEN_MQTT_PORT: String(ports[0]) }, alone })
let second: TestApp

beforeAll(async () => {
  const options = { beside: context.app, isOneOfSeveral: true, clock: context.clock }
  second = await startApp({ ...options, settings: { LASTSEEN_MQTT_PORT: String(ports[1]) } })
})
afterAll(() => second.stop())

const clients: MqttClient[] = []
afterEach(async () => {
  for (const client of clients.splice(0)) await client.endAsync(true)
})

type Login = Pick<Site, 'readerId' | 'token'>

async function signIn({ readerId, token }: Login, port: number = ports[0], clientId?: string): Promise<MqttClient> {
  const login = { username: String(readerId), password: token, ...(clientId === undefined ? {} : { clientId }) }
  const url = `mqtt://127.0.0.1:${port}`
  const client = await mqtt.connectAsync(url, { ...login, reconnectPeriod: 0, connectTimeout: 10_000 }, false)
  clients.push(client)
  return client
}

describe('The MQTT connections of a reader are closed in every process within a second', () => {
  const expectCut = (connected: MqttClient[]): Promise<void> =>
    eventually(async () => expect(connected.map((client) => client.connected)).toEqual([false, false]), 1000)

  it('after it was deleted, and those of other readers stay', async () => {
    const [site, other] = [await Site.open(context.app, 'Dock'), await Site.open(context.app, 'Dock')]
    const deleted = [await signIn(site), await signIn(site, ports[1])]
    const others = [await signIn(other), await signIn(other, ports[1])]
    const { accessToken: token } = await site.org.signIn('admin')
    const reply = await context.app.anonymous('DELETE', `/api/v1/readers/${site.readerId}`, { token })
    expect(reply.status).toBe(204)
    await expectCut(deleted)
    expect(others.map((client) => client.connected)).toEqual([true, true])
  })

  it('after it was given a new token, but not after another change', async () => {
    const site = await Site.open(context.app, 'Dock')
    const connected = [await signIn(site), await signIn(site, ports[1])]
    const { accessToken: token } = await site.org.signIn('admin')
    const json = { name: 'Gate 7' }
    const reply = await context.app.anonymous('PATCH', `/api/v1/readers/${site.readerId}`, { token, json })
    expect(reply.status).toBe(200)
    const { core } = context.app
    expect(connected.map((client) => client.connected)).toEqual([true, true])
    const rotated = await rotateReaderToken(core, site.org.orgId, site.readerId)
    await core.wake.announce(readerChangedTopic, String(site.readerId))
    await expectCut(connected)
    expect((await signIn({ readerId: site.readerId, token: rotated.token })).connected).toBe(true)
  })

  it('after it was deleted while its process could not receive notifications, once it can again', async () => {
    const site = await Site.open(context.app, 'Dock')
    const client = await signIn(site, ports[1])
    const sql = database(context.app)
    await sql`delete from scan_points where reader_id = ${site.readerId}`
    await sql`delete from readers where id = ${site.readerId}`
    await sql`delete from reader_directory where reader_id = ${site.readerId}`
    await sql`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and query ilike 'listen %'`
    await eventually(async () => expect(client.connected).toBe(false))
  })
})
