import { parseJson, type Json } from '../../kernel/json.ts'
import { csl } from './csl.ts'
import { generic } from './generic.ts'
import { glS10 } from './gl-s10.ts'
import { impinj } from './impinj.ts'
import { minew } from './minew.ts'
import { moko } from './moko.ts'
import { MAX_READS, nothing, vendorFormats, type Decoded, type Decoder, type Format, type Message } from './read.ts'
import { theengs } from './theengs.ts'
import { zebraFixed } from './zebra-fixed.ts'
import { zebraHandheld } from './zebra-handheld.ts'

export { type Decoded, type Format } from './read.ts'

export const formats = ['auto', ...vendorFormats] as const

/** The order in which `auto` tries the formats; the generic format is the least specific and comes last. */
export const decoders: readonly Decoder[] = [
  csl,
  impinj,
  zebraFixed,
  zebraHandheld,
  glS10,
  moko,
  minew,
  theengs,
  generic,
]

/** Formats that may be a sequence of objects, on separate lines or without a separator. */
const streamed: ReadonlySet<Format> = new Set<Format>(['impinj', 'zebra-fixed', 'generic'])

const MAX_DEPTH = 64
const LINE_FEED = 0x0a
const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPENING_BRACE = 0x7b

/** The reads of one payload, or null when it does not have this format. Never throws, whatever the input. */
export function decode(format: Format | 'auto', bytes: Uint8Array, topic: string | null): Decoded | null {
  if (isBlankText(bytes)) return nothing()
  const parsed = parseJson(bytes, MAX_DEPTH)
  if (parsed.ok && isEmpty(parsed.value)) return nothing()
  const message: Message = { bytes, json: parsed.ok ? parsed.value : undefined, topic }
  const decoder = decoders.find((candidate) => fits(candidate, format, message))
  if (decoder !== undefined) return decoder.decode(message)
  return parsed.ok ? null : decodeStream(format, bytes, topic)
}

/** Whether the payload is neither JSON nor a sequence of JSON objects. */
export const isMalformed = (bytes: Uint8Array): boolean =>
  !parseJson(bytes, MAX_DEPTH).ok && parseStream(bytes) === null

/**
 * With an explicit format, any object or list is accepted, because heartbeats and status messages vary. A message that
 * another decoder recognizes is rejected, so that a wrong setting becomes visible.
 */
function fits(decoder: Decoder, format: Format | 'auto', message: Message): boolean {
  if (format === 'auto') return decoder.recognizes(message)
  if (decoder.name !== format) return false
  if (decoder.recognizes(message)) return true
  if (typeof message.json !== 'object' || message.json === null) return false
  return !decoders.some((other) => other.recognizes(message))
}

function decodeStream(format: Format | 'auto', bytes: Uint8Array, topic: string | null): Decoded | null {
  if (format !== 'auto' && !streamed.has(format)) return null
  const stream = parseStream(bytes)
  if (stream === null) return null
  const message: Message = { bytes, json: stream.values, topic }
  const decoder = decoders.find((candidate) => streamed.has(candidate.name) && fits(candidate, format, message))
  if (decoder === undefined) return null
  const decoded = decoder.decode(message)
  decoded.skipped += stream.broken
  return decoded
}

/** Null unless the payload starts with a complete object. Later objects that are broken or beyond the limit are counted. */
function parseStream(bytes: Uint8Array): { values: Json[]; broken: number } | null {
  const values: Json[] = []
  let broken = 0
  const isComplete = forEachObject(bytes, (start, end) => {
    // A message of 1 MiB may have 500,000 objects; those beyond the limit are only counted.
    const isRead = end !== -1 && values.length < MAX_READS
    const parsed = isRead ? parseJson(bytes.subarray(start, end), MAX_DEPTH) : null
    if (parsed?.ok === true) values.push(parsed.value)
    else broken++
    return values.length > 0
  })
  return isComplete ? { values, broken } : null
}

/**
 * Calls `visit` with the start and the end of each object of a stream, in order, and with the end -1 for the rest of a line
 * that contains no complete object. Stops and returns false when `visit` returns false.
 */
function forEachObject(bytes: Uint8Array, visit: (start: number, end: number) => boolean): boolean {
  for (let lineStart = 0; lineStart < bytes.length;) {
    const lineFeed = bytes.indexOf(LINE_FEED, lineStart)
    const lineEnd = lineFeed === -1 ? bytes.length : lineFeed
    let at = lineStart
    for (;;) {
      while (at < lineEnd && isBlank(bytes[at] ?? 0)) at++
      if (at === lineEnd) break
      const end = bytes[at] === OPENING_BRACE ? endOfObject(bytes, at, lineEnd) : -1
      if (!visit(at, end)) return false
      if (end === -1) break
      at = end
    }
    lineStart = lineEnd + 1
  }
  return true
}

/** The index after the bracket that closes the one at `start`, or -1. Brackets in strings are ignored. */
function endOfObject(bytes: Uint8Array, start: number, limit: number): number {
  let depth = 0
  for (let at = start; at < limit; at++) {
    const byte = bytes[at]
    if (byte === QUOTE) {
      for (at++; at < limit && bytes[at] !== QUOTE; at++) if (bytes[at] === BACKSLASH) at++
    } else if (byte === 0x5b || byte === OPENING_BRACE) {
      depth++
    } else if (byte === 0x5d || byte === 0x7d) {
      if (--depth === 0) return at + 1
    }
  }
  return -1
}

function isEmpty(json: Json): boolean {
  if (Array.isArray(json)) return json.length === 0
  return typeof json === 'object' && json !== null && Object.keys(json).length === 0
}

/** A loop takes a tenth of the time of `every`. */
function isBlankText(bytes: Uint8Array): boolean {
  for (let at = 0; at < bytes.length; at++) if (!isBlank(bytes[at] ?? 0)) return false
  return true
}

function isBlank(byte: number): boolean {
  return byte === 0x20 || byte === 0x09 || byte === LINE_FEED || byte === 0x0d
}
