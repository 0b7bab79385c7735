import type { Instant } from '../kernel/instant.ts'

/** An asset was seen; `locationId` is null when the reader's antenna has no location. */
export interface Sighting {
  assetId: number
  locationId: number | null
  observedAt: Instant
}

/** The location of an asset and the minute of its latest sighting. */
export interface Position {
  locationId: number | null
  minute: Instant
}

export const minuteOf = (instant: Instant): Instant => `${instant.slice(0, 16)}:00.000000Z` as Instant
