import { assetIdsByKey } from '../../assets/assets.sql.ts'
import { withCustomPlan } from '../../db/plan-cache.ts'
import { now } from '../../kernel/clock.ts'
import { type FieldProblem, throwIfAny } from '../../kernel/errors.ts'
import type { Instant } from '../../kernel/instant.ts'
import { type LockedLocation, lockLocationForShare } from '../../locations/tree.sql.ts'
import { type AssetLocationDeps, notifyMoves } from './asset-at-location.ts'
import { insertNotes } from '../sighting-notes.sql.ts'
import { recordOperatorSighting } from './record-operator-sighting.ts'

export interface InventorySave {
  location: LockedLocation
  count: number
  savedAt: Instant
}

const unknown = (field: string, what: string): FieldProblem => ({
  field,
  code: 'fk_not_found',
  message: `${field} does not name ${what}`,
})

/** A generic plan is made for a few assets and compares every key with every asset: 10,000 take 8.4 s instead of 4.6. */
const maxAssetsOfGenericPlan = 100

/**
 * An operator counted these assets at the location. Either all of them are saved, each once, or none. A note is kept with
 * the sighting of each asset.
 */
export const saveInventory = (
  deps: AssetLocationDeps,
  orgId: number,
  locationKey: string,
  assetKeys: readonly string[],
  note?: { userId: number; text: string },
): Promise<InventorySave> =>
  notifyMoves(deps, orgId, (noteMoves) =>
    deps.db.withTenant(orgId, async (tx) => {
      const keys = [...new Set(assetKeys)]
      if (keys.length > maxAssetsOfGenericPlan) await withCustomPlan(tx)
      const location = await lockLocationForShare(tx, orgId, locationKey)
      const ids = await assetIdsByKey(tx, orgId, keys)
      const problems = location === null ? [unknown('location_identifier', 'a location')] : []
      const firstIndexes = new Map(assetKeys.map((key, index) => [key, index] as const).reverse())
      for (const key of keys)
        if (!ids.has(key)) problems.push(unknown(`asset_identifiers[${firstIndexes.get(key)}]`, 'an asset'))
      throwIfAny(problems)
      const savedAt = now(deps.clock)
      const assetIds = [...ids.values()]
      noteMoves(await recordOperatorSighting(tx, orgId, location!.id, assetIds, savedAt))
      if (note !== undefined) {
        const { userId, text } = note
        const saveId = await deps.ids.next(orgId)
        await insertNotes(tx, orgId, location!.id, assetIds, { saveId, userId, notedAt: savedAt, note: text })
      }
      return { location: location!, count: keys.length, savedAt }
    }),
  )
