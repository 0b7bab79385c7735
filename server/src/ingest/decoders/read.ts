import { type Instant } from '../../kernel/instant.ts'
import { type Json } from '../../kernel/json.ts'
import { type TagDraft, type TagType } from '../../tags/tag.ts'
import { type Given } from './normalise.ts'

export const vendorFormats = [
  'csl',
  'impinj',
  'zebra-fixed',
  'zebra-handheld',
  'gl-s10',
  'moko',
  'minew',
  'theengs',
  'generic',
] as const

export type Format = (typeof vendorFormats)[number]

export interface Read {
  tagType: TagType
  value: string
  antenna: number
  rssiDbm: number | null
  count: number
  observedAt: Instant | null
  /** Other identities of the same tag, best first. */
  alt: readonly TagDraft[]
}

export interface Message {
  bytes: Uint8Array
  /** The parsed payload, undefined when it is not JSON. */
  json: Json | undefined
  topic: string | null
}

export interface Decoded {
  reads: Read[]
  /** Records that could not be read. */
  skipped: number
  /** When the device sent the message, by its own clock; the time of an event is not that. */
  sentAt: Instant | null
  seq: number | null
  /** Plain-word warnings such as an overflow. */
  warnings: string[]
}

export interface Decoder {
  name: Format
  /** Does the payload look like this format? */
  recognizes(message: Message): boolean
  decode(message: Message): Decoded
}

export type JsonObject = { [key: string]: Json }

/** What one record is: a read, a fault to count, or something that is no read and no fault, such as a heartbeat. */
export type Outcome = Read | 'unreadable' | 'ignored'

/** What surplus reads of one message cost is a count and nothing more. */
export const MAX_READS = 5000

const RECOGNIZED_WITHIN = 100

/** A real tag has two or three identities; more is a forgery. */
const MAX_ALT = 8

export function nothing(): Decoded {
  return { reads: [], skipped: 0, sentAt: null, seq: null, warnings: [] }
}

export function asObject(value: Given): JsonObject | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null
}

export function asList(value: Given): readonly Json[] {
  return Array.isArray(value) ? value : []
}

/** The objects of a message that may be one object, a list of them or a stream. */
export function messagesIn(json: Given): readonly Json[] {
  if (json === undefined) return []
  return Array.isArray(json) ? json : [json]
}

/** Asks the first objects of a message only, so that a long list of nothing is dismissed at once. */
export function isAmongFirst(json: Given, looksRight: (message: JsonObject) => boolean): boolean {
  return messagesIn(json)
    .slice(0, RECOGNIZED_WITHIN)
    .map(asObject)
    .some((message) => message !== null && looksRight(message))
}

interface Sighting {
  /** Null refuses the read. */
  antenna?: number | null
  rssiDbm?: number | null
  count?: number
  observedAt?: Instant | null
}

const NO_ALT: readonly TagDraft[] = []

/** The first identity names the tag and the others stand by; without any there is no read. */
export function readOf(identities: readonly (TagDraft | null)[], seen: Sighting): Outcome {
  const tag = identities.find((identity) => identity !== null)
  const alt = identities.length === 1 ? NO_ALT : distinct(identities).slice(1)
  const { antenna = 1, rssiDbm = null, count = 1, observedAt = null } = seen
  if (tag === undefined || antenna === null) return 'unreadable'
  return { tagType: tag.type, value: tag.value, antenna, rssiDbm, count, observedAt, alt }
}

function distinct(identities: readonly (TagDraft | null)[]): TagDraft[] {
  const found = new Map<string, TagDraft>()
  for (const identity of identities) {
    if (identity !== null && found.size <= MAX_ALT) found.set(`${identity.type} ${identity.value}`, identity)
  }
  return [...found.values()]
}

export function add(decoded: Decoded, outcome: Outcome): void {
  if (outcome === 'ignored') return
  if (outcome === 'unreadable' || decoded.reads.length >= MAX_READS) decoded.skipped++
  else decoded.reads.push(outcome)
}

/** Reads each record on its own, so that a bad one costs only itself. */
export function addEach(decoded: Decoded, records: readonly Json[], outcomeOf: (record: JsonObject) => Outcome): void {
  for (const record of records) {
    const object = asObject(record)
    add(decoded, object === null ? 'unreadable' : outcomeOf(object))
  }
}
