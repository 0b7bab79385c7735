import { beaconsIn, beaconsInHex, hexOf } from './advertisement.ts'
import { bleTag, dbm, epochInstant, ibeaconTag, sequenceNumber, textInstant } from './normalise.ts'
import {
  add,
  addEach,
  asList,
  asObject,
  nothing,
  readOf,
  type Decoded,
  type Decoder,
  type JsonObject,
  type Outcome,
} from './read.ts'

const BINARY_LONG = 0xbb01
const TAIL = 0xdd
const HEADER_BYTES = 14
const MAC_BYTES = 6

/** Minew G1, G2, MG3 and MG4: JSON-LONG and JSON-RAW, both lists that start with the gateway, and the long binary format. */
export const minew: Decoder = {
  name: 'minew',
  recognizes({ json, bytes }) {
    const first = asObject(asList(json)[0])
    return first === null ? isBinary(bytes) : isGateway(first)
  },
  decode({ json, bytes }) {
    // Some firmware labels the binary format as JSON, so only the bytes are reliable.
    if (isBinary(bytes)) return decodeBinary(bytes)
    const decoded = nothing()
    const records = asList(json)
    decoded.seq = sequenceNumber(asObject(records[0])?.seq)
    addEach(decoded, records, readRecord)
    return decoded
  },
}

function isGateway(record: JsonObject): boolean {
  return record.type === 'Gateway' || record.gateway !== undefined
}

/** The member `no` of JSON-RAW is a radio channel, not an antenna. */
function readRecord(record: JsonObject): Outcome {
  if (isGateway(record)) return 'ignored'
  const ibeacon = ibeaconTag(record.ibeaconUuid, record.ibeaconMajor, record.ibeaconMinor)
  return readOf([bleTag(record.mac), ibeacon, ...beaconsInHex([record.rawData])], {
    rssiDbm: dbm(record.rssi),
    observedAt: textInstant(record.timestamp) ?? epochInstant(record.timestamp, 'ms'),
  })
}

/** The format has no checksum: a frame is valid only when its header, its length and its tail match. */
function isBinary(bytes: Uint8Array): boolean {
  if (bytes.length <= HEADER_BYTES) return false
  const view = viewOf(bytes)
  return (
    view.getUint16(0) === BINARY_LONG && view.getUint32(2) === bytes.length && view.getUint8(bytes.length - 1) === TAIL
  )
}

/** The end of a device is known only after parsing it, so a device that exceeds the frame invalidates all after it. */
function decodeBinary(bytes: Uint8Array): Decoded {
  const decoded = nothing()
  const view = viewOf(bytes)
  let at = HEADER_BYTES
  for (let devicesLeft = view.getUint16(12); devicesLeft > 0; devicesLeft--) {
    const device = readDevice(bytes, view, at)
    if (device === null) {
      decoded.skipped += devicesLeft
      break
    }
    add(decoded, device.outcome)
    at = device.end
  }
  return decoded
}

/** One read per device, with the number of packets, the strongest signal and the beacons of all packets. */
function readDevice(bytes: Uint8Array, view: DataView, start: number): { outcome: Outcome; end: number } | null {
  const limit = bytes.length - 1
  let at = start + MAC_BYTES + 2
  if (at > limit) return null
  const count = view.getUint16(start + MAC_BYTES)
  const payloads: Uint8Array[] = []
  let strongest: number | null = null
  for (let packet = 0; packet < count; packet++) {
    const payloadStart = at + 1
    // The flags and the signal strength follow the payload.
    const payloadEnd = payloadStart + (bytes[at] ?? 0)
    at = payloadEnd + 2
    if (at > limit) return null
    payloads.push(bytes.subarray(payloadStart, payloadEnd))
    const rssiDbm = dbm(view.getInt8(payloadEnd + 1))
    if (rssiDbm !== null && (strongest === null || rssiDbm > strongest)) strongest = rssiDbm
  }
  if (count === 0) return { outcome: 'unreadable', end: at }
  const mac = bleTag(hexOf(bytes, start, start + MAC_BYTES))
  return { outcome: readOf([mac, ...beaconsIn(payloads)], { rssiDbm: strongest, count }), end: at }
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
