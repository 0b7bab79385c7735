import type { Json } from '../kernel/json.ts'
import type { RecordCore, RecordDraft } from '../records/record.ts'

export type Metadata = { [key: string]: Json }

export interface Asset extends RecordCore {
  metadata: Metadata
}

export interface AssetDraft extends RecordDraft {
  metadata: Metadata
}
