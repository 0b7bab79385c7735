import type { MqttClient } from 'mqtt'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Refusal, ReaderRefusals } from '../../src/ingest/reader-refusals.ts'
import { readerChangedTopic, rotateReaderToken } from '../../src/readers/commands.ts'
import { startApp } from '../support/app.ts'
import { readMetrics } from '../support/metrics.ts'
import { Mosquitto, connectMqtt, isBrokerMissing, publish } from '../support/mqtt.ts'
import { freePort } from '../support/free-port.ts'
import { Site, eventually, useTracking } from '../support/tracking.ts'

const port = await freePort()
const lines: Record<string, unknown>[] = []
const log = pino({ base: null, timestamp: false }, { write: (line: string) => void lines.push(JSON.parse(line)) })
const context = useTracking('2026-09-22T00:00:00Z', {
  ...{ settings: { LASTSEEN_MQTT_PORT: String(port) }, log, singleServerReason: 'each server has its own log' },
})

let site: Site
const clients: MqttClient[] = []
beforeEach(async () => {
  site = await Site.open(context.app, 'Dock')
  lines.length = 0
})
afterEach(async () => {
  for (const client of clients.splice(0)) await client.endAsync(true)
})

const refusals = () => lines.filter(({ event }) => event === 'reader.refused')

/** The line of one refusal of the test's reader. */
const named = (transport: string, reason: string) => ({
  ...{ event: 'reader.refused', level: 40, transport, reason, refusals: 1 },
  ...{ orgId: site.org.orgId, readerId: site.readerId, reader: 'Gate' },
})

/** Refusals of readers that are set to this format; it is empty for readers that are not known. */
const counted = async (transport: string, reason: string, format: string): Promise<number> =>
  (await readMetrics(context.app.url)).sum('lastseen_reader_refusals_total', { transport, reason, format })

async function signIn(login: { username?: string; password?: string }): Promise<MqttClient> {
  const client = await connectMqtt(`mqtt://127.0.0.1:${port}`, login)
  clients.push(client)
  return client
}
const ownLogin = () => ({ username: String(site.readerId), password: site.token })

/** The refused request or message must be logged once and counted once. */
async function expectRefusal(transport: string, reason: string, line: object, act: () => Promise<unknown>) {
  const format = 'readerId' in line ? 'auto' : ''
  const before = await counted(transport, reason, format)
  await act()
  await eventually(async () => expect(refusals()).toEqual([expect.objectContaining(line)]))
  expect((await counted(transport, reason, format)) - before).toBe(1)
}

describe('A refused message over HTTP is logged with', () => {
  const post = (text: string | object, token = site.token) => site.post(text, token)

  it.each([
    ['unknown_token', () => post({ reads: [] }, 'lsd_wrong')],
    ['missing_token', () => context.app.anonymous('POST', '/ingest/v1/reads', { json: {} })],
  ])('the address of the client when the token is of no reader: %s', async (reason, act) => {
    const line = { transport: 'http', reason, address: '127.0.0.1', refusals: 1 }
    await expectRefusal('http', reason, line, act)
    expect(refusals()[0]).not.toHaveProperty('reader')
    expect(JSON.stringify(lines)).not.toContain('lsd_wrong')
  })

  it('the name of the reader whose token was rotated', async () => {
    expect((await post({ reads: [] })).status).toBe(202)
    await rotateReaderToken(context.app.context, site.org.orgId, site.readerId)
    await context.app.context.pubsub.publishAndWait(readerChangedTopic, '')
    await expectRefusal('http', 'revoked_token', named('http', 'revoked_token'), async () =>
      expect((await post({ reads: [] })).status).toBe(401),
    )
  })

  it.each([
    ['unknown_format', { temperature: 21 }],
    ['malformed', 'no JSON'],
    ['too_large', ' '.repeat(1024 * 1024 + 1)],
  ])('the name of the reader: %s', async (reason, message) => {
    const { token } = site
    const body = typeof message === 'string' ? { raw: message } : { json: message }
    await expectRefusal('http', reason, named('http', reason), async () => {
      const reply = await context.app.anonymous('POST', '/ingest/v1/reads', { token, ...body })
      expect(reply.status).toBe(400)
    })
  })
})

