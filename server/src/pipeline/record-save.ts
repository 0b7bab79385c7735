import type { Tx } from '../db/database.ts'
import { Overtaken } from '../db/violations.ts'
import { type Instant, fromDatabase } from '../kernel/instant.ts'
import { claimMinutes, overrideMinutes } from '../tracking/minutes.sql.ts'
import { type RecordedMove, insertMoves } from '../tracking/moves.sql.ts'
import { advancePositions, lastMinutesOf } from '../tracking/positions.sql.ts'
import { type Sighting, minuteOf, movesAlong } from '../tracking/sighting.ts'

/**
 * An operator says these assets are here. The save wins the minute, and the place it overrides is where they came from.
 * Where a reader's clock runs ahead, the save takes the asset's latest minute, so that it wins there too. Locks are taken
 * as reads take them, minutes before positions, so that neither waits for the other in a circle.
 */
export async function recordSave(
  tx: Tx,
  orgId: number,
  locationId: number,
  assetIds: readonly number[],
  at: Instant,
): Promise<RecordedMove[]> {
  const ascending = [...new Set(assetIds)].sort((a, b) => a - b)
  const lastMinutes = await lastMinutesOf(tx, orgId, ascending)
  const sightings = ascending.map((assetId): Sighting => {
    const last = lastMinutes.get(assetId)
    const isAhead = last !== undefined && fromDatabase(last) > minuteOf(at)
    return { assetId, locationId, observedAt: isAhead ? fromDatabase(last) : at }
  })
  const claimed = await claimMinutes(tx, orgId, sightings, 'operator')
  const isClaimed = new Set(claimed)
  const overridden = await overrideMinutes(
    tx,
    orgId,
    sightings.filter((one) => !isClaimed.has(one)),
  )

  const changed = [...claimed, ...overridden].sort((a, b) => a.assetId - b.assetId)
  if (changed.length === 0) return []
  const advances = changed.map((latest) => ({ latest, addedMinutes: isClaimed.has(latest) ? 1 : 0 }))
  const before = await advancePositions(tx, orgId, advances, 'operator')
  const isOvertaken = changed.some((one) => (before.get(one.assetId)?.minute ?? '') > minuteOf(one.observedAt))
  if (isOvertaken) throw new Overtaken('a reader saw an asset in a later minute meanwhile')
  const moves = changed.flatMap((one) => movesAlong(before.get(one.assetId) ?? null, [one]))
  return insertMoves(tx, orgId, moves, at)
}
