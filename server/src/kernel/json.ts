import { markInexactNumbers } from './exact-numbers.ts'

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

export type JsonType = 'boolean' | 'integer' | 'number' | 'string' | 'array' | 'object' | 'null'

/**
 * A number without a fraction is an integer, whatever its notation. Infinity represents an integer that a double cannot
 * represent exactly (`exactNumbers`). Throws for a value that is not JSON.
 */
export function jsonType(value: unknown): JsonType {
  switch (typeof value) {
    case 'string':
      return 'string'
    case 'boolean':
      return 'boolean'
    case 'number':
      return Number.isInteger(value) || value === Infinity ? 'integer' : 'number'
    case 'object':
      return value === null ? 'null' : Array.isArray(value) ? 'array' : 'object'
    default:
      throw new TypeError(`not a JSON value: ${typeof value}`)
  }
}

export type ParseOutcome = { ok: true; value: Json } | { ok: false; reason: 'syntax' | 'depth' | 'duplicate key' }

const SYNTAX: ParseOutcome = Object.freeze({ ok: false, reason: 'syntax' })
const DEPTH: ParseOutcome = Object.freeze({ ok: false, reason: 'depth' })
const DUPLICATE_KEY: ParseOutcome = Object.freeze({ ok: false, reason: 'duplicate key' })

// A byte order mark is kept as U+FEFF, which JSON.parse rejects.
const STRICT_UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Parses strict UTF-8 JSON. The nesting depth is checked before the parser runs, so that no input can exhaust the stack. The
 * parser keeps only the last of several members with the same key, so a value with fewer members than its text contains a
 * duplicate key. With `exactNumbers`, a number that a double cannot represent exactly is parsed as Infinity or -Infinity,
 * which no field accepts.
 */
export function parseJson(
  bytes: Uint8Array,
  maxDepth: number,
  { uniqueKeys = false, exactNumbers = false }: { uniqueKeys?: boolean; exactNumbers?: boolean } = {},
): ParseOutcome {
  try {
    const text = STRICT_UTF8.decode(bytes)
    const memberCount = countMembersInText(bytes, maxDepth)
    if (memberCount === null) return DEPTH
    const value = JSON.parse(text) as Json
    if (uniqueKeys && countMembers(value) !== memberCount) return DUPLICATE_KEY
    const marked = exactNumbers ? markInexactNumbers(text) : text
    return { ok: true, value: marked === text ? value : (JSON.parse(marked) as Json) }
  } catch {
    return SYNTAX
  }
}

/** Counts the members of all objects in a value, at all levels. */
export function countMembers(value: Json): number {
  if (typeof value !== 'object' || value === null) return 0
  let count = 0
  if (Array.isArray(value)) {
    for (const item of value) count += countMembers(item)
    return count
  }
  for (const key in value) count += 1 + countMembers(value[key]!)
  return count
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COLON = 0x3a

/**
 * Counts the colons outside strings, one per object member; null if the nesting is too deep. The bytes of a multi-byte UTF-8
 * sequence never equal one of the characters that are compared.
 */
function countMembersInText(bytes: Uint8Array, maxDepth: number): number | null {
  const length = bytes.length
  let depth = 0
  let members = 0
  for (let at = 0; at < length; at++) {
    const byte = bytes[at]
    if (byte === QUOTE) {
      for (at++; at < length; at++) {
        const inner = bytes[at]
        if (inner === QUOTE) break
        if (inner === BACKSLASH) at++
      }
    } else if (byte === 0x5b || byte === 0x7b) {
      if (++depth > maxDepth) return null
    } else if (byte === 0x5d || byte === 0x7d) {
      depth--
    } else if (byte === COLON) {
      members++
    }
  }
  return members
}

/** Finds the first C0 control, DEL or lone surrogate of a text; `lineBreaks` allows TAB, LF and CR. */
export function textProblem(text: string, allow?: { lineBreaks?: boolean }): 'control' | 'surrogate' | null {
  const length = text.length
  for (let at = 0; at < length; at++) {
    const unit = text.charCodeAt(at)
    if (unit < 0x20) {
      if (allow?.lineBreaks === true && (unit === 0x09 || unit === 0x0a || unit === 0x0d)) continue
      return 'control'
    }
    if (unit < 0x7f) continue
    if (unit === 0x7f) return 'control'
    if ((unit & 0xf800) === 0xd800) {
      if (!isPairAt(text, at)) return 'surrogate'
      at++
    }
  }
  return null
}

type MetadataProblem = { path: string; problem: 'control' | 'surrogate' | 'number' }

/** Finds the first problem. An invalid key is reported with the path of its object, so that every path is valid text. */
export function metadataProblem(value: Json, path: string): MetadataProblem | null {
  const found = problemWithin(value)
  if (found !== null) found.path = path + found.path
  return found
}

/** The path is built only when a problem is found, while the recursion returns. */
function problemWithin(value: Json): MetadataProblem | null {
  if (typeof value === 'string') {
    const problem = textProblem(value)
    return problem === null ? null : { path: '', problem }
  }
  if (typeof value === 'number') return Number.isFinite(value) ? null : { path: '', problem: 'number' }
  if (typeof value !== 'object' || value === null) return null
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) {
      const found = problemWithin(value[at] as Json)
      if (found !== null) {
        found.path = `[${at}]${found.path}`
        return found
      }
    }
    return null
  }
  for (const key of Object.keys(value)) {
    const problem = textProblem(key)
    if (problem !== null) return { path: '', problem }
    const found = problemWithin(value[key] as Json)
    if (found !== null) {
      found.path = `.${key}${found.path}`
      return found
    }
  }
  return null
}

