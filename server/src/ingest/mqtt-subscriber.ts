import { type Socket, connect as connectTcp } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import { type IPublishPacket, type Packet, generate, parser } from 'mqtt-packet'
import type { InstanceSlot } from '../db/instance-slot.ts'
import type { ReaderCache } from './reader-cache.ts'
import type { ReadIngestor } from './read-ingestor.ts'
import { maxPacketBytes } from './mqtt-packet-guard.ts'

export interface SubscriberDeps {
  url: string
  /** Tells this installation from others at the same broker. */
  installation: string
  /** Whether other processes listen too, and each message is for one of them. */
  isShared: boolean
  takeSeat: (onLost: () => void) => Promise<InstanceSlot>
  devices: ReaderCache
  intake: ReadIngestor
  onState: (state: 'connected' | 'lost', why: string) => void
  onFailure: (error: unknown) => void
}

export interface Subscriber {
  close(): Promise<void>
}

const keepaliveSeconds = 30
const inFlight = 500
const firstPauseMs = 500
const longestPauseMs = 15_000
/** How long a process that leaves waits for what the broker has set aside for it. */
const leaveMs = 5000
const quietMs = 100
const leavingId = 3

/**
 * Listens at an outside broker. Acknowledges a message once its reads are durable and not before, many at a time and
 * in the order of arrival; a message that cannot be written now is left unacknowledged, and comes again after the
 * connection is made anew.
 *
 * Several processes subscribe to the same share, so the broker gives each message to one of them, and it keeps what it
 * has set aside for one that is away. So a process goes by the number of its seat: whoever starts next finds the messages
 * of one that ended. One that leaves while others stay takes what is its own and has the broker set nothing more aside.
 *
 * A process alone subscribes without a share: some brokers (mosquitto 2.0) forget shares when they are restarted, and
 * acknowledge what is published before the process has come back without keeping it for anybody.
 */
export function startSubscriber(deps: SubscriberDeps): Subscriber {
  const url = new URL(deps.url)
  const isSecure = url.protocol === 'mqtts:' || url.protocol === 'ssl:'
  const place = { host: url.hostname, port: Number(url.port || (isSecure ? 8883 : 1883)) }
  const [alone, shared] = ['lastseen/+/#', `$share/lastseen-${deps.installation}/lastseen/+/#`]
  const [subscription, other] = deps.isShared ? [shared, alone] : [alone, shared]
  let seat: InstanceSlot | null = null
  let socket: Socket | null = null
  let pauseMs = firstPauseMs
  let isClosing = false
  let retry: NodeJS.Timeout | undefined
  let taking = 0
  let heardAt = 0
  let hasUnsubscribed = false

  async function open(): Promise<void> {
    try {
      seat = await deps.takeSeat(() => socket?.destroy(new Error('the seat was lost')))
    } catch (error) {
      return later((error as Error).message)
    }
    if (isClosing) await seat.leave()
    else talk(seat)
  }

  function later(why: string): void {
    if (isClosing) return
    deps.onState('lost', why)
    retry = setTimeout(() => void open(), pauseMs * (0.8 + Math.random() * 0.4))
    pauseMs = Math.min(pauseMs * 2, longestPauseMs)
  }

  function talk(own: InstanceSlot): void {
    const clientId = `lastseen-${deps.installation}-${own.number}`
    const current = isSecure ? connectTls({ ...place, servername: url.hostname }) : connectTcp(place)
    socket = current
    const write = (packet: Packet): void => {
      if (current.writable) current.write(generate(packet, { protocolVersion: 5 }))
    }
    const reading = parser({ protocolVersion: 5 })
    heardAt = performance.now()
    const ping = setInterval(
      () => {
        if (performance.now() - heardAt > keepaliveSeconds * 1500) current.destroy(new Error('the broker went silent'))
        else write({ cmd: 'pingreq' })
      },
      (keepaliveSeconds * 1000) / 2,
    )
    ping.unref()

    reading.on('packet', (packet: Packet) => {
      if (packet.cmd === 'connack') {
        if (packet.reasonCode !== 0)
          return void current.destroy(new Error(`the broker refused the login (${packet.reasonCode})`))
        write({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: subscription, qos: 1 }] })
        // The broker may remember how this process, or the one before it, listened the last time.
        write({ cmd: 'unsubscribe', messageId: 2, unsubscriptions: [other] })
      } else if (packet.cmd === 'suback') {
        pauseMs = firstPauseMs
        deps.onState('connected', place.host)
      } else if (packet.cmd === 'unsuback') {
        hasUnsubscribed = packet.messageId === leavingId
      } else if (packet.cmd === 'publish') {
        taking++
        const received = receive(packet).finally(() => taking--)
        received.then(
          () => packet.qos === 1 && write({ cmd: 'puback', messageId: packet.messageId!, reasonCode: 0 }),
          (error: unknown) => {
            deps.onFailure(error)
            current.destroy()
          },
        )
      }
    })
    reading.on('error', (error: Error) => current.destroy(error))
    current.on('data', (chunk: Buffer) => {
      heardAt = performance.now()
      reading.parse(chunk)
    })
    current.on(isSecure ? 'secureConnect' : 'connect', () =>
      write({
        cmd: 'connect',
        protocolId: 'MQTT',
        protocolVersion: 5,
        clientId,
        clean: false,
        keepalive: keepaliveSeconds,
        ...(url.username === '' ? {} : { username: decodeURIComponent(url.username) }),
        ...(url.password === '' ? {} : { password: Buffer.from(decodeURIComponent(url.password)) }),
        properties: { receiveMaximum: inFlight, sessionExpiryInterval: 3600, maximumPacketSize: maxPacketBytes },
      }),
    )
    let why = 'the connection ended'
    current.on('error', (error: Error) => {
      why = error.message
    })
    current.on('close', () => {
      clearInterval(ping)
      void own.leave().then(() => later(why))
    })
  }

  /** A topic that leads to no reader and a message in no known format are done with: they would never get better. */
  async function receive(packet: IPublishPacket): Promise<void> {
    const device = await deps.devices.byTopic(packet.topic.split('/')[1] ?? '')
    if (device === null) return deps.intake.unknownReader(packet.topic)
    await deps.intake.processOrQuarantine(device, Buffer.from(packet.payload), packet.topic)
  }

  /** Lets the broker set nothing more aside for this process, and takes what it has. */
  async function unsubscribe(from: Socket): Promise<void> {
    const packet: Packet = { cmd: 'unsubscribe', messageId: leavingId, unsubscriptions: [subscription] }
    from.write(generate(packet, { protocolVersion: 5 }))
    const isDone = (): boolean => hasUnsubscribed && taking === 0 && performance.now() - heardAt > quietMs
    for (const end = performance.now() + leaveMs; !isDone() && performance.now() < end;) await sleep(20)
  }

  void open()
  return {
    async close() {
      isClosing = true
      clearTimeout(retry)
      const isLast = (await seat?.leave()) ?? true
      if (socket === null || socket.destroyed) return
      const current = socket
      if (!isLast) await unsubscribe(current)
      const properties = isLast ? {} : { sessionExpiryInterval: 0 }
      const closed = new Promise((resolve) => current.once('close', resolve))
      current.end(generate({ cmd: 'disconnect', reasonCode: 0, properties }, { protocolVersion: 5 }))
      setTimeout(() => current.destroy(), 1000).unref()
      await closed
    },
  }
}
