import type { Instant } from '../kernel/instant.ts'

/** An asset was seen, somewhere or nowhere in particular. */
export interface Sighting {
  assetId: number
  locationId: number | null
  observedAt: Instant
}

/** Where an asset was before the sightings at hand; null for one never seen. */
export interface Position {
  locationId: number | null
  minute: Instant
}

export const minuteOf = (instant: Instant): Instant => `${instant.slice(0, 16)}:00.000000Z` as Instant