describe('A refused message or login over MQTT is logged with', () => {
  it('the name of the reader whose id the client sent with a wrong token', async () => {
    const login = { ...ownLogin(), password: 'lsd_wrong' }
    await expectRefusal('mqtt', 'unknown_token', { ...named('mqtt', 'unknown_token'), address: '127.0.0.1' }, () =>
      expect(signIn(login)).rejects.toThrow(),
    )
  })

  it('the name of the reader of the token that was sent with another user name', async () => {
    await expectRefusal('mqtt', 'wrong_user_name', named('mqtt', 'wrong_user_name'), () =>
      expect(signIn({ ...ownLogin(), username: 'gate' })).rejects.toThrow(),
    )
  })

  it('the address of a client that sends no id of a reader', async () => {
    const line = { transport: 'mqtt', reason: 'unknown_token', address: '127.0.0.1' }
    await expectRefusal('mqtt', 'unknown_token', line, () =>
      expect(signIn({ username: 'gate', password: 'lsd_wrong' })).rejects.toThrow(),
    )
  })

  it.each([
    ['forbidden_topic', 'lastseen/another/reads', '{"reads":[]}'],
    ['unknown_format', 'reads', '{"temperature":21}'],
    ['malformed', 'reads', '{"reads":'],
    ['too_large', 'reads', ' '.repeat(1024 * 1024 + 1)],
  ])('the name of the reader: %s', async (reason, topic, message) => {
    const client = await signIn(ownLogin())
    await expectRefusal('mqtt', reason, { ...named('mqtt', reason), topic }, () => publish(client, topic, message))
  })

  it('the name of the reader whose token was rotated while it is connected', async () => {
    const client = await signIn(ownLogin())
    await rotateReaderToken(context.app.context, site.org.orgId, site.readerId)
    await context.app.context.pubsub.publishAndWait(readerChangedTopic, '')
    await publish(client, 'reads', '{"reads":[]}')
    await expect(signIn(ownLogin())).rejects.toThrow()
    await eventually(async () =>
      expect(refusals()).toContainEqual(expect.objectContaining(named('mqtt', 'revoked_token'))),
    )
  })

  it.skipIf(isBrokerMissing)('the topic that is of no reader, at an external broker', async () => {
    const broker = new Mosquitto(await freePort())
    await broker.start()
    const app = await startApp({ settings: { LASTSEEN_MQTT_URL: broker.url }, log })
    await broker.waitForSubscribers(1)
    const client = await connectMqtt(broker.url, {})
    clients.push(client)
    for (let count = 0; count < 3; count++) await publish(client, 'lastseen/nobody/reads', '{}')
    await eventually(async () =>
      expect(refusals()).toEqual([
        expect.objectContaining({ reason: 'unknown_topic', topic: 'lastseen/nobody/reads', refusals: 1 }),
      ]),
    )
    await eventually(async () =>
      expect((await readMetrics(app.url)).sum('lastseen_reader_refusals_total', { reason: 'unknown_topic' })).toBe(3),
    )
    await app.stop()
    await broker.stop()
  })
})

describe('The log of refused readers', () => {
  const device = { orgId: 1, readerId: 2, name: 'Gate', topicKey: '', format: 'auto', clock: 'reader' }
  const refusal: Refusal = { transport: 'http', reason: 'malformed', device, address: '127.0.0.1' }

  function open() {
    const counts: string[] = []
    const onRefused = (transport: string, reason: string): void => void counts.push(`${transport} ${reason}`)
    return { refusals: new ReaderRefusals(log, onRefused), counts }
  }
  const shown = () => lines.map(({ reader, address, reason, refusals: count }) => [reader ?? address, reason, count])

  it('has a line at once for the first refusal, and one per interval with the number of further ones', () => {
    const { refusals: log, counts } = open()
    for (let count = 0; count < 500; count++) log.note(refusal)
    expect(shown()).toEqual([['Gate', 'malformed', 1]])
    log.flush()
    expect(shown()).toEqual([
      ['Gate', 'malformed', 1],
      ['Gate', 'malformed', 499],
    ])
    log.note(refusal)
    expect(shown()).toHaveLength(2)
    log.flush()
    expect(shown()[2]).toEqual(['Gate', 'malformed', 1])
    log.flush()
    log.note(refusal)
    expect(shown()).toHaveLength(4)
    expect(counts).toHaveLength(502)
    log.close()
  })

  it('has lines for 1,000 readers and addresses at a time; the others are combined by reason', () => {
    const { refusals: log, counts } = open()
    const from = (index: number): Refusal => ({ ...refusal, device: null, address: `192.0.2.${index}` })
    for (let index = 0; index < 1000; index++) log.note(from(index))
    expect(shown()).toHaveLength(1000)
    log.note(from(1000))
    log.note(from(1001))
    log.note(from(999))
    expect(shown()).toHaveLength(1000)
    log.flush()
    expect(shown().slice(1000)).toEqual([
      ['192.0.2.999', 'malformed', 1],
      [undefined, 'malformed', 2],
    ])
    expect(counts).toHaveLength(1003)
    log.close()
  })

  it('has separate lines for each reader, reason and unknown address', () => {
    const { refusals: log } = open()
    for (let count = 0; count < 2; count++) {
      log.note(refusal)
      log.note({ ...refusal, reason: 'too_large' })
      log.note({ ...refusal, device: { ...device, readerId: 3, name: 'Dock' } })
      log.note({ ...refusal, device: null, reason: 'unknown_token' })
      log.note({ ...refusal, device: null, reason: 'unknown_token', address: '127.0.0.2' })
    }
    expect(shown()).toEqual([
      ['Gate', 'malformed', 1],
      ['Gate', 'too_large', 1],
      ['Dock', 'malformed', 1],
      ['127.0.0.1', 'unknown_token', 1],
      ['127.0.0.2', 'unknown_token', 1],
    ])
    log.close()
  })

  it('combines the refusals of all further addresses when there are more than a thousand', () => {
    const { refusals: log } = open()
    for (let index = 0; index < 3000; index++)
      log.note({ ...refusal, device: null, address: `2001:db8::${index.toString(16)}` })
    log.flush()
    expect(lines.length).toBeLessThanOrEqual(1002)
    expect(lines.at(-1)).toMatchObject({ reason: 'malformed', refusals: 2000 })
    expect(lines.at(-1)).not.toHaveProperty('address')
    log.close()
  })
})
