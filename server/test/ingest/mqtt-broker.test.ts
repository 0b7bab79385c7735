import { type AddressInfo, createServer } from 'node:net'
import mqtt, { type MqttClient } from 'mqtt'
import { pino } from 'pino'
import postgres from 'postgres'
import { afterEach, describe, expect, inject, it } from 'vitest'
import { openAppContext } from '../../src/app/context.ts'
import { startServer } from '../../src/app/server.ts'
import { readConfig } from '../../src/config/config.ts'
import { decode } from '../../src/ingest/decoders/index.ts'
import { readerChangedTopic, rotateReaderToken } from '../../src/readers/commands.ts'
import { send } from '../support/client.ts'
import { publish, connectMqtt } from '../support/mqtt.ts'
import { freePort } from '../support/free-port.ts'
import { Site, database, eventually, useTracking } from '../support/tracking.ts'
import { examples } from './decoders/examples.ts'

const port = await freePort()
const url = `mqtt://127.0.0.1:${port}`
const context = useTracking('2026-09-22T00:00:00Z', { settings: { LASTSEEN_MQTT_PORT: String(port) } })

const clients: MqttClient[] = []
afterEach(async () => {
  for (const client of clients.splice(0)) await client.endAsync(true)
})

async function signIn(readerId: number | string, token: string): Promise<MqttClient> {
  const client = await connectMqtt(url, { username: String(readerId), password: token })
  clients.push(client)
  return client
}

const topicOf = async (readerId: number): Promise<string> => {
  const [row] = await database(context.app)`select topic_key from readers where id = ${readerId}`
  return `lastseen/${row!['topic_key']}/reads`
}

const minutesOf = async (site: Site): Promise<number> => {
  const [row] = await database(context.app)`select count(*) from asset_minutes where org_id = ${site.org.orgId}`
  return row!['count']
}

const activityOf = async (readerId: number) => {
  const [row] = await database(context.app)`
    select messages, reads, ignored, warning from readers where id = ${readerId}`
  return { ...row }
}

const at = '2026-09-21T10:00:00Z'

