import type { RecordDeps, RecordRef } from '../records/record.ts'
import { changeRecord, createRecord, deleteRecord } from '../records/commands.ts'
import { type Asset, type AssetDraft, type AssetPatch, applyAssetPatch, assertMetadataSize } from './asset.ts'
import { assetRepository, countScannedDeleted } from './assets.sql.ts'

export async function createAsset(deps: RecordDeps, orgId: number, draft: AssetDraft): Promise<Asset> {
  assertMetadataSize(draft.metadata)
  return createRecord(deps, assetRepository, orgId, draft, (base) => ({
    ...base,
    metadata: draft.metadata,
    type: draft.type ?? 'asset',
  }))
}

export const changeAsset = (deps: RecordDeps, orgId: number, ref: RecordRef, patch: AssetPatch): Promise<Asset> =>
  changeRecord(deps, assetRepository, orgId, ref, async (current) => applyAssetPatch(current, patch))

export const deleteAsset = (deps: RecordDeps, orgId: number, ref: RecordRef): Promise<void> =>
  deleteRecord(deps, assetRepository, orgId, ref, (tx, id) => countScannedDeleted(tx, orgId, id))
