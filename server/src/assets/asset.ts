import { type FieldProblem, apiError } from '../kernel/errors.ts'
import { type Json, countMembers, isSameJson, toJsonText } from '../kernel/json.ts'
import { mergePatch } from '../kernel/merge-patch.ts'
import { type RecordPatch, applyPatch } from '../records/patch.ts'
import type { BaseRecord, RecordDraft } from '../records/record.ts'

export type Metadata = { [key: string]: Json }

export const assetTypes = ['asset', 'person', 'inventory'] as const

export type AssetType = (typeof assetTypes)[number]

export interface Asset extends BaseRecord {
  metadata: Metadata
  type: AssetType
}

export interface AssetDraft extends RecordDraft {
  metadata: Metadata
  type?: AssetType
}

export interface AssetPatch extends RecordPatch {
  type?: AssetType | undefined
  /** New metadata, or a JSON merge patch for it. */
  metadata?: { replace: Metadata } | { merge: Metadata } | undefined
}

/** An asset with the key of the location where it was last seen, or null. */
export interface AssetWithLocation extends Asset {
  locationKey: string | null
}

const maxMetadataBytes = 64 * 1024
const maxMetadataMembers = 1000

/** The problem with the size of metadata as it would be stored, or null (D52). */
export function metadataSizeProblem(metadata: Metadata): FieldProblem | null {
  const tooLarge = (message: string, max: number): FieldProblem => ({
    field: 'metadata',
    code: 'too_large',
    message,
    params: { max },
  })
  if (Buffer.byteLength(toJsonText(metadata)) > maxMetadataBytes)
    return tooLarge(`metadata must be at most ${maxMetadataBytes} bytes of JSON`, maxMetadataBytes)
  if (countMembers(metadata) > maxMetadataMembers)
    return tooLarge(`metadata must hold at most ${maxMetadataMembers} members over all levels`, maxMetadataMembers)
  return null
}

export function assertMetadataSize(metadata: Metadata): void {
  const problem = metadataSizeProblem(metadata)
  if (problem !== null) throw apiError.invalid(problem)
}

function changedMetadata(current: Metadata, change: AssetPatch['metadata']): Metadata {
  if (change === undefined) return current
  if ('replace' in change) return change.replace
  // Metadata that equals the stored value changes nothing, although a merge patch would remove its null members.
  return isSameJson(change.merge, current) ? current : (mergePatch(current, change.merge) as Metadata)
}

/** The asset after the change. Unchanged metadata is not validated again. */
export function applyAssetPatch<A extends Asset>(current: A, patch: AssetPatch): A {
  const changed = applyPatch(current, patch)
  const metadata = changedMetadata(current.metadata, patch.metadata)
  if (metadata !== current.metadata) assertMetadataSize(metadata)
  return { ...changed, metadata, type: patch.type ?? current.type }
}
