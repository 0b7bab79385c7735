import type { MqttClient } from 'mqtt'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type TestApp, startApp } from '../../support/app.ts'
import { Mosquitto, isBrokerMissing, publish, connectMqtt } from '../../support/mqtt.ts'
import { freePort } from '../../support/free-port.ts'
import { Site, closeDatabase, database, eventually, expectApiError } from '../../support/tracking.ts'

const path = '/api/v1/readers/unknown'

interface Topic {
  topic: string
  topic_key: string | null
  messages: number
  first_seen_at: string
  last_seen_at: string
}

/** The tests are in the order in which an installation grows: one organization first, then several. */
describe.skipIf(isBrokerMissing)('unregistered readers', () => {
  let broker: Mosquitto
  let app: TestApp
  let site: Site
  let reader: MqttClient
  const tokens: Record<string, string> = {}

  beforeAll(async () => {
    broker = new Mosquitto(await freePort())
    await broker.start()
    // Where the app is two processes, each message is delivered to one of them.
    app = await startApp({ settings: { LASTSEEN_MQTT_URL: broker.url, LASTSEEN_MQTT_SHARE: 'always' } })
    await broker.waitForSubscribers(1)
    site = await Site.open(app, 'Dock')
    for (const role of ['viewer', 'operator', 'manager', 'admin'] as const)
      tokens[role] = (await site.org.signIn(role)).accessToken
    reader = await connectMqtt(broker.url, {})
  })
  afterAll(async () => {
    await reader.endAsync(true)
    await closeDatabase(app)
    await app.stop()
    await broker.stop()
  })

  const ask = (token = tokens['manager']!) => app.anonymous('GET', path, { token })
  const topics = async (): Promise<Topic[]> => (await ask()).json.data.topics
  const add = (json: object, token = tokens['manager']!) =>
    app.anonymous('POST', '/api/v1/readers', { token, json: { name: 'Found', ...json } })

  it('are shown with topic, messages and times to users who manage readers, while there is one organization', async () => {
    const message = { reads: [{ tag: 'E2000000000000000000AAAA', antenna: 1 }] }
    await publish(reader, 'lastseen/dock-3/reads', message)
    await publish(reader, 'lastseen/dock-3/reads', message)
    await eventually(async () => expect((await topics()).map((one) => one.messages)).toEqual([2]))
    for (const role of ['manager', 'admin']) {
      const { status, json } = await ask(tokens[role])
      expect([status, json.data.reason, json.data.topics]).toEqual([
        200,
        null,
        [
          {
            topic: 'lastseen/dock-3/reads',
            topic_key: 'dock-3',
            messages: 2,
            first_seen_at: expect.stringMatching(/^\d{4}-.*Z$/),
            last_seen_at: expect.stringMatching(/^\d{4}-.*Z$/),
          },
        ],
      ])
    }
  })

  it('are not shown to viewers and operators', async () => {
    for (const role of ['viewer', 'operator']) {
      const reply = await ask(tokens[role])
      expectApiError(reply, 403, 'forbidden')
      expect(reply.text).not.toContain('dock-3')
    }
  })

  it('cannot be added when their topic key is empty or too long to be stored', async () => {
    await publish(reader, 'lastseen//reads', 'x')
    await publish(reader, `lastseen/${'y'.repeat(300)}/reads`, 'x')
    await publish(reader, 'lastseen/e\u0301 "<b>', 'x')
    await eventually(async () => expect(await topics()).toHaveLength(4))
    const keys = Object.fromEntries((await topics()).map((one) => [one.topic, one.topic_key]))
    expect(keys).toEqual({
      'lastseen/dock-3/reads': 'dock-3',
      'lastseen//reads': null,
      [`lastseen/${'y'.repeat(191)}`]: null,
      'lastseen/e\u0301 "<b>': 'e\u0301 "<b>',
    })
  })

  it('become readers under their current topic, and their messages are ingested from then on', async () => {
    const pallet = await site.createAsset('Pallet')
    const reply = await add({ topic_key: 'dock-3', scan_points: [{ antenna: 1, location_id: site.locations[0]!.id }] })
    expect(reply.status).toBe(201)
    expect(reply.json.data.mqtt.topic).toBe('lastseen/dock-3/reads')
    expect((await topics()).map((one) => one.topic_key)).not.toContain('dock-3')
    await publish(reader, 'lastseen/dock-3/reads', { reads: [{ tag: pallet.tag, antenna: 1 }] })
    await eventually(async () =>
      expect(await site.assetLocations()).toMatchObject({ PALLET: ['DOCK', expect.any(String)] }),
    )
    // The token works as any other does.
    expect((await site.post({ reads: [{ tag: pallet.tag }] }, reply.json.data.token)).status).toBe(202)
  })

  it.each([
    ['a topic without messages', 'no-messages', 'fk_not_found'],
    ['the topic of a reader', 'dock-3', 'fk_not_found'],
    ['an empty topic', '', 'too_short'],
  ])('are not added under %s', async (_, topic_key, code) => {
    const before = await database(app)`select count(*) from readers`
    const reply = await add({ topic_key })
    const params = code === 'too_short' ? { params: { min_length: 1 } } : {}
    expectApiError(reply, 400, 'validation_error', [{ field: 'topic_key', code, ...params }])
    expect(await database(app)`select count(*) from readers`).toEqual(before)
  })

  it('are added once by concurrent requests', async () => {
    await publish(reader, 'lastseen/wanted/reads', 'x')
    await eventually(async () => expect((await topics()).map((one) => one.topic_key)).toContain('wanted'))
    const replies = await Promise.all(Array.from({ length: 6 }, () => add({ topic_key: 'wanted' })))
    const statuses = replies.map((one) => one.status)
    expect(statuses.filter((status) => status === 201)).toHaveLength(1)
    expect(statuses.filter((status) => ![201, 400, 409].includes(status))).toEqual([])
    const rows = await database(app)`select id from readers where topic_key = 'wanted'`
    expect(rows).toHaveLength(1)
  })

  it('keep their topic: an update of the reader cannot change it', async () => {
    const reply = await app.anonymous('PATCH', `/api/v1/readers/${site.readerId}`, {
      token: tokens['manager']!,
      json: { topic_key: 'x' },
    })
    expectApiError(reply, 400, 'validation_error', [{ field: 'topic_key', code: 'unknown_field' }])
  })

  it('are shown only to the operator once there is a second organization, because their owner is unknown', async () => {
    await publish(reader, 'lastseen/strange/reads', 'x')
    await eventually(async () => expect((await topics()).map((one) => one.topic_key)).toContain('strange'))
    const other = await app.newOrg('Another')
    const { accessToken } = await other.signIn('admin')
    for (const token of [tokens['admin']!, tokens['manager']!, accessToken]) {
      const reply = await ask(token)
      expect([reply.status, reply.json]).toEqual([200, { data: { reason: 'several_organizations', topics: [] } }])
      expectApiError(await add({ topic_key: 'strange' }, token), 400, 'validation_error', [
        { field: 'topic_key', code: 'fk_not_found' },
      ])
    }
    expect(await database(app)`select id from readers where topic_key = 'strange'`).toHaveLength(0)
  })

  it('are shown only to the organization that the operator configures, however many organizations exist', async () => {
    const settings = { LASTSEEN_UNKNOWN_READERS_ORG: String(site.org.orgId) }
    const named = await startApp({ sharesDatabaseWith: app, settings })
    try {
      const { accessToken } = await (await named.newOrg('A third')).signIn('admin')
      const shown = await named.anonymous('GET', path, { token: tokens['manager']! })
      expect(shown.json.data.reason).toBe(null)
      expect(shown.json.data.topics.map((one: Topic) => one.topic_key)).toContain('strange')
      const other = await named.anonymous('GET', path, { token: accessToken })
      expect(other.json).toEqual({ data: { reason: 'several_organizations', topics: [] } })

      const json = { name: 'Found', topic_key: 'strange' }
      expectApiError(
        await named.anonymous('POST', '/api/v1/readers', { token: accessToken, json }),
        400,
        'validation_error',
        [{ field: 'topic_key', code: 'fk_not_found' }],
      )
      expect((await named.anonymous('POST', '/api/v1/readers', { token: tokens['manager']!, json })).status).toBe(201)
    } finally {
      await named.stop()
    }
  })
})
