import { antennaPort, centiDbm, rfidTag, rfidTagFromBase64, textInstant } from './normalise.ts'
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

export const OVERFLOW_WARNING = 'The reader lost events because its queue was full.'

/** Impinj R700 and related readers: one event (MQTT), a list that may be empty (webhook) or a stream of events (HTTP). */
export const impinj: Decoder = {
  name: 'impinj',
  recognizes({ json }) {
    return isAmongFirst(json, looksLikeEvent)
  },
  decode({ json }) {
    const decoded = nothing()
    const events = messagesIn(json)
    addEach(decoded, events, readEvent)
    if (events.some((event) => isOverflow(asObject(event)))) decoded.warnings.push(OVERFLOW_WARNING)
    return decoded
  },
}

/** Old firmware omits `eventType`, so the member `tagInventoryEvent` is checked first. */
function looksLikeEvent(event: JsonObject): boolean {
  if (event.tagInventoryEvent !== undefined) return true
  return typeof event.eventType === 'string' && typeof event.hostname === 'string'
}

function isOverflow(event: JsonObject | null): boolean {
  return event !== null && (event.overflowEvent !== undefined || event.eventType === 'overflow')
}

/** Every member is optional in the reader's configuration. All other kinds of events are status messages. */
function readEvent(event: JsonObject): Outcome {
  if (event.tagInventoryEvent === undefined) return 'ignored'
  const tag = asObject(event.tagInventoryEvent)
  if (tag === null) return 'unreadable'
  const epc = rfidTag(tag.epcHex) ?? rfidTagFromBase64(tag.epc)
  const tid = rfidTag(tag.tidHex) ?? rfidTagFromBase64(tag.tid)
  return readOf([epc, tid], {
    antenna: antennaPort(tag.antennaPort),
    rssiDbm: centiDbm(tag.peakRssiCdbm),
    // The event's timestamp is the time when it was queued, shortly after the sighting.
    observedAt: textInstant(tag.lastSeenTime) ?? textInstant(event.timestamp),
  })
}
