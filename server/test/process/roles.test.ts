import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type AppContext, openAppContext } from '../../src/app/context.ts'
import { readConfig } from '../../src/config/config.ts'
import { TestApp } from '../support/app.ts'
import { send } from '../support/client.ts'
import { ReaderFleet, overMqtt } from '../support/reader-fleet.ts'
import { Mosquitto, isBrokerMissing } from '../support/mqtt.ts'
import { freePort } from '../support/free-port.ts'
import { type ReadyServer, emptyDatabase, lastseen, serve, usePrograms } from '../support/process.ts'
import { EventStream } from '../support/event-stream.ts'
import { Site, closeDatabase, eventually } from '../support/tracking.ts'
import { WebhookNetwork, WebhookOrg, urlOf } from '../support/webhooks.ts'

usePrograms()

const network = new WebhookNetwork()
let database: Awaited<ReturnType<typeof emptyDatabase>>
let broker: Mosquitto
let context: AppContext
let apis: ReadyServer[]
let ingests: ReadyServer[]
let delivers: ReadyServer[]
/** The API through two alternating processes, and the ingress for readers through two others. */
let api: TestApp
let ingest: TestApp

beforeAll(async () => {
  await network.prepare()
  database = await emptyDatabase()
  broker = new Mosquitto(await freePort())
  if (!isBrokerMissing) await broker.start()
  const mqtt = isBrokerMissing ? {} : { LASTSEEN_MQTT_URL: broker.url }
  const settings = { ...network.settings, ...mqtt, DATABASE_URL: database.url }
  const started = await Promise.all([
    ...[1, 2].map(() => serve(settings, { args: ['serve', '--roles', 'api'] })),
    ...[1, 2].map(() => serve(settings, { args: ['ingest'] })),
    serve(settings, { args: ['deliver'] }),
    serve({ ...settings, LASTSEEN_ROLES: 'deliver' }),
  ])
  apis = started.slice(0, 2)
  ingests = started.slice(2, 4)
  delivers = started.slice(4)
  context = await openAppContext({ config: readConfig({ DATABASE_URL: database.url }), url: database.url })
  const nothing = async (): Promise<void> => undefined
  const urls = (servers: readonly ReadyServer[]): string[] => servers.map((server) => server.url)
  api = new TestApp(urls(apis), context, database.url, nothing)
  ingest = new TestApp(urls(ingests), context, database.url, nothing)
}, 120_000)
afterAll(async () => {
  for (const server of [...apis, ...ingests, ...delivers]) await server.program.stop()
  await closeDatabase(api)
  await context.close()
  if (!isBrokerMissing) await broker.stop()
  await network.stop()
  await database.drop()
}, 60_000)

