import { bookScanned } from '../records/counts.sql.ts'
import type { Needs, RecordRef } from '../records/record.ts'
import { changeRecord, createRecord, deleteRecord } from '../records/commands.ts'
import { type Asset, type AssetDraft, type AssetPatch, applyAssetPatch, refuseLargeMetadata } from './asset.ts'
import { assetStore, isScanned } from './assets.sql.ts'

export async function createAsset(needs: Needs, orgId: number, draft: AssetDraft): Promise<Asset> {
  refuseLargeMetadata(draft.metadata)
  return createRecord(needs, assetStore, orgId, draft, (core) => ({
    ...core,
    metadata: draft.metadata,
    type: draft.type ?? 'asset',
  }))
}

export const changeAsset = (needs: Needs, orgId: number, ref: RecordRef, patch: AssetPatch): Promise<Asset> =>
  changeRecord(needs, assetStore, orgId, ref, (current) => applyAssetPatch(current, patch))

export const deleteAsset = (needs: Needs, orgId: number, ref: RecordRef): Promise<void> =>
  deleteRecord(needs, assetStore, orgId, ref, async (tx, id) => {
    if (await isScanned(tx, orgId, id)) await bookScanned(tx, orgId, { live: -1, deleted: 1 })
  })