/** Returns the path of the first number that a double cannot represent exactly, or null. */
export function inexactNumberPath(value: Json, path: string): string | null {
  if (typeof value === 'number') return Number.isFinite(value) ? null : path
  if (typeof value !== 'object' || value === null) return null
  for (const [key, child] of Object.entries(value)) {
    const inexactPath = inexactNumberPath(child, Array.isArray(value) ? `${path}[${key}]` : `${path}.${key}`)
    if (inexactPath !== null) return inexactPath
  }
  return null
}

/** Compares two JSON values; the order of object members does not matter. */
export function isSameJson(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const entries = Object.entries(a)
  return (
    entries.length === Object.keys(b).length &&
    entries.every(([key, value]) => Object.hasOwn(b, key) && isSameJson(value, (b as Record<string, unknown>)[key]))
  )
}

/** Counts a surrogate pair as one code point, and a lone surrogate, too. */
export function codePointLength(text: string): number {
  const length = text.length
  let count = length
  for (let at = 0; at < length; at++) {
    if (text.charCodeAt(at) >= 0xd800 && isPairAt(text, at)) {
      count--
      at++
    }
  }
  return count
}

function isPairAt(text: string, at: number): boolean {
  // Past the end, charCodeAt returns NaN, and NaN & mask is 0.
  return (text.charCodeAt(at) & 0xfc00) === 0xd800 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00
}

/** `JSON.stringify` prints at most 17 digits, so it rounds some of these integers. Every larger double is an integer. */
const isLargeInteger = (value: number): boolean => Math.abs(value) > Number.MAX_SAFE_INTEGER && Number.isFinite(value)

/** Most responses have no such integer, and `JSON.stringify` is slower with a replacer. */
function hasLargeInteger(value: unknown): boolean {
  if (typeof value === 'number') return isLargeInteger(value)
  if (typeof value !== 'object' || value === null) return false
  for (const key in value) if (hasLargeInteger((value as Record<string, unknown>)[key])) return true
  return false
}

/** No stored string contains NUL, so a string that begins with it is never a value. */
const markedInteger = /"\\u0000(-?\d+)"/g

const markInteger = (_key: string, value: unknown): unknown =>
  typeof value === 'number' && isLargeInteger(value) ? `\0${BigInt(value)}` : value

/**
 * Prints JSON with every digit of an integer. `JSON.stringify` prints at most 17 digits, so that 2^60 becomes
 * 1152921504606847000: the same double, but another number for every reader with longer integers (D47).
 */
export const toJsonText = (value: unknown): string =>
  hasLargeInteger(value) ? JSON.stringify(value, markInteger).replace(markedInteger, '$1') : JSON.stringify(value)
