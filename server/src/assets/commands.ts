import { bookScanned } from '../records/counts.sql.ts'
import type { Needs } from '../records/record.ts'
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
import type { Asset, AssetDraft } from './asset.ts'
import { assetStore, isScanned } from './assets.sql.ts'

export const getAsset = (needs: Needs, orgId: number, id: number): Promise<Asset> =>
  getRecord(needs, assetStore, orgId, id)

export const createAsset = (needs: Needs, orgId: number, draft: AssetDraft): Promise<Asset> =>
  createRecord(needs, assetStore, orgId, draft, async (_tx, core) => ({ ...core, metadata: draft.metadata }))

export const changeAsset = (
  needs: Needs,
  orgId: number,
  id: number,
  change: (current: Asset) => Asset,
): Promise<Asset> => changeRecord(needs, assetStore, orgId, id, change)

export const renameAsset = (needs: Needs, orgId: number, id: number, key: string): Promise<Renamed<Asset>> =>
  renameRecord(needs, assetStore, orgId, id, key, async () => 0)

export const deleteAsset = (needs: Needs, orgId: number, id: number): Promise<void> =>
  deleteRecord(needs, assetStore, orgId, id, async (tx) => {
    if (await isScanned(tx, orgId, id)) await bookScanned(tx, orgId, { live: -1, deleted: 1 })
  })

export const attachAssetTag = (needs: Needs, orgId: number, id: number, tag: TagDraft): Promise<Tag> =>
  attachTag(needs, assetStore, orgId, id, tag)

export const detachAssetTag = (needs: Needs, orgId: number, id: number, tagId: number): Promise<void> =>
  detachTag(needs, assetStore, orgId, id, tagId)
