import type { Tx } from '../../db/database.ts'
import { lockRecentSightings, putRecentSightings } from './recent-sightings.sql.ts'
import { positionsOf } from './positions.sql.ts'
import type { Sighting } from '../sighting.ts'
import { type RecentSighting, type Observation, maxRecentSightings, mergeRecent, smooth } from './smoothing.ts'

export interface SmoothedReads {
  sightings: readonly Sighting[]
  /** The previous locations of assets whose sightings were smoothed; they must not have changed until the recording. */
  assumed: ReadonlyMap<number, number | null>
}

/** Sightings by asset, in their original order. */
function groupByAsset<S extends Sighting>(sightings: readonly S[]): Map<number, S[]> {
  const groups = new Map<number, S[]>()
  for (const sighting of sightings) {
    const group = groups.get(sighting.assetId)
    if (group === undefined) groups.set(sighting.assetId, [sighting])
    else group.push(sighting)
  }
  return groups
}

/**
 * Compares sightings of readers that smooth with the recent sightings of all processes. Without such a reader it returns
 * the sightings unchanged and runs no query.
 */
export async function smoothSightings(tx: Tx, orgId: number, seen: readonly Observation[]): Promise<SmoothedReads> {
  const smoothedIds = new Set(seen.flatMap((one) => (one.smoothing === null ? [] : one.assetId)))
  if (smoothedIds.size === 0) return { sightings: seen, assumed: new Map() }
  const ids = [...smoothedIds]
  const [stored, positions] = await Promise.all([lockRecentSightings(tx, orgId, ids), positionsOf(tx, orgId, ids)])
  const recent = new Map<number, readonly RecentSighting[]>()
  const assumed = new Map<number, number | null>()
  const sightings = [...groupByAsset(seen)].flatMap(([assetId, own]): readonly Sighting[] => {
    if (!smoothedIds.has(assetId)) return own
    const ascending = own.toSorted((a, b) => (a.observedAt < b.observedAt ? -1 : a.observedAt > b.observedAt ? 1 : 0))
    const before = positions.get(assetId) ?? null
    const fresh = ascending.filter((one) => one.smoothing !== null)
    const known = mergeRecent(stored.get(assetId) ?? [], fresh)
    // The first sightings of a large batch are judged by those before them, which may not be among the latest ones.
    recent.set(assetId, known.slice(-maxRecentSightings))
    const result = smooth(before, ascending, known)
    if (result.some((one, index) => one.locationId !== ascending[index]!.locationId))
      assumed.set(assetId, before?.locationId ?? null)
    return result
  })
  await putRecentSightings(tx, orgId, recent)
  return { sightings, assumed }
}
