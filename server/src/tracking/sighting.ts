import type { Instant } from '../kernel/instant.ts'

/** An asset was seen, somewhere or nowhere in particular. */
export interface Sighting {
  assetId: number
  locationId: number | null
  observedAt: Instant
}

/** Where an asset was before the sightings at hand; null for one never seen. */
export interface Whereabouts {
  locationId: number | null
  minute: Instant
}

export interface Move {
  assetId: number
  fromId: number | null
  toId: number
  occurredAt: Instant
}

export const minuteOf = (instant: Instant): Instant => `${instant.slice(0, 16)}:00.000000Z` as Instant

const byAssetAndTime = (a: Sighting, b: Sighting): number =>
  a.assetId - b.assetId || (a.observedAt < b.observedAt ? -1 : a.observedAt > b.observedAt ? 1 : 0)

/** One sighting per asset and minute, the earliest; of two at the same instant the one that came first. Sorted. */
export function firstPerMinute(sightings: readonly Sighting[]): Sighting[] {
  const first: Sighting[] = []
  let last: Sighting | undefined
  for (const sighting of sightings.toSorted(byAssetAndTime)) {
    if (last?.assetId === sighting.assetId && minuteOf(last.observedAt) === minuteOf(sighting.observedAt)) continue
    first.push(sighting)
    last = sighting
  }
  return first
}

/**
 * The moves that sightings in ascending minutes make. What is older than the last known minute moves nothing; a
 * sighting without a place moves nothing but leaves the place unknown.
 */
export function movesAlong(before: Whereabouts | null, sightings: readonly Sighting[]): Move[] {
  const moves: Move[] = []
  let place = before?.locationId ?? null
  for (const { assetId, locationId, observedAt } of sightings) {
    if (before !== null && minuteOf(observedAt) < before.minute) continue
    if (locationId !== null && locationId !== place)
      moves.push({ assetId, fromId: place, toId: locationId, occurredAt: observedAt })
    place = locationId
  }
  return moves
}
