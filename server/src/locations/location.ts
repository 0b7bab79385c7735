import type { RecordPatch } from '../records/patch.ts'
import type { BaseRecord, RecordDraft } from '../records/record.ts'

export interface Location extends BaseRecord {
  parentId: number | null
  parentKey: string | null
}

/** A location with its path: the keys from the root down to its own. */
export interface LocationWithPath extends Location {
  pathKeys: readonly string[]
}

/** A parent named by its id, by its key, by both, or not at all; null is the root. */
export interface ParentRef {
  id?: number | null
  key?: string | null
}

export interface LocationDraft extends RecordDraft {
  parent: ParentRef
}

export interface LocationPatch extends RecordPatch {
  parent: ParentRef
}

export const namesParent = (ref: ParentRef): boolean => ref.id !== undefined || ref.key !== undefined

/** The maximum depth of a tree, including the root (D52). */
export const maxTreeLevels = 64

export const tooManyLevels = `A tree of locations has at most ${maxTreeLevels} levels`
