import { type Socket, connect as connectTcp } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { type IPublishPacket, type Packet, generate, parser } from 'mqtt-packet'
import type { Devices } from './devices.ts'
import type { Intake } from './intake.ts'

export interface SubscriberNeeds {
  url: string
  devices: Devices
  intake: Intake
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

/** Every process subscribes to the same share, so the broker gives each message to one of them. */
const subscription = '$share/lastseen/lastseen/+/#'

/**
 * Listens at an outside broker. Acknowledges a message once its reads are durable and not before, many at a time and
 * in the order of arrival; a message that cannot be written now is left unacknowledged, and comes again after the
 * connection is made anew.
 */
export function startSubscriber(needs: SubscriberNeeds): Subscriber {
  const url = new URL(needs.url)
  const isSecure = url.protocol === 'mqtts:' || url.protocol === 'ssl:'
  const place = { host: url.hostname, port: Number(url.port || (isSecure ? 8883 : 1883)) }
  const clientId = `lastseen-${process.pid}-${Math.random().toString(36).slice(2, 10)}`
  let socket: Socket | null = null
  let pauseMs = firstPauseMs
  let isClosing = false
  let retry: NodeJS.Timeout | undefined

  function open(): void {
    const current = isSecure ? connectTls({ ...place, servername: url.hostname }) : connectTcp(place)
    socket = current
    const write = (packet: Packet): void => void (current.writable && current.write(generate(packet, { protocolVersion: 5 })))
    const reading = parser({ protocolVersion: 5 })
    let heardAt = performance.now()
    const ping = setInterval(() => {
      if (performance.now() - heardAt > keepaliveSeconds * 1500) current.destroy(new Error('the broker went silent'))
      else write({ cmd: 'pingreq' })
    }, (keepaliveSeconds * 1000) / 2)
    ping.unref()

    reading.on('packet', (packet: Packet) => {
      if (packet.cmd === 'connack') {
        if (packet.reasonCode !== 0) return void current.destroy(new Error(`the broker refused the login (${packet.reasonCode})`))
        write({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: subscription, qos: 1 }] })
      } else if (packet.cmd === 'suback') {
        pauseMs = firstPauseMs
        needs.onState('connected', place.host)
      } else if (packet.cmd === 'publish') {
        receive(packet).then(
          () => packet.qos === 1 && write({ cmd: 'puback', messageId: packet.messageId!, reasonCode: 0 }),
          (error: unknown) => {
            needs.onFailure(error)
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
        properties: { receiveMaximum: inFlight, sessionExpiryInterval: 3600 },
      }),
    )
    let why = 'the connection ended'
    current.on('error', (error) => (why = error.message))
    current.on('close', () => {
      clearInterval(ping)
      if (isClosing) return
      needs.onState('lost', why)
      retry = setTimeout(open, pauseMs * (0.8 + Math.random() * 0.4))
      pauseMs = Math.min(pauseMs * 2, longestPauseMs)
    })
  }

  /** A topic that leads to no reader and a message in no known format are done with: they would never get better. */
  async function receive(packet: IPublishPacket): Promise<void> {
    const device = await needs.devices.byTopic(packet.topic.split('/')[1] ?? '')
    if (device === null) return needs.intake.unknownReader(packet.topic)
    await needs.intake.takeOrQuarantine(device, Buffer.from(packet.payload), packet.topic)
  }

  open()
  return {
    close: () =>
      new Promise((resolve) => {
        isClosing = true
        clearTimeout(retry)
        if (socket === null || socket.destroyed) return resolve()
        socket.once('close', () => resolve())
        socket.end(generate({ cmd: 'disconnect', reasonCode: 0 }, { protocolVersion: 5 }))
        setTimeout(() => socket?.destroy(), 1000).unref()
      }),
  }
}
