import type { Advance } from '../tracking/positions.sql.ts'
import type { Sighting } from '../tracking/sighting.ts'

/** Sightings by asset, keeping their order. */
export function perAsset<One extends Sighting>(sightings: readonly One[]): Map<number, One[]> {
  const groups = new Map<number, One[]>()
  for (const sighting of sightings) {
    const group = groups.get(sighting.assetId)
    if (group === undefined) groups.set(sighting.assetId, [sighting])
    else group.push(sighting)
  }
  return groups
}

/** What sightings that each got their minute, in ascending order, bring to the positions. */
export const advancesOf = (fresh: readonly Sighting[]): Advance[] =>
  [...perAsset(fresh).values()].map((own) => ({ latest: own.at(-1)!, addedMinutes: own.length }))
