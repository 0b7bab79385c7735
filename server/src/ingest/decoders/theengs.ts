import { bleTag, dbm, ibeaconTag } from './normalise.ts'
import { add, asObject, nothing, readOf, type Decoder, type JsonObject, type Outcome } from './read.ts'

/** Theengs Gateway and OpenMQTTGateway: one device per message, without a time. */
export const theengs: Decoder = {
  name: 'theengs',
  recognizes({ json, topic }) {
    const device = asObject(json)
    if (device === null) return json === undefined && isLastWill(topic)
    return typeof device.id === 'string' && (Number.isInteger(device.rssi) || typeof device.presence === 'string')
  },
  decode({ json }) {
    const decoded = nothing()
    const device = asObject(json)
    if (device !== null) add(decoded, readDevice(device))
    return decoded
  },
}

/** The gateway sends its own `online` and `offline` as plain text to a separate topic. */
function isLastWill(topic: string | null): boolean {
  return topic !== null && topic.endsWith('/LWT')
}

/**
 * The address is in `id`, or in `mac` when the gateway is configured to identify devices by UUID. An `id` that is a UUID
 * without `mac` comes from macOS, which generates it: then only the identity of the beacon is reliable.
 */
function readDevice(device: JsonObject): Outcome {
  // The gateway's system messages contain no device.
  if (device.presence === 'absent' || device.id === undefined) return 'ignored'
  const address = bleTag(device.id) ?? bleTag(device.mac)
  return readOf([address, ibeaconTag(device.uuid, device.major, device.minor)], { rssiDbm: dbm(device.rssi) })
}
