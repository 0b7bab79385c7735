import { bleTag, dbm, ibeaconTag } from './normalise.ts'
import { add, asObject, nothing, readOf, type Decoder, type JsonObject, type Outcome } from './read.ts'

/** Theengs Gateway and OpenMQTTGateway: one device per message, and no time in it. */
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

/** The gateway's own `online` and `offline` come as plain words on their own topic. */
function isLastWill(topic: string | null): boolean {
  return topic !== null && topic.endsWith('/LWT')
}

/**
 * The address is in `id`, or in `mac` when the gateway is set to name devices by UUID. An `id` that is a UUID without
 * `mac` comes from macOS, which makes it up: only the beacon's own identity can be trusted then.
 */
function readDevice(device: JsonObject): Outcome {
  // The gateway's system messages have no device in them.
  if (device.presence === 'absent' || device.id === undefined) return 'ignored'
  const address = bleTag(device.id) ?? bleTag(device.mac)
  return readOf([address, ibeaconTag(device.uuid, device.major, device.minor)], { rssiDbm: dbm(device.rssi) })
}
