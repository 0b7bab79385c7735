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
  /** When the device sent the message, by its own clock; not the time of an event. */
  sentAt: Instant | null
  seq: number | null
  /** Readable warnings, for example about an overflow. */
  warnings: string[]
}

export interface Decoder {
  name: Format
  /** Whether the payload looks like this format. */
  recognizes(message: Message): boolean
  decode(message: Message): Decoded
}

export type JsonObject = { [key: string]: Json }

/** The result of one record: a read, an unreadable record that is counted, or an ignored one such as a heartbeat. */
export type Outcome = Read | 'unreadable' | 'ignored'

/** The maximum number of reads per message; further reads are only counted. */
export const MAX_READS = 5000

const MAX_INSPECTED = 100

/** Real tags have two or three identities; the limit protects against forged messages. */
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

/** Inspects only the first objects of a message, which bounds the cost of long lists in another format. */
export function isAmongFirst(json: Given, looksRight: (message: JsonObject) => boolean): boolean {
  return messagesIn(json)
    .slice(0, MAX_INSPECTED)
    .map(asObject)
    .some((message) => message !== null && looksRight(message))
}

interface Sighting {
  /** Null makes the read unreadable. */
  antenna?: number | null
  rssiDbm?: number | null
  count?: number
  observedAt?: Instant | null
}

const NO_ALT: readonly TagDraft[] = []

/** The first identity becomes the tag, the others its alternatives. Without an identity the record is unreadable. */
export function readOf(identities: readonly (TagDraft | null)[], seen: Sighting): Outcome {
  const tag = identities.find((identity) => identity !== null)
  const alt = identities.length === 1 ? NO_ALT : distinct(identities).slice(1)
  const { antenna = 1, rssiDbm = null, count = 1, observedAt = null } = seen
  if (tag === undefined || antenna === null) return 'unreadable'
  return { tagType: tag.type, value: tag.value, antenna, rssiDbm, count, observedAt, alt }
}

function distinct(identities: readonly (TagDraft | null)[]): TagDraft[] {
  const tags = new Map<string, TagDraft>()
  for (const identity of identities) {
    if (identity !== null && tags.size <= MAX_ALT) tags.set(`${identity.type} ${identity.value}`, identity)
  }
  return [...tags.values()]
}

export function add(decoded: Decoded, outcome: Outcome): void {
  if (outcome === 'ignored') return
  if (outcome === 'unreadable' || decoded.reads.length >= MAX_READS) decoded.skipped++
  else decoded.reads.push(outcome)
}

/** Reads each record separately, so that an unreadable record does not affect the others. */
export function addEach(decoded: Decoded, records: readonly Json[], outcomeOf: (record: JsonObject) => Outcome): void {
  for (const record of records) {
    const object = asObject(record)
    add(decoded, object === null ? 'unreadable' : outcomeOf(object))
  }
}
