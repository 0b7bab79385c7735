import { type Instant, millisOf } from '../../kernel/instant.ts'
import type { Smoothing } from '../../readers/reader.ts'
import { type Sighting, type Position, minuteOf } from '../sighting.ts'

/** A sighting with the data for smoothing; `smoothing` is null for a reader that does not smooth. */
export interface Observation extends Sighting {
  smoothing: Smoothing | null
  rssiDbm: number | null
}

export interface RecentSighting {
  locationId: number | null
  observedAt: Instant
  rssiDbm: number | null
}

/**
 * Whether a sighting at another location confirms a move. It does when the asset was seen there `reads` times in a row
 * within `seconds`, without a sighting at its present location in between, or when its signal is at least `marginDb`
 * stronger than at the present location.
 */
export function isConfirmed(
  { reads, seconds, marginDb }: Smoothing,
  presentId: number,
  seen: RecentSighting,
  known: readonly RecentSighting[],
): boolean {
  const from = millisOf(seen.observedAt) - seconds * 1000
  const recent = known.filter((one) => one.observedAt <= seen.observedAt && millisOf(one.observedAt) >= from)
  const present = recent.filter((one) => one.locationId === presentId)
  const lastAtPresent = present.reduce((latest, one) => (one.observedAt > latest ? one.observedAt : latest), '')
  const inARow = recent.filter((one) => one.locationId === seen.locationId && one.observedAt > lastAtPresent)
  if (inARow.length >= reads) return true
  if (marginDb === null || seen.rssiDbm === null || seen.locationId === null) return false
  const rssiAtPresent = present.flatMap((one) => one.rssiDbm ?? [])
  return rssiAtPresent.length > 0 && seen.rssiDbm >= Math.max(...rssiAtPresent) + marginDb
}

/**
 * Smooths one asset's sightings, which are in ascending order. A sighting that does not confirm a move counts as a sighting
 * at the present location, so that the asset still counts as seen. A sighting that cannot move the asset, because its
 * minute is in the past or already has a sighting, stays unchanged.
 */
export function smooth(
  before: Position | null,
  observations: readonly Observation[],
  known: readonly RecentSighting[],
): Sighting[] {
  let locationId = before?.locationId ?? null
  let minute: string = before?.minute ?? ''
  return observations.map((observation) => {
    const { assetId, observedAt, smoothing } = observation
    if (minuteOf(observedAt) <= minute) return { assetId, locationId: observation.locationId, observedAt }
    minute = minuteOf(observedAt)
    const isElsewhere = locationId !== null && observation.locationId !== locationId
    if (!isElsewhere || smoothing === null || isConfirmed(smoothing, locationId!, observation, known))
      locationId = observation.locationId
    return { assetId, locationId, observedAt }
  })
}

/** The number of sightings of an asset that are stored. */
export const maxRecentSightings = 64

/** Adds new sightings to the known ones, in order. Duplicates, from messages that are sent again, are ignored. */
export function mergeRecent(known: readonly RecentSighting[], seen: readonly RecentSighting[]): RecentSighting[] {
  const all = [...known]
  const isKnown = ({ locationId, observedAt }: RecentSighting): boolean =>
    all.some((one) => one.observedAt === observedAt && one.locationId === locationId)
  for (const { locationId, observedAt, rssiDbm } of seen)
    if (!isKnown({ locationId, observedAt, rssiDbm })) all.push({ locationId, observedAt, rssiDbm })
  all.sort((a, b) => (a.observedAt < b.observedAt ? -1 : a.observedAt > b.observedAt ? 1 : 0))
  return all
}
