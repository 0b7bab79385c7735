import { Select, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { CopyBlock } from '../../components/copy.tsx'
import { type Format, formats } from './formats.ts'

export interface Connection {
  ingestUrl: string
  /** Known only in the moment the reader was made. */
  token: string | null
  mqtt: { url: string | null; username: string; topic: string } | null
}

const unreachable = ['0.0.0.0', '[::]', '127.0.0.1', '[::1]', 'localhost']

/** A server that listens everywhere, or knows no other name for itself, is reached the way this page was. */
function reachable(given: string): string {
  const address = URL.canParse(given) ? new URL(given) : null
  if (address === null || !unreachable.includes(address.hostname)) return given
  return given.replace(/^(\w+:\/\/)(\[[^\]]*\]|[^:/]*)/, `$1${window.location.hostname}`)
}

const hidden = '<the reader’s token>'

const curl = ({ ingestUrl, token }: Connection): string =>
  [
    `curl ${ingestUrl} \\`,
    `  -H 'Authorization: Bearer ${token ?? hidden}' \\`,
    "  -H 'Content-Type: application/json' \\",
    `  -d '{"reads":[{"tag":"E28011700000020A1B2C3D4E","antenna":1}]}'`,
  ].join('\n')

const httpText = (one: Connection): string =>
  [
    `Address         ${one.ingestUrl}`,
    'Method          POST',
    'Content-Type    application/json',
    `Header          Authorization: Bearer ${one.token ?? hidden}`,
    '',
    'Where the device takes an address alone:',
    `${one.ingestUrl}/${one.token ?? hidden}`,
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
        ...(mqtt.url === null ? ['Host            ask whoever runs the server'] : brokerLines(mqtt.url)),
        `User name       ${mqtt.username}`,
        `Password        ${token ?? hidden}`,
        `Topic           ${mqtt.topic}`,
        'QoS             1',
      ].join('\n')

const theengs = ({ mqtt, token }: Connection): string => {
  const address = mqtt?.url === null || mqtt === null ? null : new URL(mqtt.url)
  return [
    'python3 -m TheengsGateway \\',
    `  -H ${address?.hostname ?? '<broker>'} -P ${address?.port ?? '1883'} \\`,
    `  -u ${mqtt?.username ?? ''} -p '${token ?? hidden}' \\`,
    `  -pt ${mqtt?.topic ?? ''}`,
  ].join('\n')
}

/** What to type into which device so that it reports here. */
export function Snippets({ connection: given, format }: { connection: Connection; format: string }) {
  const mqtt = given.mqtt === null ? null : { ...given.mqtt, url: given.mqtt.url && reachable(given.mqtt.url) }
  const connection = { ...given, ingestUrl: reachable(given.ingestUrl), mqtt }
  const [chosen, setChosen] = useState(format === 'auto' ? 'generic' : format)
  const device: Format = formats.find((one) => one.value === chosen) ?? formats[0]!
  return (
    <Stack gap="sm">
      <Select
        label="Device"
        allowDeselect={false}
        value={chosen}
        onChange={(value) => setChosen(value ?? 'generic')}
        data={formats.map(({ value, label }) => ({ value, label }))}
      />
      <Text size="sm">{device.steps}</Text>
      {device.value === 'generic' && <CopyBlock text={curl(connection)} label="the command" />}
      {device.value === 'theengs' && <CopyBlock text={theengs(connection)} label="the command" />}
      {device.ways.includes('http') && device.value !== 'generic' && (
        <CopyBlock text={httpText(connection)} label="the HTTP settings" />
      )}
      {device.ways.includes('mqtt') && connection.mqtt !== null && (
        <CopyBlock text={mqttText(connection)} label="the MQTT settings" />
      )}
    </Stack>
  )
}
