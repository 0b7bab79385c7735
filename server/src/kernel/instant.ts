declare const brand: unique symbol

/** Canonical UTC text `YYYY-MM-DDTHH:MM:SS.ffffffZ` in the years 0000 to 9999, so that `<` compares instants by time. */
export type Instant = string & { readonly [brand]: true }

/** `exact` is true if only zeros were truncated after the microseconds. */
export type ParsedInstant = { instant: Instant; exact: boolean }

const ZERO = 48
const DASH = 45
const COLON = 58
const PLUS = 43
const DOT = 46
const SPACE = 32
const UPPER_T = 84
const LOWER_T = 116
const UPPER_Z = 90
const LOWER_Z = 122

const MINUTES_PER_DAY = 1440
const SHORTEST = 'YYYY-MM-DDTHH:MM:SSZ'.length
const FRACTION_START = 20
const MILLISECOND_END = 23
const CANONICAL_LENGTH = 27

/**
 * Parses a strict RFC 3339 date-time. Digits after the microseconds are truncated, not rounded. A leap second, which is
 * 23:59:60 UTC on any day, is parsed as the following second plus its fraction.
 */
export function parseRfc3339(text: string, options?: { maxFractionDigits?: number }): ParsedInstant | null {
  const length = text.length
  if (length < SHORTEST) return null

  const separator = text.charCodeAt(10)
  if (separator !== UPPER_T && separator !== LOWER_T) return null
  if (text.charCodeAt(4) !== DASH || text.charCodeAt(7) !== DASH) return null
  if (text.charCodeAt(13) !== COLON || text.charCodeAt(16) !== COLON) return null

  const century = twoDigits(text, 0)
  const yearOfCentury = twoDigits(text, 2)
  if (century < 0 || yearOfCentury < 0) return null
  const year = century * 100 + yearOfCentury
  const month = twoDigits(text, 5)
  if (month < 1 || month > 12) return null
  const day = twoDigits(text, 8)
  if (day < 1 || day > daysInMonth(year, month)) return null
  const hour = twoDigits(text, 11)
  if (hour < 0 || hour > 23) return null
  const minute = twoDigits(text, 14)
  if (minute < 0 || minute > 59) return null
  const second = twoDigits(text, 17)
  if (second < 0 || second > 60) return null
  const isLeapSecond = second === 60

  let at = FRACTION_START - 1
  let fractionDigits = 0
  let exact = true
  if (text.charCodeAt(at) === DOT) {
    at++
    for (;;) {
      const digit = text.charCodeAt(at) - ZERO
      if (!(digit >= 0 && digit <= 9)) break
      if (digit !== 0 && at >= FRACTION_START + 6) exact = false
      at++
    }
    fractionDigits = at - FRACTION_START
    if (fractionDigits === 0) return null
    const max = options?.maxFractionDigits
    if (max !== undefined && fractionDigits > max) return null
  }

  let offset = 0
  const zone = text.charCodeAt(at)
  if (zone === UPPER_Z || zone === LOWER_Z) {
    if (length !== at + 1) return null
    // Canonical text is returned unchanged.
    if (length === CANONICAL_LENGTH && separator === UPPER_T && zone === UPPER_Z && !isLeapSecond) {
      return { instant: text as Instant, exact }
    }
  } else {
    if (zone !== PLUS && zone !== DASH) return null
    if (length !== at + 6 || text.charCodeAt(at + 3) !== COLON) return null
    const offsetHour = twoDigits(text, at + 1)
    const offsetMinute = twoDigits(text, at + 4)
    if (offsetHour < 0 || offsetHour > 23 || offsetMinute < 0 || offsetMinute > 59) return null
    offset = offsetHour * 60 + offsetMinute
    if (zone === DASH) offset = -offset
  }

  const seconds = isLeapSecond ? ':00' : text.slice(16, 19)
  const fraction =
    fractionDigits >= 6
      ? text.slice(FRACTION_START, FRACTION_START + 6)
      : text.slice(FRACTION_START, FRACTION_START + fractionDigits) + '000000'.slice(fractionDigits)
  if (offset === 0 && !isLeapSecond) {
    return { instant: `${text.slice(0, 10)}T${text.slice(11, 16)}${seconds}.${fraction}Z` as Instant, exact }
  }

  // An offset is less than 24 hours, so the UTC date differs by at most one day.
  let minutes = hour * 60 + minute - offset + (isLeapSecond ? 1 : 0)
  let date: string | null = text.slice(0, 10)
  if (minutes < 0) {
    minutes += MINUTES_PER_DAY
    date = dayBefore(year, month, day)
  } else if (minutes >= MINUTES_PER_DAY) {
    minutes -= MINUTES_PER_DAY
    date = dayAfter(year, month, day)
  }
  if (date === null || (isLeapSecond && minutes !== 0)) return null
  const clock = `${pad2(Math.floor(minutes / 60))}:${pad2(minutes % 60)}`
  return { instant: `${date}T${clock}${seconds}.${fraction}Z` as Instant, exact }
}

