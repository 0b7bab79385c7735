import type { Config } from '../config/config.ts'
import type { Reader } from '../readers/reader.ts'

/** Where the program is found that listens on `host`, which may stand for all addresses of the machine. */
export function localUrl(scheme: 'http' | 'mqtt', host: string, port: number): string {
  const isAny = host === '0.0.0.0' || host === '::'
  const name = isAny ? 'localhost' : host.includes(':') ? `[${host}]` : host
  return `${scheme}://${name}:${port}`
}

/** Where readers send their reads. */
export interface ReaderAddresses {
  baseUrl: string
  mqttUrl: string | null
}

/** The addresses of a server with these settings that listens on `port`. */
export function readerAddresses(config: Config, port: number): ReaderAddresses {
  const { baseUrl, mqttPublicUrl, mqttUrl, mqttPort, host } = config
  const hasOwnBroker = mqttUrl === null && mqttPort > 0
  return {
    baseUrl: baseUrl ?? localUrl('http', host, port),
    mqttUrl: mqttPublicUrl ?? (hasOwnBroker ? localUrl('mqtt', host, mqttPort) : null),
  }
}

/** Where readers send to and as whom. The password is the token, which stands in neither address. */
export function ingestAddresses({ baseUrl, mqttUrl }: ReaderAddresses, reader: Reader) {
  return {
    ingest_url: `${baseUrl}/ingest/v1/reads`,
    mqtt: { url: mqttUrl, username: String(reader.id), topic: `lastseen/${reader.topicKey}/reads` },
  }
}
