import { createHash } from 'node:crypto'
import type { Logger } from 'pino'
import { takeSeat } from '../db/seat.ts'
import { startBroker } from '../ingest/broker.ts'
import { startSubscriber } from '../ingest/subscriber.ts'
import { readerChangedTopic } from '../readers/commands.ts'
import type { Core } from './core.ts'
import { ownAddress } from './own-address.ts'
import { limitLogger } from './telemetry.ts'
import type { Tracking } from './tracking.ts'

export interface MqttDoor {
  /** What to tell whoever started the program. */
  notice: string | null
  /** Notifications of changed readers may have been missed. */
  missedNews: () => void
  close(): Promise<void>
}

export const noMqtt: MqttDoor = { notice: null, missedNews: () => undefined, close: async () => undefined }

/** Opens the MQTT way in: an outside broker when one is named, else the embedded one. Without either, HTTP remains. */
export async function openMqtt(
  core: Core,
  tracking: Tracking,
  log: Logger,
  isOneOfSeveral: boolean,
): Promise<MqttDoor> {
  const { mqttUrl, mqttShare, mqttPort, host, mqttConnections, mqttConnectionsPerAddress } = core.config
  const { devices, intake } = tracking
  const onFailure = (error: unknown): void =>
    log.warn({ event: 'mqtt.refused', err: error }, 'message not acknowledged')
  if (mqttUrl !== null) {
    const onState = (state: string, why: string): void => log.info({ event: `mqtt.${state}`, why }, `broker ${state}`)
    const installation = createHash('sha256').update(core.keys.secretKey).digest('hex').slice(0, 12)
    const seated = (onLost: () => void) => takeSeat(core.url, onLost)
    const isShared = isOneOfSeveral || mqttShare === 'always'
    const options = { url: mqttUrl, installation, isShared, takeSeat: seated, devices, intake, onFailure, onState }
    const subscriber = startSubscriber(options)
    return { ...noMqtt, close: () => subscriber.close() }
  }
  if (mqttPort === 0) return noMqtt
  try {
    const onConnection = tracking.noteConnection
    const broker = await startBroker({
      ...{ devices, intake, host, port: mqttPort, onFailure, onConnection },
      maxConnections: mqttConnections,
      maxConnectionsPerAddress: mqttConnectionsPerAddress,
      onLimit: limitLogger(log, 'mqtt'),
    })
    // A change that names no reader is not waited for: every connected reader is then looked up.
    core.wake.on(readerChangedTopic, (readerId) =>
      readerId === '' ? void broker.closeRevoked(null) : broker.closeRevoked(Number(readerId)),
    )
    const notice = `Readers reach the MQTT broker at ${ownAddress('mqtt', host, broker.port)}`
    return { notice, missedNews: () => void broker.closeRevoked(null), close: () => broker.close() }
  } catch (error) {
    const why =
      (error as NodeJS.ErrnoException).code === 'EADDRINUSE' ? `port ${mqttPort} is taken` : (error as Error).message
    const notice = `MQTT is off: ${why}. Readers can still use HTTP; LASTSEEN_MQTT_PORT chooses another port.`
    log.warn({ event: 'mqtt.off', why }, notice)
    return { ...noMqtt, notice }
  }
}
