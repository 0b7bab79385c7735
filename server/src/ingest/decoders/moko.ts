import { type Instant } from '../../kernel/instant.ts'
import { beaconsInHex } from './advertisement.ts'
import { bleTag, dbm, epochInstant, ibeaconTag, zonedInstant, type Given } from './normalise.ts'
import { addEach, asList, asObject, nothing, readOf, type Decoder, type JsonObject, type Outcome } from './read.ts'

const SCAN_OF_OLD_FIRMWARE = 3004
const SCAN_OF_NEW_FIRMWARE = 3070

/** A local time with an offset in whole hours, such as `2026-9-1&8:00:05+00`. */
const LOCAL_TIME_AND_OFFSET = /^(\d{4}-\d{1,2}-\d{1,2}&\d{1,2}:\d{1,2}:\d{1,2})([+-]\d{1,2})$/

/** MOKO MK107 and MKGW gateways. Messages other than scans report the state of the gateway. */
export const moko: Decoder = {
  name: 'moko',
  recognizes({ json }) {
    const message = asObject(json)
    return Number.isInteger(message?.msg_id) && typeof asObject(message?.device_info)?.mac === 'string'
  },
  decode({ json }) {
    const decoded = nothing()
    const message = asObject(json)
    if (message?.msg_id === SCAN_OF_OLD_FIRMWARE || message?.msg_id === SCAN_OF_NEW_FIRMWARE) {
      addEach(decoded, asList(message.data), readEntry)
    }
    return decoded
  },
}

/** Old firmware wraps the device in `value`. The numeric `type` is not used, because its meaning depends on the model. */
function readEntry(entry: JsonObject): Outcome {
  const device = asObject(entry.value) ?? entry
  const beacons = beaconsInHex([device['raw data'], device.raw, device.adv_data, device.rsp_data])
  return readOf([bleTag(device.mac), ibeaconTag(device.uuid, device.major, device.minor), ...beacons], {
    rssiDbm: dbm(device.rssi),
    observedAt: timeOf(device.timestamp),
  })
}

function timeOf(value: Given): Instant | null {
  if (typeof value !== 'string') return epochInstant(value, 'ms')
  const parts = LOCAL_TIME_AND_OFFSET.exec(value)
  return parts === null ? null : zonedInstant(parts[1], parts[2])
}
