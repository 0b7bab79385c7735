import { type TagDraft, type TagType } from '../../tags/tag.ts'
import {
  antennaPort,
  anyInstant,
  barcodeTag,
  beaconTag,
  bleTag,
  dbm,
  readCount,
  rfidTag,
  sequenceNumber,
  type Given,
} from './normalise.ts'
import {
  add,
  addEach,
  asObject,
  isAmongFirst,
  messagesIn,
  nothing,
  readOf,
  type Decoder,
  type JsonObject,
  type Outcome,
} from './read.ts'

const MAC_WITH_COLONS = /^[0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){5}$/
const HEX_BYTES = /^(?:[0-9A-Fa-f]{2}){6,128}$/
const MAC_DIGITS = 12

/** An envelope without reads that has only these members is a heartbeat. */
const HEARTBEAT = new Set(['sent_at', 'seq'])

/** The documented format: `{reads, sent_at, seq}`, a bare list of reads, or a stream of either. */
export const generic: Decoder = {
  name: 'generic',
  recognizes({ json }) {
    return isAmongFirst(json, ({ reads, tag }) => Array.isArray(reads) || typeof tag === 'string')
  },
  decode({ json }) {
    const decoded = nothing()
    for (const value of messagesIn(json)) {
      const message = asObject(value)
      if (message === null) {
        add(decoded, 'unreadable')
        continue
      }
      // In a stream the last envelope was sent last.
      decoded.sentAt = anyInstant(message.sent_at) ?? decoded.sentAt
      decoded.seq = sequenceNumber(message.seq) ?? decoded.seq
      if (Array.isArray(message.reads)) addEach(decoded, message.reads, readRecord)
      else if (!Object.keys(message).every((member) => HEARTBEAT.has(member))) add(decoded, readRecord(message))
    }
    return decoded
  },
}

/** Unknown members are ignored on purpose, so that senders can add their own. */
function readRecord(record: JsonObject): Outcome {
  return readOf([tagOf(record.tag, record.tag_type)], {
    antenna: antennaPort(record.antenna),
    rssiDbm: dbm(record.rssi),
    count: readCount(record.count),
    observedAt: anyInstant(record.observed_at),
  })
}

function tagOf(tag: Given, type: Given): TagDraft | null {
  if (typeof tag !== 'string') return null
  switch (type ?? inferredType(tag)) {
    case 'rfid':
      return rfidTag(tag)
    case 'ble':
      return bleTag(tag) ?? beaconTag(tag)
    case 'barcode':
      return barcodeTag(tag)
    default:
      return null
  }
}

/** Twelve hex digits are a Bluetooth address, more hex digits in whole bytes an EPC, anything else a barcode. */
function inferredType(tag: string): TagType {
  if (MAC_WITH_COLONS.test(tag)) return 'ble'
  if (!HEX_BYTES.test(tag)) return 'barcode'
  return tag.length === MAC_DIGITS ? 'ble' : 'rfid'
}
