import { Select, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { CopyBlock } from '../../components/copy.tsx'
import { type DeviceFormat, formats } from './formats.ts'

export interface Connection {
  ingestUrl: string
  /** Known only right after the reader was created. */
  token: string | null
  mqtt: { url: string | null; username: string; topic: string } | null
}

const unreachableHosts = ['0.0.0.0', '[::]', '127.0.0.1', '[::1]', 'localhost']

/** Replaces a wildcard or loopback host with the host of this page, which devices can reach. */
function withReachableHost(given: string): string {
  const url = URL.canParse(given) ? new URL(given) : null
  if (url === null || !unreachableHosts.includes(url.hostname)) return given
  return given.replace(/^(\w+:\/\/)(\[[^\]]*\]|[^:/]*)/, `$1${window.location.hostname}`)
}

const tokenPlaceholder = '<the reader’s token>'

const curl = ({ ingestUrl, token }: Connection): string =>
  [
    `curl ${ingestUrl} \\`,
    `  -H 'Authorization: Bearer ${token ?? tokenPlaceholder}' \\`,
    "  -H 'Content-Type: application/json' \\",
    `  -d '{"reads":[{"tag":"E28011700000020A1B2C3D4E","antenna":1}]}'`,
  ].join('\n')

const httpText = (one: Connection): string =>
  [
    `URL             ${one.ingestUrl}`,
    'Method          POST',
    'Content-Type    application/json',
    `Header          Authorization: Bearer ${one.token ?? tokenPlaceholder}`,
    '',
    'If the device accepts only a URL:',
    `${one.ingestUrl}/${one.token ?? tokenPlaceholder}`,
  ].join('\n')

const brokerLines = (url: string): string[] => {
  const { hostname, port, protocol } = new URL(url)
  const isSecure = protocol === 'mqtts:' || protocol === 'ssl:'
  return [
    `Host            ${hostname}`,
    `Port            ${port === '' ? (isSecure ? '8883' : '1883') : port}`,
    ...(isSecure ? ['TLS             on'] : []),
  ]
}

const mqttText = ({ mqtt, token }: Connection): string =>
  mqtt === null
    ? ''
    : [
        ...(mqtt.url === null ? ['Host            ask the operator of the server'] : brokerLines(mqtt.url)),
        `User name       ${mqtt.username}`,
        `Password        ${token ?? tokenPlaceholder}`,
        `Topic           ${mqtt.topic}`,
        'QoS             1',
      ].join('\n')

const theengs = ({ mqtt, token }: Connection): string => {
  const broker = mqtt?.url === null || mqtt === null ? null : new URL(mqtt.url)
  return [
    'python3 -m TheengsGateway \\',
    `  -H ${broker?.hostname ?? '<broker>'} -P ${broker?.port ?? '1883'} \\`,
    `  -u ${mqtt?.username ?? ''} -p '${token ?? tokenPlaceholder}' \\`,
    `  -pt ${mqtt?.topic ?? ''}`,
  ].join('\n')
}

/** The settings to copy into the device. */
export function Snippets({ connection: given, format }: { connection: Connection; format: string }) {
  const mqtt = given.mqtt === null ? null : { ...given.mqtt, url: given.mqtt.url && withReachableHost(given.mqtt.url) }
  const connection = { ...given, ingestUrl: withReachableHost(given.ingestUrl), mqtt }
  const [deviceFormat, setDeviceFormat] = useState(format === 'auto' ? 'generic' : format)
  const device: DeviceFormat = formats.find((one) => one.value === deviceFormat) ?? formats[0]!
  return (
    <Stack gap="sm">
      <Select
        label="Device"
        allowDeselect={false}
        value={deviceFormat}
        onChange={(value) => setDeviceFormat(value ?? 'generic')}
        data={formats.map(({ value, label }) => ({ value, label }))}
      />
      <Text size="sm">{device.steps}</Text>
      {device.value === 'generic' && <CopyBlock text={curl(connection)} label="the command" />}
      {device.value === 'theengs' && <CopyBlock text={theengs(connection)} label="the command" />}
      {device.transports.includes('http') && device.value !== 'generic' && (
        <CopyBlock text={httpText(connection)} label="the HTTP settings" />
      )}
      {device.transports.includes('mqtt') && connection.mqtt !== null && (
        <CopyBlock text={mqttText(connection)} label="the MQTT settings" />
      )}
    </Stack>
  )
}