describe('two processes for each of three roles over one empty database', { timeout: 60_000 }, () => {
  it('start at the same moment: one migrates, and one API process prints the first credentials', () => {
    const said = (servers: readonly ReadyServer[]): string => servers.map(({ program }) => program.stderr).join('')
    expect(said([...apis, ...ingests, ...delivers]).match(/Database schema brought up to date/g)).toHaveLength(1)
    expect(said(apis).match(/First start/g)).toHaveLength(1)
    expect(said([...ingests, ...delivers])).not.toContain('First start')
    expect(ingests[0]!.program.stderr).toMatch(/^Lastseen is ready: http:\S+ {2}\(ingest, stop with Ctrl\+C\)$/m)
    expect(delivers[1]!.program.stderr).toMatch(/^Lastseen is ready: http:\S+ {2}\(deliver, stop with Ctrl\+C\)$/m)
  })

  it.each<[string, () => ReadyServer[], Record<string, number>]>([
    ['api', () => apis, { 'GET /api/v1/assets': 401, 'GET /api/docs': 200, 'POST /ingest/v1/reads': 404 }],
    ['ingest', () => ingests, { 'GET /api/v1/assets': 404, 'GET /': 404, 'POST /ingest/v1/reads': 401 }],
    ['deliver', () => delivers, { 'GET /api/v1/assets': 404, 'GET /': 404, 'POST /ingest/v1/reads': 404 }],
  ])('serve only the endpoints of their role: %s', async (_role, servers, expected) => {
    for (const server of servers()) {
      const all = { ...expected, 'GET /healthz': 200, 'GET /readyz': 200, 'GET /metrics': 200 }
      const seen: Record<string, number> = {}
      for (const request of Object.keys(all)) {
        const [method, path] = request.split(' ') as [string, string]
        const reply = await fetch(server.url + path, { method, headers: { 'user-agent': 'lastseen-tests' } })
        await reply.text()
        seen[request] = reply.status
      }
      expect(seen).toEqual(all)
    }
  })

  it('admit a burst of 120 requests over both processes, and one more per second', async () => {
    const client = (await api.newOrg()).client('assets:read')
    const token = await client.token()
    const began = performance.now()
    const replies = await Promise.all(
      Array.from({ length: 200 }, () => api.anonymous('GET', '/api/v1/orgs/me', { token })),
    )
    const seconds = (performance.now() - began) / 1000
    const admitted = replies.filter(({ status }) => status === 200).length
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200, 429]))
    expect(admitted).toBeGreaterThanOrEqual(120)
    expect(admitted).toBeLessThanOrEqual(120 + Math.ceil(seconds))
  })

  it('reject a revoked credential and an ended session at the next request to the other process (D40)', async () => {
    const org = await api.newOrg()
    const [here, there] = apis.map(({ url }) => url) as [string, string]
    for (let round = 0; round < 10; round++) {
      const { accessToken } = await org.signIn('admin')
      const client = org.client('assets:read')
      const pair = await client.mint()
      const token = await client.exchange(pair)
      for (const url of [here, there]) {
        expect((await send(url, 'GET', '/api/v1/auth/me', { token: accessToken })).status).toBe(200)
        expect((await send(url, 'GET', '/api/v1/assets', { token })).status).toBe(200)
      }
      const keys = `/api/v1/orgs/${org.orgId}/api-keys`
      const listed = (await send(here, 'GET', keys, { token: accessToken, query: { limit: 200 } })).json.data
      const { id } = (listed as { id: number; jti: string }[]).find((one) => one.jti === pair.clientId)!
      expect((await send(here, 'DELETE', `${keys}/${id}`, { token: accessToken })).status).toBe(204)
      expect((await send(there, 'GET', '/api/v1/assets', { token })).status).toBe(401)
      expect((await send(here, 'POST', '/api/v1/auth/logout', { token: accessToken })).status).toBe(204)
      expect((await send(there, 'GET', '/api/v1/auth/me', { token: accessToken })).status).toBe(401)
    }
  })

  it('reject a credential that the operator’s command revoked at the next request', async () => {
    const client = (await api.newOrg()).client('assets:read')
    const pair = await client.mint()
    const token = await client.exchange(pair)
    for (const { url } of apis) expect((await send(url, 'GET', '/api/v1/assets', { token })).status).toBe(200)
    const settings = { DATABASE_URL: database.url }
    expect((await lastseen(['key', 'revoke', '--client-id', pair.clientId, '--json'], settings)).code).toBe(0)
    for (const { url } of apis) expect((await send(url, 'GET', '/api/v1/assets', { token })).status).toBe(401)
  })

  it('publish on a live stream what a third process ingested', async () => {
    const site = await Site.open(api, 'Dock', 'Hall')
    const asset = await site.createAsset('Pallet')
    const { accessToken } = await site.org.signIn('viewer')
    const streams = [await EventStream.open(api, accessToken), await EventStream.open(api, accessToken)]
    const reply = await site.post([{ tag: asset.tag, antenna: 2 }], site.token, ingest)
    expect([reply.status, reply.json]).toEqual([202, { data: { accepted: 1, ignored: 0 } }])
    for (const stream of streams) {
      await eventually(async () => expect(stream.of('move')).toHaveLength(1), 10_000)
      expect(stream.of('move')[0]!.data).toMatchObject({ asset: { id: asset.id }, to_location: { name: 'Hall' } })
      stream.close()
    }
  })

  it('deliver every move once, with two delivering processes (D33)', async () => {
    const receiver = await network.receiver()
    const webhookOrg = await WebhookOrg.with(api, urlOf(receiver))
    const assets = await Promise.all(
      Array.from({ length: 30 }, (_, index) => webhookOrg.site.createAsset(`Crate ${index}`)),
    )
    const minuteMs = 60_000
    for (let round = 0; round < 4; round++) {
      const at = new Date(Date.now() - (10 - round) * minuteMs).toISOString()
      const reads = assets.map(({ tag }) => ({ tag, antenna: (round % 2) + 1, observed_at: at }))
      expect((await webhookOrg.site.post(reads, webhookOrg.site.token, ingest)).status).toBe(202)
    }
    const sent = (): string[] => receiver.received.map((one) => one.headers['x-service-delivery']!)
    await eventually(async () => expect(sent()).toHaveLength(120), 20_000)
    await sleep(300)
    expect(new Set(sent()).size).toBe(120)
    expect(receiver.received).toHaveLength(120)
  })

  it.skipIf(isBrokerMissing)('share the messages of a broker, and record every read once (D31)', async () => {
    await broker.waitForSubscribers(2)
    const fleet = await ReaderFleet.create(database.url, 3, 4)
    const transport = overMqtt(broker.url, { isOutside: true })
    fleet.start(async (reader, body) => (await sleep(10), transport(reader, body)))
    await fleet.waitForBatches(60)
    await fleet.finish()
    await transport.end()
    // Reads may be reordered between two processes: late reads are recorded without a move (D30), so there may be fewer moves.
    const { minutes, positions } = fleet.expected()
    await eventually(
      async () => expect(await fleet.recorded(database.url)).toMatchObject({ minutes, positions }),
      20_000,
    )
    const moved = (await fleet.recorded(database.url)).moves.map((line) => line.split(' ').slice(0, 2).join(' '))
    expect(new Set(moved).size).toBe(moved.length)
    const counts = [...broker.deliveredCounts().values()]
    expect(counts).toHaveLength(2)
    for (const count of counts) expect(count).toBeGreaterThan(0)
    expect(counts.reduce((sum, count) => sum + count)).toBe(fleet.batches)
  })
})

describe('a role that does not exist', () => {
  it('is rejected at the start', async () => {
    const ended = await lastseen(['serve', '--roles', 'api,cook'], { DATABASE_URL: database.url })
    expect(ended.code).toBe(1)
    expect(ended.stderr).toContain('LASTSEEN_ROLES')
    expect(ended.stderr).toContain('expected some of api, ingest, deliver')
  })
})

describe('npx lastseen distribute', () => {
  it('explains what to do where Citus is not installed, with exit code 1', async () => {
    const ended = await lastseen(['distribute', '--json'], { DATABASE_URL: database.url })
    expect(ended).toMatchObject({ code: 1, stdout: '' })
    expect(ended.stderr).toMatch(/^This (server does not have|database lacks) the extension citus, /)
  })
})
