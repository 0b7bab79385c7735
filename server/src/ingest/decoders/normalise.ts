import { instantFromMillis, parseRfc3339, type Instant } from '../../kernel/instant.ts'
import { codePointLength, textProblem, type Json } from '../../kernel/json.ts'
import { type TagDraft } from '../../tags/tag.ts'

/** A member of a message: any JSON value, or undefined. */
export type Given = Json | undefined

/** The longest advertisement that Bluetooth allows has 1,650 bytes. */
const ADVERTISEMENT = /^(?:[0-9A-Fa-f]{2}){1,1650}$/
const EPC = /^(?:[0-9A-Fa-f]{2}){1,62}$/
const BASE64 = /^[A-Za-z0-9+/_-]{2,83}={0,2}$/
const MAC = /^[0-9A-Fa-f]{2}(?:[:-]?[0-9A-Fa-f]{2}){5}$/
const UUID = /^[0-9A-Fa-f]{32}$/
const IBEACON_NAME = /^([0-9A-Fa-f-]{32,36}):(\d{1,5}):(\d{1,5})$/
const EDDYSTONE_NAME = /^[0-9A-Fa-f]{20}:[0-9A-Fa-f]{12}$/
const DECIMAL = /^[+-]?\d{1,17}(?:\.\d{1,17})?$/
const OFFSET_WITHOUT_COLON = /([+-]\d\d)(\d\d)$/
const LOCAL_TIME = /^(\d{4})[/-](\d{1,2})[/-](\d{1,2})[ &](\d{1,2}):(\d{1,2}):(\d{1,2})(\.\d{1,9})?$/
const ZONE = /^([+-]?)(\d{1,2})(?::?(\d\d))?$/

const MAX_PORT = 65_535
const MAX_COUNT = 2_147_483_647
const MAX_BARCODE_LENGTH = 255
const WEAKEST_DBM = -200
const STRONGEST_DBM = 30

const FIRST_MICROS = Date.UTC(2000, 0, 1) * 1000
const END_MICROS = Date.UTC(2101, 0, 1) * 1000
const MICROS = { s: 1_000_000, ms: 1000, us: 1 } as const

export type EpochUnit = keyof typeof MICROS

/** An EPC or TID in hex of either case: 8 to 496 bits in whole bytes, leading zeros kept. */
export function rfidTag(value: Given): TagDraft | null {
  if (typeof value !== 'string') return null
  const hex = value.replaceAll(' ', '')
  return EPC.test(hex) ? { type: 'rfid', value: hex.toUpperCase() } : null
}

/** An EPC or TID in base64 of either alphabet, padded or not. */
export function rfidTagFromBase64(value: Given): TagDraft | null {
  if (typeof value !== 'string' || !BASE64.test(value)) return null
  // A single digit after the last group of four does not encode a whole byte.
  if (value.replaceAll('=', '').length % 4 === 1) return null
  return rfidTag(Buffer.from(value, 'base64').toString('hex'))
}

/** A Bluetooth address with or without separators. */
export function bleTag(value: Given): TagDraft | null {
  if (typeof value !== 'string' || !MAC.test(value)) return null
  return { type: 'ble', value: value.replaceAll(/[:-]/g, '').toUpperCase() }
}

/** The identity `UUID:major:minor`, with decimal numbers. */
export function ibeaconTag(uuid: Given, major: Given, minor: Given): TagDraft | null {
  if (typeof uuid !== 'string') return null
  const hex = uuid.replaceAll('-', '')
  const [high, low] = [integer(major, 0, 0xffff), integer(minor, 0, 0xffff)]
  if (!UUID.test(hex) || high === null || low === null) return null
  return { type: 'ble', value: `${hex.toUpperCase()}:${high}:${low}` }
}

/** A beacon identity, `UUID:major:minor` or `namespace:instance`. */
export function beaconTag(value: Given): TagDraft | null {
  if (typeof value !== 'string') return null
  const ibeacon = IBEACON_NAME.exec(value)
  if (ibeacon !== null) return ibeaconTag(ibeacon[1], ibeacon[2], ibeacon[3])
  return EDDYSTONE_NAME.test(value) ? { type: 'ble', value: value.toUpperCase() } : null
}

