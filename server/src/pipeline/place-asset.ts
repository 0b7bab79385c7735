import { type AssetDraft, type AssetPatch, type PlacedAsset, applyAssetPatch, refuseLargeMetadata } from '../assets/asset.ts'
import { placedAssetStore } from '../assets/assets.sql.ts'
import type { Tx } from '../db/database.ts'
import { now } from '../kernel/clock.ts'
import { refuse } from '../kernel/errors.ts'
import { type HeldPlace, holdPlace } from '../locations/tree.sql.ts'
import { changeRecord, createRecordAmong } from '../records/commands.ts'
import { type Needs, type RecordRef, refuseEmptyWindow } from '../records/record.ts'
import { recordSave } from './record-save.ts'

export interface PlaceNeeds extends Needs {
  /** Something of this organization moved: whoever watches wants to know. */
  moved: (orgId: number) => void
}

/** A save's moves are told once they are committed, however often the transaction ran. */
export async function tellingMoves<Result>(
  { moved }: PlaceNeeds,
  orgId: number,
  work: (note: (moves: readonly unknown[]) => void) => Promise<Result>,
): Promise<Result> {
  let hasMoved = false
  const result = await work((moves) => (hasMoved = moves.length > 0))
  if (hasMoved) moved(orgId)
  return result
}

async function placeNamed(tx: Tx, orgId: number, key: string | undefined): Promise<HeldPlace | null> {
  const place = key === undefined ? null : await holdPlace(tx, orgId, key)
  if (key === undefined || place !== null) return place
  const field = 'location_external_key'
  throw refuse.invalid({ field, code: 'fk_not_found', message: `${field} does not name a location` })
}

/** Makes an asset and, when a place is named, puts it there as an operator would, in the same transaction. */
export const createPlacedAsset = (
  needs: PlaceNeeds,
  orgId: number,
  draft: AssetDraft,
  placeKey: string | undefined,
): Promise<PlacedAsset> =>
  tellingMoves(needs, orgId, (note) => {
    refuseLargeMetadata(draft.metadata)
    let place: HeldPlace | null
    return createRecordAmong(
      needs,
      placedAssetStore,
      orgId,
      draft,
      async (tx, core) => {
        place = await placeNamed(tx, orgId, placeKey)
        return { ...core, metadata: draft.metadata, type: draft.type ?? 'asset', placeKey: place?.key ?? null }
      },
      async (tx, { id }) => {
        if (place !== null) note(await recordSave(tx, orgId, place.id, [id], now(needs.clock)))
      },
    )
  })

/** Changes an asset and, when another place than its present one is named, puts it there in the same transaction. */
export const changePlacedAsset = (
  needs: PlaceNeeds,
  orgId: number,
  ref: RecordRef,
  placeKey: string | undefined,
  patch: AssetPatch,
): Promise<PlacedAsset> =>
  tellingMoves(needs, orgId, (note) =>
    changeRecord(needs, placedAssetStore, orgId, ref, async (current, tx) => {
      const changed = applyAssetPatch(current, patch)
      const place = await placeNamed(tx, orgId, placeKey)
      refuseEmptyWindow(changed.validFrom, changed.validTo)
      if (place !== null && place.key !== current.placeKey)
        note(await recordSave(tx, orgId, place.id, [current.id], now(needs.clock)))
      return { ...changed, placeKey: place?.key ?? current.placeKey }
    }),
  )