describe('signing in at the embedded broker', () => {
  it('accepts the reads of a reader that signs in with its id and token', async () => {
    const site = await Site.open(context.app, 'Dock')
    const asset = await site.createAsset('Pallet')
    const client = await signIn(site.readerId, site.token)
    const sent = await publish(client, await topicOf(site.readerId), { reads: [{ tag: asset.tag, observed_at: at }] })
    expect(sent).toBe('acknowledged')
    expect(await site.history(asset)).toEqual([['2026-09-21T10:00:00.000Z', 'DOCK', null]])
  })

  it('closes the connection while the database fails, so that a client that gives up after a rejection connects again', async () => {
    const site = await Site.open(context.app, 'Dock')
    const sql = database(context.app)
    await sql`alter table reader_directory rename to reader_directory_away`
    const login = { username: String(site.readerId), password: site.token }
    const client = mqtt.connect(url, { ...login, reconnectPeriod: 20 })
    clients.push(client)
    const errors: Error[] = []
    client.on('error', (error) => errors.push(error))
    await eventually(async () => expect(client.connected || client.reconnecting).toBe(true))
    expect(client.connected).toBe(false)
    await sql`alter table reader_directory_away rename to reader_directory`
    await eventually(async () => expect(client.connected).toBe(true))
    expect(errors).toEqual([])
  })

  it('disconnects a changed reader whose token cannot be checked', async () => {
    const site = await Site.open(context.app, 'Dock')
    const client = await signIn(site.readerId, site.token)
    const sql = database(context.app)
    await sql`alter table reader_directory rename to reader_directory_away`
    await context.app.context.pubsub.publishAndWait(readerChangedTopic, String(site.readerId))
    await eventually(async () => expect(client.connected).toBe(false))
    await sql`alter table reader_directory_away rename to reader_directory`
  })

  it('disconnects a reader whose token was replaced', async () => {
    const site = await Site.open(context.app, 'Dock')
    const asset = await site.createAsset('Pallet')
    const topic = await topicOf(site.readerId)
    const message = { reads: [{ tag: asset.tag, observed_at: at }] }
    const old = await signIn(site.readerId, site.token)
    expect(await publish(old, topic, message)).toBe('acknowledged')
    const { context: appContext } = context.app
    const { token } = await rotateReaderToken(appContext, site.org.orgId, site.readerId)
    await appContext.pubsub.publishAndWait(readerChangedTopic, '')
    expect(await publish(old, topic, message)).toBe('cut off')
    await expect(signIn(site.readerId, site.token)).rejects.toThrow()
    expect(await publish(await signIn(site.readerId, token), topic, message)).toBe('acknowledged')
  })

  it('lets a reader publish under any topic outside lastseen/', async () => {
    const site = await Site.open(context.app, 'Dock')
    const asset = await site.createAsset('Pallet')
    const client = await signIn(site.readerId, site.token)
    expect(await publish(client, 'factory/gate/7', { reads: [{ tag: asset.tag, observed_at: at }] })).toBe(
      'acknowledged',
    )
    expect(await minutesOf(site)).toBe(1)
  })

  it.each([
    ['a wrong token', (own: Site) => ({ username: String(own.readerId), password: `${own.token.slice(0, -1)}x` })],
    ['a wrong id', (own: Site) => ({ username: String(own.readerId + 1), password: own.token })],
    ['an id that is no number', (own: Site) => ({ username: 'gate', password: own.token })],
    ["another reader's token", (own: Site, other: Site) => ({ username: String(own.readerId), password: other.token })],
    ['no password', (own: Site) => ({ username: String(own.readerId) })],
    ['neither id nor token', () => ({})],
  ])('rejects %s', async (_what, login) => {
    const [own, other] = [await Site.open(context.app), await Site.open(context.app)]
    await expect(connectMqtt(url, login(own, other))).rejects.toMatchObject({ code: 4 })
  })
})

