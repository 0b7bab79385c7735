import { type Instant, millisOf } from '../kernel/instant.ts'
import type { Smoothing } from '../readers/reader.ts'
import { type Sighting, type Position, minuteOf } from './sighting.ts'

/** A sighting with what smoothing needs to know about it; null for a reader that does not smooth. */
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
 * Is this reason enough to believe that the asset is no longer at its present place? It is when it was seen at the new
 * place so many times in a row, the present place not among them, or so much more strongly than at the present place.
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
  const left = present.reduce((latest, one) => (one.observedAt > latest ? one.observedAt : latest), '')
  const inARow = recent.filter((one) => one.locationId === seen.locationId && one.observedAt > left)
  if (inARow.length >= reads) return true
  if (marginDb === null || seen.rssiDbm === null || seen.locationId === null) return false
  const strengths = present.flatMap((one) => one.rssiDbm ?? [])
  return strengths.length > 0 && seen.rssiDbm >= Math.max(...strengths) + marginDb
}

/**
 * One asset's sightings, ascending: one that is not believed counts as a sighting at the present place, so that it still
 * tells that the asset is there. What cannot move the asset, because its minute is over or taken, is left as it is.
 */
export function smooth(
  before: Position | null,
  observations: readonly Observation[],
  known: readonly RecentSighting[],
): Sighting[] {
  let place = before?.locationId ?? null
  let minute: string = before?.minute ?? ''
  return observations.map((one) => {
    const { assetId, observedAt, smoothing } = one
    if (minuteOf(observedAt) <= minute) return { assetId, locationId: one.locationId, observedAt }
    minute = minuteOf(observedAt)
    const isOther = place !== null && one.locationId !== place
    if (!isOther || smoothing === null || isConfirmed(smoothing, place!, one, known)) place = one.locationId
    return { assetId, locationId: place, observedAt }
  })
}

const maxGlimpses = 64

/** What is known with what was seen now. A message that comes again is no new evidence. */
export function mergeRecent(known: readonly RecentSighting[], seen: readonly RecentSighting[]): RecentSighting[] {
  const all = [...known]
  const isKnown = ({ locationId, observedAt }: RecentSighting): boolean =>
    all.some((one) => one.observedAt === observedAt && one.locationId === locationId)
  for (const { locationId, observedAt, rssiDbm } of seen)
    if (!isKnown({ locationId, observedAt, rssiDbm })) all.push({ locationId, observedAt, rssiDbm })
  all.sort((a, b) => (a.observedAt < b.observedAt ? -1 : a.observedAt > b.observedAt ? 1 : 0))
  return all.slice(-maxGlimpses)
}
