import { antennaPort, anyInstant, dbm, readCount, rfidTag, textInstant, type Given } from './normalise.ts'
import {
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

/**
 * Zebra IoT Connector on fixed readers: one event, a list (HTTP) or events without a separator (WebSocket, TCP).
 * The older HTTP format, an object with the reader's name and `tag_reads`, is supported too.
 */
export const zebraFixed: Decoder = {
  name: 'zebra-fixed',
  recognizes({ json }) {
    return isAmongFirst(json, ({ data, tag_reads }) => asObject(data)?.idHex !== undefined || Array.isArray(tag_reads))
  },
  decode({ json }) {
    const decoded = nothing()
    for (const message of messagesIn(json)) {
      const legacy = asObject(message)?.tag_reads
      if (Array.isArray(legacy)) addEach(decoded, legacy, readLegacy)
      else addEach(decoded, [message], readEvent)
    }
    return decoded
  },
}

/** Heartbeats, port events and the direction reports of overhead readers are not reads. */
function readEvent(event: JsonObject): Outcome {
  const data = asObject(event.data)
  if (data === null || data.idHex === undefined || isDirection(event)) return 'ignored'
  return readOf([rfidTag(data.idHex), rfidTag(data.TID)], {
    antenna: antennaPort(data.antenna),
    rssiDbm: dbm(data.peakRssi),
    count: readCount(data.reads),
    observedAt: textInstant(event.timestamp),
  })
}

function isDirection(event: JsonObject): boolean {
  return typeof event.type === 'string' && /^direction/i.test(event.type)
}

/** Numbers are sent as strings, and the unit of the time depends on the reader's settings. */
function readLegacy(record: JsonObject): Outcome {
  if (isTrue(record.isHeartBeat)) return 'ignored'
  return readOf([rfidTag(record.epc)], {
    antenna: antennaPort(record.antennaPort),
    rssiDbm: dbm(record.peakRssi),
    count: readCount(record.seenCount),
    observedAt: anyInstant(record.firstSeenTimestamp) ?? anyInstant(record.timeStamp),
  })
}

function isTrue(value: Given): boolean {
  return value === true || value === 1 || (typeof value === 'string' && /^(?:true|1)$/i.test(value))
}
