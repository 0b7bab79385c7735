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

/** An operator counted these assets at this place. All of them are saved, each once, or none. */
export const saveInventory = (
  deps: AssetLocationDeps,
  orgId: number,
  placeKey: string,
  assetKeys: readonly string[],
): Promise<InventorySave> =>
  notifyMoves(deps, orgId, (note) =>
    deps.db.withTenant(orgId, async (tx) => {
      const keys = [...new Set(assetKeys)]
      const place = await lockLocationForShare(tx, orgId, placeKey)
      const ids = await assetIdsByKey(tx, orgId, keys)
      const problems = place === null ? [unknown('location_identifier', 'a location')] : []
      const firstAt = new Map(assetKeys.map((key, index) => [key, index] as const).reverse())
      for (const key of keys)
        if (!ids.has(key)) problems.push(unknown(`asset_identifiers[${firstAt.get(key)}]`, 'an asset'))
      throwIfAny(problems)
      const savedAt = now(deps.clock)
      note(await recordOperatorSighting(tx, orgId, place!.id, [...ids.values()], savedAt))
      return { place: place!, count: keys.length, savedAt }
    }),
  )
