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

export { type Decoded, type Format, type Read } from './read.ts'

export const formats = ['auto', ...vendorFormats] as const

/** The order in which `auto` asks; our own format is the least particular and comes last. */
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

/** Formats whose senders write one object after another, on lines of their own or without any separator. */
const streamed: ReadonlySet<Format> = new Set<Format>(['impinj', 'zebra-fixed', 'generic'])

const MAX_DEPTH = 64
const LINE_FEED = 0x0a
const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPENING_BRACE = 0x7b

/** The reads of one payload, or null when it is not of this format; no input whatsoever makes it throw. */
export function decode(format: Format | 'auto', bytes: Uint8Array, topic: string | null): Decoded | null {
  if (bytes.every(isBlank)) return nothing()
  const parsed = parseJson(bytes, MAX_DEPTH)
  if (parsed.ok && isEmpty(parsed.value)) return nothing()
  const message: Message = { bytes, json: parsed.ok ? parsed.value : undefined, topic }
  const decoder = decoders.find((candidate) => fits(candidate, format, message))
  if (decoder !== undefined) return decoder.decode(message)
  return parsed.ok ? null : decodeStream(format, bytes, topic)
}

/**
 * A chosen format is given every object and list, because its heartbeats and status messages have any shape; what is
 * plainly of another format is not decodable, so that a wrong choice shows.
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

/** Null unless the payload begins with a whole object; what is broken behind it or beyond the limit is counted. */
function parseStream(bytes: Uint8Array): { values: Json[]; broken: number } | null {
  const values: Json[] = []
  let broken = 0
  for (const piece of objectsIn(bytes)) {
    const parsed = piece !== null && values.length < MAX_READS ? parseJson(piece, MAX_DEPTH) : null
    if (parsed?.ok === true) values.push(parsed.value)
    else if (values.length === 0) return null
    else broken++
  }
  return { values, broken }
}

/** The objects of a stream in order, and a null for what is left of a line when the next object has no end in it. */
function* objectsIn(bytes: Uint8Array): Generator<Uint8Array | null> {
  for (let lineStart = 0; lineStart < bytes.length;) {
    const lineFeed = bytes.indexOf(LINE_FEED, lineStart)
    const lineEnd = lineFeed === -1 ? bytes.length : lineFeed
    let at = lineStart
    for (;;) {
      while (at < lineEnd && isBlank(bytes[at] ?? 0)) at++
      if (at === lineEnd) break
      const end = bytes[at] === OPENING_BRACE ? endOfObject(bytes, at, lineEnd) : -1
      if (end === -1) {
        yield null
        break
      }
      yield bytes.subarray(at, end)
      at = end
    }
    lineStart = lineEnd + 1
  }
}

/** Behind the bracket that closes the one at `start`, or -1; brackets in strings do not count. */
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

function isBlank(byte: number): boolean {
  return byte === 0x20 || byte === 0x09 || byte === LINE_FEED || byte === 0x0d
}