describe('publishing to the embedded broker', () => {
  // Delayed by a trigger, which Citus does not support.
  it.skipIf(inject('isCitus'))('acknowledges a message only after its reads are committed', async () => {
    const site = await Site.open(context.app, 'Dock')
    const asset = await site.createAsset('Pallet')
    const sql = postgres(context.app.databaseUrl, { max: 2, onnotice: () => undefined })
    await sql.unsafe(`
      create function wait_at_commit() returns trigger language plpgsql as
        $$ begin perform pg_advisory_xact_lock_shared(4711); return null; end $$;
      create constraint trigger wait_at_commit after insert on moves deferrable initially deferred
        for each row execute function wait_at_commit()`)
    const holder = await sql.reserve()
    try {
      await holder`select pg_advisory_lock(4711)`
      const client = await signIn(site.readerId, site.token)
      let outcome: string | null = null
      const sent = publish(client, 'gate', { reads: [{ tag: asset.tag, observed_at: at }] }).then(
        (it) => (outcome = it),
      )
      await eventually(async () => {
        const waiting = await sql`select from pg_locks where locktype = 'advisory' and objid = 4711 and not granted`
        expect(waiting).toHaveLength(1)
      })
      await new Promise((resume) => setTimeout(resume, 300))
      expect(outcome).toBe(null)
      expect(await minutesOf(site)).toBe(0)
      await holder`select pg_advisory_unlock(4711)`
      expect(await sent).toBe('acknowledged')
      expect(await minutesOf(site)).toBe(1)
    } finally {
      await holder`select pg_advisory_unlock_all()`
      holder.release()
      await sql.unsafe('drop trigger wait_at_commit on moves; drop function wait_at_commit')
      await sql.end({ timeout: 5 })
    }
  })

  it.each([
    ["another reader's topic", (topic: string) => topic],
    ["anything below another reader's topic", (topic: string) => `${topic}/more`],
    ['an unknown topic key', () => 'lastseen/nobody/reads'],
    ["the broker's own topics", () => '$SYS/gate'],
  ])('rejects %s and records nothing', async (_what, topic) => {
    const own = await Site.open(context.app, 'Dock')
    const other = await Site.open(context.app, 'Dock')
    const [mine, theirs] = [await own.createAsset('Pallet'), await other.createAsset('Pallet')]
    const client = await signIn(own.readerId, own.token)
    const reads = [mine, theirs].map((asset) => ({ tag: asset.tag, observed_at: at }))
    expect(await publish(client, topic(await topicOf(other.readerId)), { reads })).toBe('cut off')
    expect(await minutesOf(own)).toBe(0)
    expect(await minutesOf(other)).toBe(0)
    // The reader may reconnect and continue.
    const again = await signIn(own.readerId, own.token)
    expect(await publish(again, 'gate', { reads })).toBe('acknowledged')
    expect(await minutesOf(own)).toBe(1)
    expect(await minutesOf(other)).toBe(0)
  })

  it.each(['#', '+/#', 'lastseen/#', '$SYS/#', '$share/spies/#', 'own'])(
    'grants no subscription to %s',
    async (filter) => {
      const site = await Site.open(context.app, 'Dock')
      const asset = await site.createAsset('Pallet')
      const topic = await topicOf(site.readerId)
      const listener = await signIn(site.readerId, site.token)
      const received: string[] = []
      listener.on('message', (name) => received.push(name))
      const granted = new Promise<number>((resolve) => {
        listener.on('packetreceive', (packet) => packet.cmd === 'suback' && resolve(packet.granted[0] as number))
      })
      listener.subscribe(filter === 'own' ? topic : filter, { qos: 1 }, () => undefined)
      expect(await granted).toBe(128)
      const sender = await signIn(site.readerId, site.token)
      expect(await publish(sender, topic, { reads: [{ tag: asset.tag, observed_at: at }] })).toBe('acknowledged')
      expect(await publish(listener, topic, { reads: [{ tag: asset.tag, observed_at: at }] })).toBe('acknowledged')
      expect(received).toEqual([])
    },
  )

  it('acknowledges a message in an unknown format, counts it as ignored, and processes the next message', async () => {
    const site = await Site.open(context.app, 'Dock')
    const asset = await site.createAsset('Pallet')
    const client = await signIn(site.readerId, site.token)
    const outcomes = await Promise.all([
      publish(client, 'gate', Buffer.from([0xff, 0x00, 0xfe, 0x01])),
      publish(client, 'gate', { weather: 'fair' }),
      publish(client, 'gate', { reads: [{ tag: asset.tag, observed_at: at }] }),
    ])
    expect(outcomes).toEqual(['acknowledged', 'acknowledged', 'acknowledged'])
    expect(await minutesOf(site)).toBe(1)
    await eventually(async () => {
      expect(await activityOf(site.readerId)).toEqual({
        ...{ messages: 3, reads: 1, ignored: 2, warning: 'A message was in no known format' },
      })
    })
  })

  it('shows a plain-text message of a reader as its warning', async () => {
    const site = await Site.open(context.app, 'Dock')
    const client = await signIn(site.readerId, site.token)
    expect(await publish(client, 'gate/status', 'antenna 2 unplugged')).toBe('acknowledged')
    await eventually(async () => {
      expect(await activityOf(site.readerId)).toEqual({
        ...{ messages: 1, reads: 0, ignored: 0, warning: 'antenna 2 unplugged' },
      })
    })
  })

  it('accepts no message of a reader that was deleted while connected', async () => {
    const site = await Site.open(context.app, 'Dock')
    const asset = await site.createAsset('Pallet')
    const client = await signIn(site.readerId, site.token)
    const read = (minute: number) => ({ reads: [{ tag: asset.tag, observed_at: `2026-09-21T10:0${minute}:00Z` }] })
    expect(await publish(client, 'gate', read(0))).toBe('acknowledged')
    const { accessToken } = await site.org.signIn('admin')
    const gone = await context.app.anonymous('DELETE', `/api/v1/readers/${site.readerId}`, { token: accessToken })
    expect(gone.status).toBe(204)
    expect(await publish(client, 'gate', read(1))).toBe('cut off')
    expect(await minutesOf(site)).toBe(1)
    await expect(signIn(site.readerId, site.token)).rejects.toMatchObject({ code: 4 })
  })

  it('accepts the known messages of every reader type', async () => {
    const site = await Site.open(context.app, 'One', 'Two', 'Three')
    const decoded = examples.map(([name, format, bytes]) => ({
      name,
      format,
      bytes,
      ...decode(format, bytes, 'gate')!,
    }))
    const reads = decoded.flatMap((one) => one.reads)
    const identities = new Map(reads.map((read) => [read.value, { tag_type: read.tagType, value: read.value }]))
    const asset = await site.createAsset('Everything', { tags: [...identities.values()] })
    const scanPoints = site.locations.map((location, index) => ({ antenna: index + 1, locationId: location.id }))
    const expected: Record<string, unknown> = {}
    const found: Record<string, unknown> = {}
    const readers = new Map<string, number>()
    for (const { name, bytes, reads: own, skipped } of decoded) {
      const { readerId, token } = await site.createReader({ scanPoints })
      readers.set(name, readerId)
      expected[name] = [1, own.length, skipped]
      const client = await signIn(readerId, token)
      expect([name, await publish(client, 'gate', Buffer.from(bytes))]).toEqual([name, 'acknowledged'])
    }
    await eventually(async () => {
      for (const [name, readerId] of readers) {
        const row = await activityOf(readerId)
        found[name] = [row['messages'], row['reads'], row['ignored']]
      }
      expect(found).toEqual(expected)
    })
    expect((await site.history(asset)).length).toBeGreaterThan(3)
  })
})

