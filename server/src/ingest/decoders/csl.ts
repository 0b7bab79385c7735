import { antennaPort, dbm, epochInstant, rfidTag, sequenceNumber, zonedInstant } from './normalise.ts'
import { addEach, asList, asObject, nothing, readOf, type Decoder, type JsonObject, type Outcome } from './read.ts'

/** Field names; the operator can change each of them on the reader. */
export interface CslLabels {
  tags: string
  epc: string
  antenna: string
  rssi: string
  /** Local time, in the zone of `zone`. */
  localTime: string
  /** Microseconds since 1970 in UTC, regardless of `zone`. */
  epochMicros: string
  zone: string
  sequence: string
}

export const factoryLabels: CslLabels = {
  tags: 'tags',
  epc: 'epc',
  antenna: 'antennaPort',
  rssi: 'rssi',
  localTime: 'timeOfRead',
  epochMicros: 'timeStampOfRead',
  zone: 'timeZone',
  sequence: 'sequenceNumber',
}

/** Members that only this reader sends; they identify a message without tags. */
const ENVELOPE = ['pcEthernetMACAddress', 'pcWiFiMACAddress', 'rfidReaderName', 'numberOfTags']

/** CSL CS463 and CS203X in both variants, which differ only in the format of the time. */
export function cslDecoder(labels: CslLabels): Decoder {
  function looksLikeTag(tag: JsonObject | null): boolean {
    if (tag === null || typeof tag[labels.epc] !== 'string') return false
    return tag[labels.localTime] !== undefined || tag[labels.epochMicros] !== undefined
  }

  function readTag(tag: JsonObject, messageZone: string | null): Outcome {
    return readOf([rfidTag(tag[labels.epc])], {
      antenna: antennaPort(tag[labels.antenna]),
      rssiDbm: dbm(tag[labels.rssi]),
      observedAt:
        epochInstant(tag[labels.epochMicros], 'us') ??
        zonedInstant(tag[labels.localTime], tag[labels.zone] ?? messageZone),
    })
  }

  return {
    name: 'csl',
    recognizes({ json }) {
      const message = asObject(json)
      const tags = message?.[labels.tags]
      if (message === null || !Array.isArray(tags)) return false
      if (tags.length === 0) return ENVELOPE.some((member) => message[member] !== undefined)
      return tags.some((tag) => looksLikeTag(asObject(tag)))
    },
    decode({ json }) {
      const decoded = nothing()
      const message = asObject(json)
      if (message === null) return decoded
      const zone = message[labels.zone]
      decoded.seq = sequenceNumber(message[labels.sequence])
      addEach(decoded, asList(message[labels.tags]), (tag) => readTag(tag, typeof zone === 'string' ? zone : null))
      return decoded
    },
  }
}

export const csl = cslDecoder(factoryLabels)
