import {
  type AssetDraft,
  type AssetPatch,
  type AssetWithLocation,
  applyAssetPatch,
  assertMetadataSize,
} from '../../assets/asset.ts'
import { assetWithLocationRepository } from '../../assets/assets.sql.ts'
import type { Tx } from '../../db/database.ts'
import { now } from '../../kernel/clock.ts'
import { type LockedLocation, lockLocationForShare } from '../../locations/tree.sql.ts'
import { changeRecord, createInTransaction } from '../../records/commands.ts'
import { type RecordDeps, type RecordRef, assertValidPeriod } from '../../records/record.ts'
import { InvalidReferenceError } from '../../records/reference-error.ts'
import { recordOperatorSighting } from './record-operator-sighting.ts'

export interface AssetLocationDeps extends RecordDeps {
  /** Called after assets of the organization have moved, to notify live streams. */
  moved: (orgId: number) => void
}

/** Calls `moved` once after the commit, however often the transaction was retried. */
export async function notifyMoves<Result>(
  { moved }: AssetLocationDeps,
  orgId: number,
  work: (note: (moves: readonly unknown[]) => void) => Promise<Result>,
): Promise<Result> {
  let hasMoved = false
  const result = await work((moves) => (hasMoved = moves.length > 0))
  if (hasMoved) moved(orgId)
  return result
}

async function findLocation(tx: Tx, orgId: number, key: string | undefined): Promise<LockedLocation | null> {
  const location = key === undefined ? null : await lockLocationForShare(tx, orgId, key)
  if (key === undefined || location !== null) return location
  throw new InvalidReferenceError({ field: 'location', by: 'key', code: 'fk_not_found' })
}

/** Creates an asset and, when a location is given, records an operator sighting there in the same transaction. */
export const createAssetAtLocation = (
  deps: AssetLocationDeps,
  orgId: number,
  draft: AssetDraft,
  locationKey: string | undefined,
): Promise<AssetWithLocation> =>
  notifyMoves(deps, orgId, (note) => {
    assertMetadataSize(draft.metadata)
    let location: LockedLocation | null
    return createInTransaction(
      deps,
      assetWithLocationRepository,
      orgId,
      draft,
      async (tx, base) => {
        location = await findLocation(tx, orgId, locationKey)
        return { ...base, metadata: draft.metadata, type: draft.type ?? 'asset', locationKey: location?.key ?? null }
      },
      async (tx, { id }) => {
        if (location !== null) note(await recordOperatorSighting(tx, orgId, location.id, [id], now(deps.clock)))
      },
    )
  })

/** Changes an asset and, when another location is given, records an operator sighting there in the same transaction. */
export const changeAssetAtLocation = (
  deps: AssetLocationDeps,
  orgId: number,
  ref: RecordRef,
  locationKey: string | undefined,
  patch: AssetPatch,
): Promise<AssetWithLocation> =>
  notifyMoves(deps, orgId, (note) =>
    changeRecord(deps, assetWithLocationRepository, orgId, ref, async (current, tx) => {
      const changed = applyAssetPatch(current, patch)
      const location = await findLocation(tx, orgId, locationKey)
      assertValidPeriod(changed.validFrom, changed.validTo)
      if (location !== null && location.key !== current.locationKey)
        note(await recordOperatorSighting(tx, orgId, location.id, [current.id], now(deps.clock)))
      return { ...changed, locationKey: location?.key ?? current.locationKey }
    }),
  )