describe('the port of the embedded broker', () => {
  const start = async (mqttPort: number) => {
    const settings = { DATABASE_URL: context.app.databaseUrl, LASTSEEN_MQTT_PORT: String(mqttPort) }
    const appContext = await openAppContext({ config: readConfig(settings), url: context.app.databaseUrl })
    const options = { host: '127.0.0.1', port: 0, isOneOfSeveral: true, log: pino({ level: 'silent' }) }
    const server = await startServer(appContext, options)
    return {
      server,
      async stop() {
        await server.close(1000)
        await appContext.close()
      },
    }
  }

  it('being in use disables MQTT with a notice, and readers can use HTTP', async () => {
    const squatter = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => squatter.once('listening', resolve))
    const taken = (squatter.address() as AddressInfo).port
    const site = await Site.open(context.app, 'Dock')
    const asset = await site.createAsset('Pallet')
    const running = await start(taken)
    try {
      expect(running.server.notices).toEqual([
        `MQTT is off: port ${taken} is in use. Readers can still use HTTP; LASTSEEN_MQTT_PORT chooses another port.`,
      ])
      const json = { reads: [{ tag: asset.tag, observed_at: at }] }
      const reply = await send(`http://127.0.0.1:${running.server.port}`, 'POST', '/ingest/v1/reads', {
        token: site.token,
        json,
      })
      expect([reply.status, reply.json]).toEqual([202, { data: { accepted: 1, ignored: 0 } }])
    } finally {
      await running.stop()
      squatter.close()
    }
  })

  it('is printed at the start', async () => {
    const free = await freePort()
    const running = await start(free)
    await running.stop()
    expect(running.server.notices).toEqual([`MQTT broker for readers: mqtt://127.0.0.1:${free}`])
  })
})
