import type { Config } from '../config/config.ts'
import type { Reader } from '../readers/reader.ts'

/** The URL of this server, which may listen on a wildcard address. */
export function localUrl(config: Pick<Config, 'host' | 'tlsCert'>, protocol: 'http' | 'mqtt', port: number): string {
  const { host, tlsCert } = config
  const isWildcard = host === '0.0.0.0' || host === '::'
  const name = isWildcard ? 'localhost' : host.includes(':') ? `[${host}]` : host
  return `${protocol}${tlsCert === null ? '' : 's'}://${name}:${port}`
}

/** The addresses to which readers send their reads. */
export interface ReaderAddresses {
  baseUrl: string
  mqttUrl: string | null
}

/** The addresses of a server that has these settings and listens on `port`. */
export function readerAddresses(config: Config, port: number): ReaderAddresses {
  const { baseUrl, mqttPublicUrl, mqttUrl, mqttPort } = config
  const hasOwnBroker = mqttUrl === null && mqttPort > 0
  return {
    baseUrl: baseUrl ?? localUrl(config, 'http', port),
    mqttUrl: mqttPublicUrl ?? (hasOwnBroker ? localUrl(config, 'mqtt', mqttPort) : null),
  }
}

/** The URL, MQTT user name and topic of a reader. The MQTT password is the token of the reader, which is not included. */
export function ingestAddresses({ baseUrl, mqttUrl }: ReaderAddresses, reader: Reader) {
  return {
    ingest_url: `${baseUrl}/ingest/v1/reads`,
    mqtt: { url: mqttUrl, username: String(reader.id), topic: `lastseen/${reader.topicKey}/reads` },
  }
}
