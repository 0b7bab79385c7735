import type { Tx } from '../../db/database.ts'
import { lockRecentSightings, putRecentSightings } from '../recent-sightings.sql.ts'
import { positionsOf } from '../positions.sql.ts'
import type { Sighting } from '../sighting.ts'
import { type RecentSighting, type Observation, mergeRecent, smooth } from '../smoothing.ts'

export interface SmoothedReads {
  sightings: readonly Sighting[]
  /** Where the assets whose sightings were held back were taken to be: true only if nobody moved them meanwhile. */
  assumed: ReadonlyMap<number, number | null>
}

/** Sightings by asset, keeping their order. */
function perAsset<One extends Sighting>(sightings: readonly One[]): Map<number, One[]> {
  const groups = new Map<number, One[]>()
  for (const sighting of sightings) {
    const group = groups.get(sighting.assetId)
    if (group === undefined) groups.set(sighting.assetId, [sighting])
    else group.push(sighting)
  }
  return groups
}

/**
 * Holds sightings of readers that smooth against what else was seen, by whichever process. Without such a reader nothing
 * is asked or changed.
 */
export async function smoothSightings(tx: Tx, orgId: number, seen: readonly Observation[]): Promise<SmoothedReads> {
  const watched = new Set(seen.flatMap((one) => (one.smoothing === null ? [] : one.assetId)))
  if (watched.size === 0) return { sightings: seen, assumed: new Map() }
  const ids = [...watched]
  const [held, places] = await Promise.all([lockRecentSightings(tx, orgId, ids), positionsOf(tx, orgId, ids)])
  const glimpses = new Map<number, readonly RecentSighting[]>()
  const assumed = new Map<number, number | null>()
  const sightings = [...perAsset(seen)].flatMap(([assetId, own]): readonly Sighting[] => {
    if (!watched.has(assetId)) return own
    const ascending = own.toSorted((a, b) => (a.observedAt < b.observedAt ? -1 : a.observedAt > b.observedAt ? 1 : 0))
    const before = places.get(assetId) ?? null
    const fresh = ascending.filter((one) => one.smoothing !== null)
    const known = mergeRecent(held.get(assetId) ?? [], fresh)
    glimpses.set(assetId, known)
    const result = smooth(before, ascending, known)
    if (result.some((one, index) => one.locationId !== ascending[index]!.locationId))
      assumed.set(assetId, before?.locationId ?? null)
    return result
  })
  await putRecentSightings(tx, orgId, glimpses)
  return { sightings, assumed }
}
