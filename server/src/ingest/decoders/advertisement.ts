import { type TagDraft } from '../../tags/tag.ts'
import { advertisementBytes, beaconTag, ibeaconTag, type Given } from './normalise.ts'

const MANUFACTURER_DATA = 0xff
const SERVICE_DATA = 0x16
const IBEACON_PREFIX = [0x4c, 0x00, 0x02, 0x15]
const EDDYSTONE_UID_PREFIX = [0xaa, 0xfe, 0x00]
/** Prefix, UUID, major, minor and transmit power. */
const IBEACON_LENGTH = 25
/** Prefix, transmit power, namespace and instance; the two reserved bytes after them may be missing. */
const EDDYSTONE_UID_LENGTH = 20

/** The beacon identities in raw advertisements, iBeacon before Eddystone. Parsing ends at the first malformed structure. */
export function beaconsIn(advertisements: readonly Uint8Array[]): TagDraft[] {
  const ibeacons: (TagDraft | null)[] = []
  const eddystones: (TagDraft | null)[] = []
  for (const advertisement of advertisements) {
    for (const { type, data } of structuresOf(advertisement)) {
      if (type === MANUFACTURER_DATA && hasShape(data, IBEACON_PREFIX, IBEACON_LENGTH)) {
        const uuid = hexOf(data, 4, 20)
        ibeacons.push(ibeaconTag(uuid, numberAt(data, 20), numberAt(data, 22)))
      } else if (type === SERVICE_DATA && hasShape(data, EDDYSTONE_UID_PREFIX, EDDYSTONE_UID_LENGTH)) {
        eddystones.push(beaconTag(`${hexOf(data, 4, 14)}:${hexOf(data, 14, 20)}`))
      }
    }
  }
  return [...ibeacons, ...eddystones].filter((tag) => tag !== null)
}

/** The same for advertisements in hex; text that is not hex is ignored. */
export function beaconsInHex(advertisements: readonly Given[]): TagDraft[] {
  return beaconsIn(advertisements.map(advertisementBytes).filter((bytes) => bytes !== null))
}

/** Parses `[length][type][data…]` and stops at a length that is zero or exceeds the data. */
function* structuresOf(bytes: Uint8Array): Generator<{ type: number; data: Uint8Array }> {
  for (let at = 0; at < bytes.length;) {
    const end = at + 1 + (bytes[at] ?? 0)
    if (end === at + 1 || end > bytes.length) return
    yield { type: bytes[at + 1] ?? 0, data: bytes.subarray(at + 2, end) }
    at = end
  }
}

function hasShape(data: Uint8Array, prefix: readonly number[], length: number): boolean {
  return data.length >= length && prefix.every((byte, at) => data[at] === byte)
}

export function hexOf(bytes: Uint8Array, from: number, to: number): string {
  return Buffer.from(bytes.subarray(from, to)).toString('hex').toUpperCase()
}

function numberAt(data: Uint8Array, at: number): number {
  return ((data[at] ?? 0) << 8) | (data[at + 1] ?? 0)
}
