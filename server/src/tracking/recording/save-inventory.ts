import { assetIdsByKey } from '../../assets/assets.sql.ts'
import { now } from '../../kernel/clock.ts'
import { type FieldProblem, throwIfAny } from '../../kernel/errors.ts'
import type { Instant } from '../../kernel/instant.ts'
import { type LockedLocation, lockLocationForShare } from '../../locations/tree.sql.ts'
import { type AssetLocationDeps, notifyMoves } from './asset-at-location.ts'
import { recordOperatorSighting } from './record-operator-sighting.ts'

export interface InventorySave {
  place: LockedLocation
  count: number
  savedAt: Instant
}

const unknown = (field: string, what: string): FieldProblem => ({
  field,
  code: 'fk_not_found',
  message: `${field} does not name ${what}`,
})

/** An operator counted these assets at the location. Either all of them are saved, each once, or none. */
export const saveInventory = (
  deps: AssetLocationDeps,
  orgId: number,
  locationKey: string,
  assetKeys: readonly string[],
): Promise<InventorySave> =>
  notifyMoves(deps, orgId, (note) =>
    deps.db.withTenant(orgId, async (tx) => {
      const keys = [...new Set(assetKeys)]
      const location = await lockLocationForShare(tx, orgId, locationKey)
      const ids = await assetIdsByKey(tx, orgId, keys)
      const problems = location === null ? [unknown('location_identifier', 'a location')] : []
      const firstIndexes = new Map(assetKeys.map((key, index) => [key, index] as const).reverse())
      for (const key of keys)
        if (!ids.has(key)) problems.push(unknown(`asset_identifiers[${firstIndexes.get(key)}]`, 'an asset'))
      throwIfAny(problems)
      const savedAt = now(deps.clock)
      note(await recordOperatorSighting(tx, orgId, location!.id, [...ids.values()], savedAt))
      return { place: location!, count: keys.length, savedAt }
    }),
  )
