import { once } from 'node:events'
import { type Socket, connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import mqtt, { type MqttClient } from 'mqtt'
import { generate } from 'mqtt-packet'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { deleteOrg } from '../../src/cli/organization-data.ts'
import { startBroker } from '../../src/ingest/mqtt-broker.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { type TestApp, startApp } from '../support/app.ts'
import { publish } from '../support/mqtt.ts'
import { freePort } from '../support/free-port.ts'
import { Site, database, eventually, useTracking } from '../support/tracking.ts'

const ports = [await freePort(), await freePort()] as const
const limits = { LASTSEEN_MQTT_CONNECTIONS: '7', LASTSEEN_MQTT_CONNECTIONS_PER_ADDRESS: '5' }
const singleServerReason = 'the second process has a broker of its own'
const context = useTracking('2026-09-22T00:00:00Z', {
  settings: { LASTSEEN_MQTT_PORT: String(ports[0]) },
  singleServerReason,
})
let second: TestApp

beforeAll(async () => {
  const options = { sharesDatabaseWith: context.app, isOneOfSeveral: true, clock: context.clock }
  second = await startApp({ ...options, settings: { LASTSEEN_MQTT_PORT: String(ports[1]), ...limits } })
})
afterAll(() => second.stop())

const clients: MqttClient[] = []
const sockets: Socket[] = []
afterEach(async () => {
  for (const client of clients.splice(0)) await client.endAsync(true)
  for (const socket of sockets.splice(0)) socket.destroy()
})

type Login = Pick<Site, 'readerId' | 'token'>

async function signIn({ readerId, token }: Login, port: number = ports[0], clientId?: string): Promise<MqttClient> {
  const login = { username: String(readerId), password: token, ...(clientId === undefined ? {} : { clientId }) }
  const url = `mqtt://127.0.0.1:${port}`
  const client = await mqtt.connectAsync(url, { ...login, reconnectPeriod: 0, connectTimeout: 10_000 }, false)
  clients.push(client)
  return client
}

/** A TCP connection, for packets that an MQTT client would not send. */
async function openSocket(port: number = ports[0], localAddress = '127.0.0.1'): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', localAddress })
  socket.on('error', () => undefined)
  sockets.push(socket)
  await once(socket, 'connect')
  return socket.resume()
}

/** Whether the server closes the connection in time. */
const isClosedWithin = async (socket: Socket, ms: number): Promise<boolean> => {
  if (socket.closed) return true
  const late = new Promise<false>((resolve) => setTimeout(() => resolve(false), ms))
  return Promise.race([once(socket, 'close').then(() => true), late])
}

const connectPacket = ({ readerId, token }: Login, clientId = ''): Buffer =>
  generate({
    ...{ cmd: 'connect', protocolId: 'MQTT', protocolVersion: 4, clean: true, clientId, keepalive: 0 },
    username: String(readerId),
    password: Buffer.from(token),
  })

