import { createHash } from 'node:crypto'
import type { Logger } from 'pino'
import { Gauge, type Registry } from 'prom-client'
import { acquireInstanceSlot } from '../db/instance-slot.ts'
import { BackpressureError } from '../ingest/batch-writer.ts'
import { type Broker, startBroker } from '../ingest/mqtt-broker.ts'
import { startSubscriber } from '../ingest/mqtt-subscriber.ts'
import type { TlsFiles } from '../kernel/tls-files.ts'
import { readerChangedTopic } from '../readers/commands.ts'
import type { AppContext } from './context.ts'
import { localUrl } from './local-url.ts'
import { limitLogger } from './telemetry.ts'
import type { Tracking } from './tracking.ts'

export interface MqttIngress {
  /** A line for the operator who started the program. */
  notice: string | null
  /** How long the external broker has been unreachable; 0 while it is connected. */
  outageMs: () => number
  /** Called when events about changed readers may have been missed. */
  onMissedEvents: () => void
  close(): Promise<void>
}

export const noMqtt: MqttIngress = {
  notice: null,
  outageMs: () => 0,
  onMissedEvents: () => undefined,
  close: async () => undefined,
}

const connectionCheckMs = 1000
/** A process that was killed between a change and its event has not published it. */
const connectionRecheckMs = 60_000

interface MqttDeps {
  context: AppContext
  tracking: Tracking
  log: Logger
  registry: Registry
  onFailure: (error: unknown) => void
}

/** Opens MQTT ingress: the external broker if one is configured, otherwise the embedded broker if it has a port. */
export async function openMqtt(
  context: AppContext,
  tracking: Tracking,
  log: Logger,
  { isOneOfSeveral, tls, registry }: { isOneOfSeveral: boolean; tls: TlsFiles | null; registry: Registry },
): Promise<MqttIngress> {
  const { mqttUrl, mqttShare, mqttPort } = context.config
  // A message over the limits was reported as refused.
  const onFailure = (error: unknown): void => {
    if (error instanceof BackpressureError) return
    log.warn({ event: 'mqtt.refused', err: error }, 'message not acknowledged')
  }
  const deps = { context, tracking, log, registry, onFailure }
  if (mqttUrl !== null) return subscribeTo(mqttUrl, isOneOfSeveral || mqttShare === 'always', deps)
  if (mqttPort === 0) return noMqtt
  try {
    return await openBroker(mqttPort, tls, deps)
  } catch (error) {
    const why =
      (error as NodeJS.ErrnoException).code === 'EADDRINUSE' ? `port ${mqttPort} is in use` : (error as Error).message
    const notice = `MQTT is off: ${why}. Readers can still use HTTP; LASTSEEN_MQTT_PORT chooses another port.`
    log.warn({ event: 'mqtt.off', why }, notice)
    return { ...noMqtt, notice }
  }
}

function subscribeTo(url: string, isShared: boolean, deps: MqttDeps): MqttIngress {
  const { context, log, registry, onFailure } = deps
  const { readerCache, ingestor } = deps.tracking
  const isConnected = new Gauge({
    name: 'lastseen_mqtt_broker_connected',
    help: 'Connections of server processes to the external MQTT broker.',
    registers: [registry],
  })
  let lostAtMs: number | null = performance.now()
  const outageMs = (): number => (lostAtMs === null ? 0 : performance.now() - lostAtMs)
  new Gauge({
    name: 'lastseen_mqtt_broker_outage_seconds',
    help: 'How long the external MQTT broker has been unreachable; 0 while it is connected.',
    registers: [registry],
    aggregator: 'max',
    collect() {
      this.set(outageMs() / 1000)
    },
  })
  const subscriber = startSubscriber({
    url,
    installation: createHash('sha256').update(context.keys.secretKey).digest('hex').slice(0, 12),
    isShared,
    acquireInstanceSlot: (onLost) => acquireInstanceSlot(context.url, onLost),
    readerCache,
    ingestor,
    onFailure,
    onState(state, why) {
      isConnected.set(state === 'connected' ? 1 : 0)
      lostAtMs = state === 'connected' ? null : (lostAtMs ?? performance.now())
      log.info({ event: `mqtt.${state}`, why }, `broker ${state}`)
    },
  })
  return { ...noMqtt, outageMs, close: () => subscriber.close() }
}

async function openBroker(port: number, tls: TlsFiles | null, deps: MqttDeps): Promise<MqttIngress> {
  const { context, tracking, log, registry, onFailure } = deps
  const { host, mqttConnections, mqttConnectionsPerAddress } = context.config
  const broker = await startBroker({
    readerCache: tracking.readerCache,
    ingestor: tracking.ingestor,
    clock: context.clock,
    host,
    port,
    tls,
    onFailure,
    onConnection: tracking.noteConnection,
    maxConnections: mqttConnections,
    maxConnectionsPerAddress: mqttConnectionsPerAddress,
    onLimit: limitLogger(log, 'mqtt'),
    onRefused: (refusal) => tracking.refusals.note({ ...refusal, transport: 'mqtt' }),
  })
  const stopChecking = closeRevokedConnections(context, broker)
  new Gauge({
    name: 'lastseen_mqtt_connections',
    help: 'Connections of readers to the embedded MQTT broker.',
    registers: [registry],
    collect() {
      this.set(broker.connections)
    },
  })
  return {
    ...noMqtt,
    notice: `MQTT broker for readers: ${localUrl(context.config, 'mqtt', broker.port)}`,
    onMissedEvents: () => void broker.closeRevoked(null),
    close() {
      stopChecking()
      return broker.close()
    },
  }
}

/** Closes the connections of changed readers that are not valid any more, also when events about them are missed. */
function closeRevokedConnections({ pubsub, clock }: AppContext, broker: Broker): () => void {
  // An event without a reader id means that any reader may have changed. All connected readers are then checked in the
  // background, so that the publisher does not wait for it.
  pubsub.on(readerChangedTopic, (readerId) =>
    readerId === '' ? void broker.closeRevoked(null) : broker.closeRevoked(Number(readerId)),
  )
  // While this process cannot receive events about changed readers, connections are checked in the database instead.
  let isChecking = false
  let checkedAtMs = clock.millis()
  const checkConnections = async (): Promise<void> => {
    const isDue = clock.millis() - checkedAtMs >= connectionRecheckMs
    if (isChecking || (pubsub.isConnected() && !isDue)) return
    isChecking = true
    checkedAtMs = clock.millis()
    await broker.closeRevoked(null, { willCheckAgain: true })
    isChecking = false
  }
  const check = setInterval(() => void checkConnections(), connectionCheckMs).unref()
  return () => clearInterval(check)
}
