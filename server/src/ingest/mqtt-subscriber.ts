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
  /** Distinguishes this installation from others at the same broker. */
  installation: string
  /** Whether several processes share the subscription, so that each message goes to one of them. */
  isShared: boolean
  acquireInstanceSlot: (onLost: () => void) => Promise<InstanceSlot>
  readerCache: ReaderCache
  ingestor: ReadIngestor
  onState: (state: 'connected' | 'lost', detail: string) => void
  onFailure: (error: unknown) => void
}

export interface Subscriber {
  close(): Promise<void>
}

const keepaliveSeconds = 30
const maxInFlight = 500
const initialDelayMs = 500
const maxDelayMs = 15_000
/** How long a process that leaves waits for the messages that the broker has queued for it. */
const leaveTimeoutMs = 5000
/** Without a packet for this long, the broker has sent all queued messages. */
const idleMs = 100
const leaveMessageId = 3

/**
 * Subscribes to an external broker. A message is acknowledged when its reads are durable. Many messages are processed
 * concurrently, in the order of arrival. A message that cannot be written stays unacknowledged, and the broker sends it
 * again after the next connection.
 *
 * Several processes use a shared subscription, so the broker sends each message to one of them and queues messages for a
 * process that is disconnected. The client id contains the number of the process's instance slot: the next process with
 * that slot receives the queued messages of a process that ended. A process that leaves while others stay unsubscribes
 * and receives its remaining messages before it disconnects.
 *
 * A single process uses an ordinary subscription: some brokers (mosquitto 2.0) lose shared subscriptions on a restart, and
 * then acknowledge messages without queueing them until the process has subscribed again.
 */
export function startSubscriber(deps: SubscriberDeps): Subscriber {
  const url = new URL(deps.url)
  const isSecure = url.protocol === 'mqtts:' || url.protocol === 'ssl:'
  const address = { host: url.hostname, port: Number(url.port || (isSecure ? 8883 : 1883)) }
  const [exclusive, shared] = ['lastseen/+/#', `$share/lastseen-${deps.installation}/lastseen/+/#`]
  const [subscription, other] = deps.isShared ? [shared, exclusive] : [exclusive, shared]
  let slot: InstanceSlot | null = null
  let socket: Socket | null = null
  let delayMs = initialDelayMs
  let isClosing = false
  let retryTimer: NodeJS.Timeout | undefined
  let inFlight = 0
  let lastPacketMs = 0
  let hasUnsubscribed = false

  async function open(): Promise<void> {
    try {
      slot = await deps.acquireInstanceSlot(() => socket?.destroy(new Error('the instance slot was lost')))
    } catch (error) {
      return retryLater((error as Error).message)
    }
    if (isClosing) await slot.leave()
    else connect(slot)
  }

  function retryLater(reason: string): void {
    if (isClosing) return
    deps.onState('lost', reason)
    retryTimer = setTimeout(() => void open(), delayMs * (0.8 + Math.random() * 0.4))
    delayMs = Math.min(delayMs * 2, maxDelayMs)
  }

  function connect(ownSlot: InstanceSlot): void {
    const clientId = `lastseen-${deps.installation}-${ownSlot.number}`
    const current = isSecure ? connectTls({ ...address, servername: url.hostname }) : connectTcp(address)
    socket = current
    const packets = parser({ protocolVersion: 5 })
    lastPacketMs = performance.now()
    const ping = setInterval(() => keepAlive(current), (keepaliveSeconds * 1000) / 2).unref()
    packets.on('packet', (packet: Packet) => onPacket(packet, current))
    packets.on('error', (error: Error) => current.destroy(error))
    current.on('data', (chunk: Buffer) => {
      lastPacketMs = performance.now()
      packets.parse(chunk)
    })
    current.on(isSecure ? 'secureConnect' : 'connect', () => write(current, connectPacket(url, clientId)))
    let reason = 'the connection ended'
    current.on('error', (error: Error) => {
      reason = error.message
    })
    current.on('close', () => {
      clearInterval(ping)
      void ownSlot.leave().then(() => retryLater(reason))
    })
  }

  function keepAlive(current: Socket): void {
    if (performance.now() - lastPacketMs > keepaliveSeconds * 1500)
      current.destroy(new Error('the broker did not respond'))
    else write(current, { cmd: 'pingreq' })
  }

  function onPacket(packet: Packet, current: Socket): void {
    if (packet.cmd === 'connack') {
      if (packet.reasonCode !== 0)
        return void current.destroy(new Error(`the broker rejected the login (${packet.reasonCode})`))
      write(current, { cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: subscription, qos: 1 }] })
      // The broker may still have the other subscription from an earlier process with this client id.
      write(current, { cmd: 'unsubscribe', messageId: 2, unsubscriptions: [other] })
    } else if (packet.cmd === 'suback') {
      delayMs = initialDelayMs
      deps.onState('connected', address.host)
    } else if (packet.cmd === 'unsuback') {
      hasUnsubscribed = packet.messageId === leaveMessageId
    } else if (packet.cmd === 'publish') {
      inFlight++
      const received = receive(packet).finally(() => inFlight--)
      received.then(
        () => packet.qos === 1 && write(current, { cmd: 'puback', messageId: packet.messageId!, reasonCode: 0 }),
        (error: unknown) => {
          deps.onFailure(error)
          current.destroy()
        },
      )
    }
  }

  /** Messages of unknown topics or formats are acknowledged too, because a retry would not succeed either. */
  async function receive(packet: IPublishPacket): Promise<void> {
    const device = await deps.readerCache.byTopic(packet.topic.split('/')[1] ?? '')
    if (device === null) return deps.ingestor.unknownReader(packet.topic)
    await deps.ingestor.processOrDiscard(device, Buffer.from(packet.payload), packet.topic)
  }

  /** Unsubscribes and waits for the messages that the broker has queued for this process. */
  async function unsubscribe(from: Socket): Promise<void> {
    const packet: Packet = { cmd: 'unsubscribe', messageId: leaveMessageId, unsubscriptions: [subscription] }
    from.write(generate(packet, { protocolVersion: 5 }))
    const isDone = (): boolean => hasUnsubscribed && inFlight === 0 && performance.now() - lastPacketMs > idleMs
    for (const end = performance.now() + leaveTimeoutMs; !isDone() && performance.now() < end;) await sleep(20)
  }

  void open()
  return {
    async close() {
      isClosing = true
      clearTimeout(retryTimer)
      const isLast = (await slot?.leave()) ?? true
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

function write(socket: Socket, packet: Packet): void {
  if (socket.writable) socket.write(generate(packet, { protocolVersion: 5 }))
}

const connectPacket = (url: URL, clientId: string): Packet => ({
  cmd: 'connect',
  protocolId: 'MQTT',
  protocolVersion: 5,
  clientId,
  clean: false,
  keepalive: keepaliveSeconds,
  ...(url.username === '' ? {} : { username: decodeURIComponent(url.username) }),
  ...(url.password === '' ? {} : { password: Buffer.from(decodeURIComponent(url.password)) }),
  properties: { receiveMaximum: maxInFlight, sessionExpiryInterval: 3600, maximumPacketSize: maxPacketBytes },
})