const at = '2026-09-21T10:00:00Z'

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
    expect(connected.map((client) => client.connected)).toEqual([true, true])
    const rotated = await context.app.anonymous('POST', `/api/v1/readers/${site.readerId}/token`, { token })
    expect(rotated.status).toBe(200)
    await expectCut(connected)
    expect((await signIn({ readerId: site.readerId, token: rotated.json.data.token as string })).connected).toBe(true)
  })

  it('when the overlap of its old token is over, but not before; connections with the new token stay', async () => {
    const site = await Site.open(context.app, 'Dock')
    const connected = [await signIn(site), await signIn(site, ports[1])]
    const { accessToken: token } = await site.org.signIn('admin')
    const target = `/api/v1/readers/${site.readerId}/token?overlap_seconds=2`
    const rotatedAtMs = Date.now()
    const rotated = await context.app.anonymous('POST', target, { token })
    const { token: newToken, previous_token_expires_at: until } = rotated.json.data as Record<string, string>
    const late = [await signIn(site), await signIn(site, ports[1])]
    const current = { readerId: site.readerId, token: newToken! }
    const stays = [await signIn(current), await signIn(current, ports[1])]
    expect(await publish(connected[1]!, 'gate', '[]')).toBe('acknowledged')
    expect([...connected, ...late].map((client) => client.connected)).toEqual([true, true, true, true])
    await sleep(rotatedAtMs + 2000 - Date.now())
    await expectCut(connected)
    await expectCut(late)
    expect(stays.map((client) => client.connected)).toEqual([true, true])
    context.clock.set(until!)
    for (const port of ports) await expect(signIn(site, port)).rejects.toMatchObject({ code: 4 })
  })

  it('after it was deleted during an overlap, with either token', async () => {
    const site = await Site.open(context.app, 'Dock')
    const { accessToken: token } = await site.org.signIn('admin')
    const target = `/api/v1/readers/${site.readerId}/token?overlap_seconds=3600`
    const rotated = await context.app.anonymous('POST', target, { token })
    const current = { readerId: site.readerId, token: rotated.json.data.token as string }
    const connected = [await signIn(site), await signIn(current, ports[1])]
    await context.app.anonymous('DELETE', `/api/v1/readers/${site.readerId}`, { token })
    await expectCut(connected)
  })

  it('after its organization was deleted, also when it has hundreds of connections', async () => {
    const site = await Site.open(context.app, 'Dock')
    const readers: Login[] = [site]
    while (readers.length < 9) readers.push(await site.createReader())
    const held: Socket[] = []
    for (const reader of readers)
      for (let index = 0; index < 100; index++) {
        const socket = await openSocket()
        socket.write(connectPacket(reader))
        held.push(socket)
      }
    const count = (is: (socket: Socket) => boolean): number => held.filter(is).length
    await eventually(async () => expect(count((socket) => socket.bytesRead >= 4)).toBe(900))
    await deleteOrg(context.app.context, { org: String(site.org.orgId), confirm: site.org.name })
    await eventually(async () => expect(count((socket) => socket.closed)).toBe(900))
  })

  it('after its organization was deleted', async () => {
    const [site, other] = [await Site.open(context.app, 'Dock'), await Site.open(context.app, 'Dock')]
    const deleted = [await signIn(site), await signIn(site, ports[1])]
    const others = [await signIn(other), await signIn(other, ports[1])]
    await deleteOrg(context.app.context, { org: String(site.org.orgId), confirm: site.org.name })
    await expectCut(deleted)
    expect(others.map((client) => client.connected)).toEqual([true, true])
  })

  it('a minute after it was deleted by a process that was killed before it published that', async () => {
    const site = await Site.open(context.app, 'Dock')
    const connected = [await signIn(site), await signIn(site, ports[1])]
    const sql = database(context.app)
    await sql`delete from scan_points where reader_id = ${site.readerId}`
    await sql`delete from readers where id = ${site.readerId}`
    await sql`delete from reader_directory where reader_id = ${site.readerId}`
    context.clock.advance(60_000)
    await eventually(async () => expect(connected.map((client) => client.connected)).toEqual([false, false]))
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

describe('An MQTT connection that has not signed in', () => {
  /** The fixed header of a CONNECT packet with this remaining length, and the start of the packet. */
  const unfinished = (length: number): Buffer =>
    Buffer.from([0x10, (length & 0x7f) | 0x80, ((length >> 7) & 0x7f) | 0x80, length >> 14, 0, 4, 0x4d, 0x51])

  it('may send a CONNECT packet of 64 KiB, and is closed when a larger one is announced', async () => {
    const [small, large] = [await openSocket(), await openSocket()]
    small.write(unfinished(64 * 1024))
    large.write(unfinished(64 * 1024 + 1))
    expect(await isClosedWithin(large, 1000)).toBe(true)
    expect(await isClosedWithin(small, 50)).toBe(false)
  })

  it('may send larger packets once it has signed in', async () => {
    const site = await Site.open(context.app, 'Dock')
    const client = await signIn(site)
    expect(await publish(client, 'gate', ' '.repeat(200_000))).toBe('acknowledged')
  })

  it('is closed when its CONNECT packet is not complete in time', async () => {
    const { readerCache, ingestor } = { readerCache: {} as never, ingestor: {} as never }
    const broker = await startBroker({
      tls: null,
      ...{ readerCache, ingestor, clock: systemClock, host: '127.0.0.1', port: 0, connectTimeoutMs: 100 },
      ...{ maxConnections: 10, maxConnectionsPerAddress: 10 },
      onFailure: () => undefined,
      onConnection: () => undefined,
      onLimit: () => undefined,
      onRefused: () => undefined,
    })
    try {
      const [silent, slow] = [await openSocket(broker.port), await openSocket(broker.port)]
      slow.write(unfinished(1000))
      expect(await Promise.all([silent, slow].map((socket) => isClosedWithin(socket, 1000)))).toEqual([true, true])
    } finally {
      await broker.close()
    }
  })
})

describe('MQTT connections past the limit', () => {
  const isRefused = async (from: string): Promise<boolean> => isClosedWithin(await openSocket(ports[1], from), 100)

  // Only Linux connects from every address of the loopback network.
  it.runIf(process.platform === 'linux')('are closed at once, for one address and in total', async () => {
    await eventually(async () => {
      for (const socket of sockets.splice(0)) socket.destroy()
      for (let count = 0; count < 5; count++) expect(await isRefused('127.0.0.1')).toBe(false)
    })
    expect(await isRefused('127.0.0.1')).toBe(true)
    expect([await isRefused('127.0.0.2'), await isRefused('127.0.0.3')]).toEqual([false, false])
    expect(await isRefused('127.0.0.4')).toBe(true)
    sockets.shift()!.destroy()
    await eventually(async () => expect(await isRefused('127.0.0.4')).toBe(false))
  })
})

describe('A reader that publishes with QoS 2', () => {
  it('has its message recorded and its handshake completed', async () => {
    const site = await Site.open(context.app, 'Dock')
    const asset = await site.createAsset('Pallet')
    const client = await signIn(site)
    await client.publishAsync('gate', JSON.stringify([{ tag: asset.tag, observed_at: at }]), { qos: 2 })
    expect(await site.history(asset)).toEqual([['2026-09-21T10:00:00.000Z', 'DOCK', null]])
  })

  it('and does not release 100 messages is disconnected at the next one', async () => {
    const site = await Site.open(context.app, 'Dock')
    const socket = await openSocket()
    socket.write(connectPacket(site))
    await once(socket, 'data')
    let received = 0
    socket.on('data', (chunk: Buffer) => (received += chunk.filter((byte) => byte === 0x50).length))
    const send = (messageId: number): boolean =>
      socket.write(
        generate({
          cmd: 'publish',
          topic: 'gate',
          payload: '[]',
          qos: 2,
          messageId: messageId + 0x2000,
          dup: false,
          retain: false,
        }),
      )
    for (let id = 1; id <= 100; id++) send(id)
    await eventually(async () => expect(received).toBeGreaterThanOrEqual(100))
    expect(await isClosedWithin(socket, 50)).toBe(false)
    send(101)
    expect(await isClosedWithin(socket, 1000)).toBe(true)
  })

  it('takes no memory for the content of messages that it does not release', async () => {
    const site = await Site.open(context.app, 'Dock')
    const socket = await openSocket()
    socket.write(connectPacket(site))
    await once(socket, 'data')
    const before = process.memoryUsage().arrayBuffers
    const payload = Buffer.alloc(1024 * 1024, ' ')
    for (let messageId = 1; messageId <= 60; messageId++) {
      const answered = once(socket, 'data')
      socket.write(generate({ cmd: 'publish', topic: 'gate', payload, qos: 2, messageId, dup: false, retain: false }))
      await answered
    }
    globalThis.gc?.()
    await eventually(async () => {
      // Garbage collection runs as new memory is allocated.
      Buffer.alloc(8 * 1024 * 1024)
      expect((process.memoryUsage().arrayBuffers - before) / 1024 / 1024).toBeLessThan(30)
    })
  })
})

describe('Packets that a reader has begun and not finished', () => {
  it('take at most 16 MiB for each organization; the connection that would take more is closed', async () => {
    const [site, other] = [await Site.open(context.app, 'Dock'), await Site.open(context.app, 'Dock')]
    const begin = async (login: Login): Promise<Socket> => {
      const socket = await openSocket()
      socket.write(connectPacket(login))
      await once(socket, 'data')
      socket.write(
        generate({
          cmd: 'publish',
          topic: 'gate',
          payload: Buffer.alloc(4_000_000),
          qos: 0,
          dup: false,
          retain: false,
        }).subarray(0, 1000),
      )
      return socket
    }
    const begun = [await begin(site), await begin(site), await begin(site), await begin(site)]
    expect(await isClosedWithin(await begin(site), 1000)).toBe(true)
    expect(await isClosedWithin(begun[0]!, 50)).toBe(false)
    expect(await isClosedWithin(await begin(other), 50)).toBe(false)
  })
})

describe('An MQTT client id', () => {
  it('of one reader does not disconnect another reader that uses the same id', async () => {
    const [site, other] = [await Site.open(context.app, 'Dock'), await Site.open(context.app, 'Dock')]
    const asset = await site.createAsset('Pallet')
    const client = await signIn(site, ports[0], 'gate-1')
    const same = await signIn(other, ports[0], 'gate-1')
    expect(await publish(client, 'gate', [{ tag: asset.tag, observed_at: at }])).toBe('acknowledged')
    expect([client.connected, same.connected]).toEqual([true, true])
  })

  it('that a reader uses again closes its earlier connection', async () => {
    const site = await Site.open(context.app, 'Dock')
    const client = await signIn(site, ports[0], 'gate-1')
    await signIn(site, ports[0], 'gate-1')
    await eventually(async () => expect(client.connected).toBe(false), 1000)
  })
})

describe('Unfinished CONNECT packets of one client address', () => {
  it('take at most 8 MiB; complete ones are accepted meanwhile', async () => {
    // The fixed header of a CONNECT packet of 64 KiB, and a part of the packet.
    const part = Buffer.concat([Buffer.from([0x10, 0x80, 0x80, 0x04]), Buffer.alloc(1000)])
    const unfinished = await Promise.all(Array.from({ length: 140 }, () => openSocket()))
    for (const socket of unfinished) socket.write(part)
    const open = (): number => unfinished.filter((socket) => !socket.closed).length
    await eventually(async () => expect(open()).toBe(128))
    expect((await signIn(await Site.open(context.app, 'Dock'))).connected).toBe(true)
    expect(open()).toBe(128)
  })
})

describe('The connections of one reader', () => {
  it('are at most 100, and another reader can connect meanwhile', async () => {
    const [site, other] = [await Site.open(context.app, 'Dock'), await Site.open(context.app, 'Dock')]
    const open: Socket[] = []
    for (let count = 0; count < 100; count++) {
      const socket = await openSocket()
      socket.write(connectPacket(site))
      open.push(socket)
      const [reply] = (await once(socket, 'data')) as [Buffer]
      expect(reply[3]).toBe(0)
    }
    await expect(signIn(site)).rejects.toThrow()
    expect((await signIn(other)).connected).toBe(true)
    open[0]!.destroy()
    await eventually(async () => expect((await signIn(site)).connected).toBe(true))
  })
})

describe('The connections of one organization', () => {
  it('are at most 2,500, and another organization can connect meanwhile', async () => {
    const [site, other] = [await Site.open(context.app, 'Dock'), await Site.open(context.app, 'Dock')]
    /** From an address of its own, because the connections of one address are limited, too. */
    const connectAll = async (login: Login, address: string): Promise<Socket[]> => {
      const opened = await Promise.all(Array.from({ length: 100 }, () => openSocket(ports[0], address)))
      const replies = opened.map(async (socket) => {
        socket.write(connectPacket(login))
        const [reply] = (await once(socket, 'data')) as [Buffer]
        return reply[3]
      })
      expect(await Promise.all(replies)).toEqual(Array(100).fill(0))
      return opened
    }
    const open: Socket[] = []
    for (let reader = 1; reader <= 25; reader++)
      open.push(...(await connectAll(await site.createReader(), `127.0.1.${reader}`)))
    await expect(signIn(site)).rejects.toThrow()
    expect((await signIn(other)).connected).toBe(true)
    open[0]!.destroy()
    await eventually(async () => expect((await signIn(site)).connected).toBe(true))
  })
})
