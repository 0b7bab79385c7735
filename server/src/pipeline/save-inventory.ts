import { assetIdsByKey } from '../assets/assets.sql.ts'
import { now } from '../kernel/clock.ts'
import { type FieldProblem, refuseAny } from '../kernel/errors.ts'
import type { Instant } from '../kernel/instant.ts'
import { type HeldPlace, holdPlace } from '../locations/tree.sql.ts'
import { type PlaceNeeds, tellingMoves } from './place-asset.ts'
import { recordSave } from './record-save.ts'

export interface InventorySave {
  place: HeldPlace
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
  needs: PlaceNeeds,
  orgId: number,
  placeKey: string,
  assetKeys: readonly string[],
): Promise<InventorySave> =>
  tellingMoves(needs, orgId, (note) =>
    needs.db.inOrganization(orgId, async (tx) => {
      const keys = [...new Set(assetKeys)]
      const place = await holdPlace(tx, orgId, placeKey)
      const ids = await assetIdsByKey(tx, orgId, keys)
      const problems = place === null ? [unknown('location_identifier', 'a location')] : []
      const firstAt = new Map(assetKeys.map((key, index) => [key, index] as const).reverse())
      for (const key of keys)
        if (!ids.has(key)) problems.push(unknown(`asset_identifiers[${firstAt.get(key)}]`, 'an asset'))
      refuseAny(problems)
      const savedAt = now(needs.clock)
      note(await recordSave(tx, orgId, place!.id, [...ids.values()], savedAt))
      return { place: place!, count: keys.length, savedAt }
    }),
  )
