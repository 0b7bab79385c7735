import type { Instant } from '../kernel/instant.ts'
import type { TagDraft } from '../tags/tag.ts'

/** A device that reports what it reads. */
export interface Reader {
  id: number
  name: string
  /** The vendor's format, or `auto`. */
  format: string
  clock: string
  /** Null when it is off: then every sighting counts as it is. */
  smoothing: Smoothing | null
  topicKey: string
  createdAt: Instant
  lastSeenAt: Instant | null
  messages: number
  reads: number
  ignored: number
  warning: string | null
  scanPoints: ScanPoint[]
  /** Antennas that reported reads although no scan point names them. */
  unknownAntennas: { antenna: number; reads: number }[]
}

/** How sure a change of place must be: so many sightings in a row within so many seconds, or so much stronger a signal. */
export interface Smoothing {
  reads: number
  seconds: number
  marginDb: number | null
}

export const smoothingBounds = { reads: [2, 20], seconds: [1, 3600], marginDb: [1, 60] } as const

/** One antenna and the place it looks at, or none. */
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
  /** The topic of messages that came before the reader was known; without one it gets a topic of its own. */
  topicKey?: string
}

/** A reader just made: the only moment its token is known. */
export interface NewReader {
  reader: Reader
  token: string
}

/** One read as it came in. */
export interface LatestRead {
  tag: TagDraft
  antenna: number
  rssiDbm: number | null
  /** By the reader's own clock, where it said. */
  observedAt: Instant | null
  receivedAt: Instant
}

/** What an incoming message needs to know about its reader. */
export interface Device {
  orgId: number
  readerId: number
  topicKey: string
  format: string
  clock: string
}

/** The formats readers are known to send. */
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
