import { type FieldProblem, refuse } from '../kernel/errors.ts'
import { type Json, countMembers } from '../kernel/json.ts'
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

const maxMetadataBytes = 64 * 1024
const maxMetadataMembers = 1000

/** What is wrong with the size of metadata as it would be stored (D52). */
export function metadataSizeProblem(metadata: Metadata): FieldProblem | null {
  const tooLarge = (message: string, max: number): FieldProblem => ({
    field: 'metadata',
    code: 'too_large',
    message,
    params: { max },
  })
  if (Buffer.byteLength(JSON.stringify(metadata)) > maxMetadataBytes)
    return tooLarge(`metadata must be at most ${maxMetadataBytes} bytes of JSON`, maxMetadataBytes)
  if (countMembers(metadata) > maxMetadataMembers)
    return tooLarge(`metadata must hold at most ${maxMetadataMembers} members over all levels`, maxMetadataMembers)
  return null
}

export function refuseLargeMetadata(metadata: Metadata): void {
  const problem = metadataSizeProblem(metadata)
  if (problem !== null) throw refuse.invalid(problem)
}

/** The changed asset; metadata that the change leaves alone is not judged again. */
export function checkedChange<A extends Asset>(current: Asset, changed: A): A {
  if (changed.metadata !== current.metadata) refuseLargeMetadata(changed.metadata)
  return changed
}
