import { bookScanned } from '../records/counts.sql.ts'
import type { Needs, RecordRef } from '../records/record.ts'
import {
  type Renamed,
  attachTag,
  changeRecord,
  createRecord,
  deleteRecord,
  detachTag,
  getRecord,
  renameRecord,
} from '../records/commands.ts'
import type { Tag, TagDraft } from '../tags/tag.ts'
import { type Asset, type AssetDraft, type PlacedAsset, checkedChange, refuseLargeMetadata } from './asset.ts'
import { assetStore, isScanned, placedAssetStore } from './assets.sql.ts'

export const getAsset = (needs: Needs, orgId: number, ref: RecordRef): Promise<Asset> =>
  getRecord(needs, assetStore, orgId, ref)

export const getPlacedAsset = (needs: Needs, orgId: number, ref: RecordRef): Promise<PlacedAsset> =>
  getRecord(needs, placedAssetStore, orgId, ref)

export async function createAsset(needs: Needs, orgId: number, draft: AssetDraft): Promise<Asset> {
  refuseLargeMetadata(draft.metadata)
  return createRecord(needs, assetStore, orgId, draft, (core) => ({
    ...core,
    metadata: draft.metadata,
    type: draft.type ?? 'asset',
  }))
}

export const changeAsset = (
  needs: Needs,
  orgId: number,
  ref: RecordRef,
  change: (current: Asset) => Asset,
): Promise<Asset> => changeRecord(needs, assetStore, orgId, ref, (current) => checkedChange(current, change(current)))

export const renameAsset = (needs: Needs, orgId: number, ref: RecordRef, key: string): Promise<Renamed<Asset>> =>
  renameRecord(needs, assetStore, orgId, ref, key, async () => 0)

export const deleteAsset = (needs: Needs, orgId: number, ref: RecordRef): Promise<void> =>
  deleteRecord(needs, assetStore, orgId, ref, async (tx, id) => {
    if (await isScanned(tx, orgId, id)) await bookScanned(tx, orgId, { live: -1, deleted: 1 })
  })

export const attachAssetTag = (needs: Needs, orgId: number, ref: RecordRef, tag: TagDraft): Promise<Tag> =>
  attachTag(needs, assetStore, orgId, ref, tag)

export const detachAssetTag = (needs: Needs, orgId: number, ref: RecordRef, tagId: number): Promise<void> =>
  detachTag(needs, assetStore, orgId, ref, tagId)