/** True only for the two zero dates that clients commonly send for "never". */
export function isSentinel(parsed: ParsedInstant): boolean {
  return (
    parsed.exact &&
    (parsed.instant === '0001-01-01T00:00:00.000000Z' || parsed.instant === '1970-01-01T00:00:00.000000Z')
  )
}

/** The format in responses: exactly three fraction digits, truncated and not rounded. */
export function formatMillis(instant: Instant): string {
  return instant.slice(0, MILLISECOND_END) + 'Z'
}

/** The first microsecond of the instant's millisecond: the time that `formatMillis` denotes. */
export function startOfMillisecond(instant: Instant): Instant {
  return (instant.slice(0, MILLISECOND_END) + '000Z') as Instant
}

/** The last microsecond of the instant's millisecond. */
export function endOfMillisecond(instant: Instant): Instant {
  return (instant.slice(0, MILLISECOND_END) + '999Z') as Instant
}

/** Throws a RangeError outside the years 0000 to 9999. A fraction of a millisecond is rounded down. */
export function instantFromMillis(epochMs: number): Instant {
  const text = new Date(Math.floor(epochMs)).toISOString()
  // Date writes years outside 0000 to 9999 with a sign and six digits.
  if (text.length !== MILLISECOND_END + 1) throw new RangeError(`no instant in the years 0000 to 9999: ${epochMs}`)
  return (text.slice(0, MILLISECOND_END) + '000Z') as Instant
}

/** Milliseconds since 1970, rounded down, also for times before 1970. */
export function millisOf(instant: Instant): number {
  return Date.parse(formatMillis(instant))
}

/** The format in which PostgreSQL prints a timestamptz in UTC. PostgreSQL has no year 0000 and calls it 1 BC. */
export function toDatabase(instant: Instant): string {
  const clock = `${instant.slice(11, CANONICAL_LENGTH - 1)}+00`
  if (instant.startsWith('0000')) return `0001${instant.slice(4, 10)} ${clock} BC`
  return `${instant.slice(0, 10)} ${clock}`
}

/** Parses a timestamptz of the years 0000 to 9999 in ISO style and UTC; throws a RangeError for any other text. */
export function fromDatabase(text: string): Instant {
  const beforeChrist = text.endsWith(' BC')
  const zoneAt = text.length - (beforeChrist ? 6 : 3)
  const fractionDigits = zoneAt === FRACTION_START - 1 ? 0 : zoneAt - FRACTION_START
  if (
    zoneAt < FRACTION_START - 1 ||
    zoneAt === FRACTION_START ||
    fractionDigits > 6 ||
    (fractionDigits > 0 && text.charCodeAt(FRACTION_START - 1) !== DOT) ||
    !text.startsWith('+00', zoneAt) ||
    text.charCodeAt(4) !== DASH ||
    text.charCodeAt(10) !== SPACE ||
    (beforeChrist && !text.startsWith('0001'))
  ) {
    throw new RangeError(`not a UTC timestamptz of the years 0000 to 9999: ${text}`)
  }
  const date = beforeChrist ? `0000${text.slice(4, 10)}` : text.slice(0, 10)
  if (fractionDigits === 6) return `${date}T${text.slice(11, zoneAt)}Z` as Instant
  if (fractionDigits === 0) return `${date}T${text.slice(11, zoneAt)}.000000Z` as Instant
  return `${date}T${text.slice(11, zoneAt)}${'000000'.slice(fractionDigits)}Z` as Instant
}

/** Compares from the end and without allocation, because unequal instants mostly differ in their last digits. */
export function sameMillisecond(a: Instant, b: Instant): boolean {
  for (let at = MILLISECOND_END - 1; at >= 0; at--) {
    if (a.charCodeAt(at) !== b.charCodeAt(at)) return false
  }
  return true
}

/** The value of two ASCII digits, or -1. */
function twoDigits(text: string, at: number): number {
  const tens = text.charCodeAt(at) - ZERO
  const ones = text.charCodeAt(at + 1) - ZERO
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : -1
}

function pad2(value: number): string {
  return value < 10 ? `0${value}` : `${value}`
}

/** The proleptic Gregorian calendar, in which year 0000 is a leap year. */
function daysInMonth(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}

function dateText(year: number, month: number, day: number): string {
  return `${String(year).padStart(4, '0')}-${pad2(month)}-${pad2(day)}`
}

/** Null before the first day of year 0000. */
function dayBefore(year: number, month: number, day: number): string | null {
  if (day > 1) return dateText(year, month, day - 1)
  if (month > 1) return dateText(year, month - 1, daysInMonth(year, month - 1))
  return year > 0 ? dateText(year - 1, 12, 31) : null
}

/** Null after the last day of year 9999. */
function dayAfter(year: number, month: number, day: number): string | null {
  if (day < daysInMonth(year, month)) return dateText(year, month, day + 1)
  if (month < 12) return dateText(year, month + 1, 1)
  return year < 9999 ? dateText(year + 1, 1, 1) : null
}

/** Exact if the two instants are within 285 years of each other. */
export function microsecondsBetween(earlier: Instant, later: Instant): number {
  const micros = (instant: Instant): number => Number(instant.slice(23, 26))
  return (millisOf(later) - millisOf(earlier)) * 1000 + micros(later) - micros(earlier)
}
