import { type Instant, instantFromMillis } from '../kernel/instant.ts'
import type { TagDraft } from '../tags/tag.ts'

/** A device that reports reads of tags. */
export interface Reader {
  id: number
  name: string
  /** The vendor's format, or `auto`. */
  format: string
  clock: string
  /** Null when smoothing is off; then every sighting counts. */
  smoothing: Smoothing | null
  topicKey: string
  createdAt: Instant
  lastSeenAt: Instant | null
  messages: number
  reads: number
  ignored: number
  warning: string | null
  scanPoints: ScanPoint[]
  /** Antennas that reported reads but have no scan point. */
  unknownAntennas: { antenna: number; reads: number }[]
}

/** A reader without a message for so long counts as silent. */
export const silentAfterMinutes = 15

export const silentSince = (nowMs: number): Instant => instantFromMillis(nowMs - silentAfterMinutes * 60_000)

/** A change of location requires `reads` sightings in a row within `seconds`, or a signal stronger by `marginDb`. */
export interface Smoothing {
  reads: number
  seconds: number
  marginDb: number | null
}

export const smoothingBounds = { reads: [2, 20], seconds: [1, 3600], marginDb: [1, 60] } as const

/** An antenna and the location that it covers, if any. */
export interface ScanPoint {
  antenna: number
  locationId: number | null
  locationKey: string | null
}

export interface ReaderDraft {
  name: string
  format: string
  clock: string
  smoothing?: Smoothing | null
  scanPoints: readonly { antenna: number; locationId: number | null }[]
  /** The topic under which the unknown reader already sends; without it, the reader gets a new topic. */
  topicKey?: string
}

/** A reader with its new token, which is not stored and cannot be shown again. */
export interface NewReader {
  reader: Reader
  token: string
  /** How long the reader's previous token still works; null when it has none. */
  previousTokenExpiresAt: Instant | null
}

/** The longest time for which a replaced token can stay valid. */
export const maxOverlapSeconds = 7 * 86_400

/** One read as it was received. */
export interface LatestRead {
  tag: TagDraft
  antenna: number
  rssiDbm: number | null
  /** The time of the reader's own clock, if it was sent. */
  observedAt: Instant | null
  receivedAt: Instant
}

/** The fields of a reader that processing a message requires. */
export interface Device {
  orgId: number
  readerId: number
  name: string
  topicKey: string
  format: string
  clock: string
}

/** The supported message formats. */
export const readerFormats = [
  'auto',
  'generic',
  'csl',
  'impinj',
  'zebra-fixed',
  'zebra-handheld',
  'gl-s10',
  'moko',
  'minew',
  'theengs',
] as const
