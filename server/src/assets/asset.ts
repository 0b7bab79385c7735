import type { Json } from '../kernel/json.ts'
import type { RecordCore, RecordDraft } from '../records/record.ts'

export type Metadata = { [key: string]: Json }

export const assetTypes = ['asset', 'person', 'inventory'] as const

export type AssetType = (typeof assetTypes)[number]

export interface Asset extends RecordCore {
  metadata: Metadata
  type: AssetType
}

export interface AssetDraft extends RecordDraft {
  metadata: Metadata
  type?: AssetType
}

/** An asset and the key of the place it was last seen at, null when that is nowhere. */
export interface PlacedAsset extends Asset {
  placeKey: string | null
}