/** A barcode exactly as it was printed. */
export function barcodeTag(value: Given): TagDraft | null {
  if (typeof value !== 'string' || value === '' || textProblem(value) !== null) return null
  return codePointLength(value) <= MAX_BARCODE_LENGTH ? { type: 'barcode', value } : null
}

export function advertisementBytes(value: Given): Uint8Array | null {
  return typeof value === 'string' && ADVERTISEMENT.test(value) ? Buffer.from(value, 'hex') : null
}

/** A finite number; many readers send numbers as strings. */
function numberOf(value: Given): number | null {
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  if (typeof value !== 'string') return null
  const text = value.trim()
  return DECIMAL.test(text) ? Number(text) : null
}

function integer(value: Given, min: number, max: number): number | null {
  const number = numberOf(value)
  return number !== null && Number.isInteger(number) && number >= min && number <= max ? number : null
}

/** Readers report an unknown signal strength as 0, Bluetooth as 127. */
export function dbm(value: Given): number | null {
  const strength = numberOf(value)
  return strength !== null && strength !== 0 && strength >= WEAKEST_DBM && strength <= STRONGEST_DBM ? strength : null
}

export function centiDbm(value: Given): number | null {
  const strength = numberOf(value)
  return strength === null ? null : dbm(strength / 100)
}

/** Without a port the read counts for port 1. An invalid port is null, because a guess could yield a wrong location. */
export function antennaPort(value: Given): number | null {
  if (value === undefined || value === null || value === '') return 1
  const port = integer(value, 0, MAX_PORT)
  return port === 0 ? 1 : port
}

/** An invalid or missing count means one read. */
export function readCount(value: Given): number {
  return integer(value, 1, MAX_COUNT) ?? 1
}

export function sequenceNumber(value: Given): number | null {
  return integer(value, 0, Number.MAX_SAFE_INTEGER)
}

/** Null outside the years 2000 to 2100, because a reader without a valid clock counts from 1970 or from its start. */
export function epochInstant(value: Given, unit: EpochUnit): Instant | null {
  const number = numberOf(value)
  if (number === null) return null
  // Only the conversion from seconds can introduce a floating-point error, so only it is rounded.
  const micros = unit === 's' ? Math.round(number * MICROS.s) : Math.floor(number * MICROS[unit])
  if (micros < FIRST_MICROS || micros >= END_MICROS) return null
  const millis = Math.floor(micros / 1000)
  const microDigits = String(micros - millis * 1000).padStart(3, '0')
  return `${instantFromMillis(millis).slice(0, 23)}${microDigits}Z` as Instant
}

/** RFC 3339, also with an offset without a colon. */
export function textInstant(value: Given): Instant | null {
  if (typeof value !== 'string') return null
  const parsed = parseRfc3339(value.replace(OFFSET_WITHOUT_COLON, '$1:$2'))
  return parsed === null ? null : plausible(parsed.instant)
}

/** Text or a number in any unit: for the years 2000 to 2100, the ranges of the three units do not overlap. */
export function anyInstant(value: Given): Instant | null {
  return textInstant(value) ?? epochInstant(value, 's') ?? epochInstant(value, 'ms') ?? epochInstant(value, 'us')
}

/** A local time such as `2026/09/01 08:00:00.120` in a zone such as `+8:00`; null without a zone. */
export function zonedInstant(local: Given, zone: Given): Instant | null {
  if (typeof local !== 'string' || typeof zone !== 'string') return null
  const [time, offset] = [LOCAL_TIME.exec(local), ZONE.exec(zone)]
  if (time === null || offset === null) return null
  const [year, month, day, hour, minute, second] = time.slice(1, 7).map((digits) => digits.padStart(2, '0'))
  const [sign, hours, minutes] = [offset[1] === '-' ? '-' : '+', (offset[2] ?? '').padStart(2, '0'), offset[3] ?? '00']
  return textInstant(`${year}-${month}-${day}T${hour}:${minute}:${second}${time[7] ?? ''}${sign}${hours}:${minutes}`)
}

function plausible(instant: Instant): Instant | null {
  const year = instant.slice(0, 4)
  return year >= '2000' && year <= '2100' ? instant : null
}
