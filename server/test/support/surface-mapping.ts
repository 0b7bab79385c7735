import type { LocationJson, RecordJson } from './master-data.ts'
import type { NaturalAsset, NaturalLocation } from './natural-key.ts'

/** Converts records between the two APIs. Fields that only one API has are omitted or passed as arguments. */
export type PrimaryAsset = RecordJson & { metadata: object }

type SharedFields = Omit<NaturalLocation, 'path' | 'depth' | 'parent' | 'parent_identifier'>

const present = <K extends string, V>(key: K, value: V | null): Partial<Record<K, V>> =>
  value === null ? {} : ({ [key]: value } as Record<K, V>)

const toNaturalRecord = (one: RecordJson): SharedFields => ({
  surrogate_id: one.id,
  identifier: one.external_key,
  name: one.name,
  ...present('description', one.description),
  is_active: one.is_active,
  valid_from: one.valid_from,
  valid_to: one.valid_to,
  identifiers: one.tags.map(({ id, tag_type: type, value }) => ({ id, type, value, is_active: true })),
  created_at: one.created_at,
  updated_at: one.updated_at,
})

export const toNaturalAsset = (one: PrimaryAsset) => ({ ...toNaturalRecord(one), metadata: one.metadata })

export const toNaturalLocation = (one: LocationJson) => ({
  ...toNaturalRecord(one),
  ...present('parent', one.parent_external_key),
  ...present('parent_identifier', one.parent_external_key),
})

const toPrimaryRecord = (one: SharedFields): RecordJson => ({
  id: one.surrogate_id,
  external_key: one.identifier,
  name: one.name,
  description: one.description ?? null,
  is_active: one.is_active,
  valid_from: one.valid_from,
  valid_to: one.valid_to,
  created_at: one.created_at,
  updated_at: one.updated_at,
  deleted_at: null,
  tags: one.identifiers.map(({ id, type: tag_type, value }) => ({ id, tag_type, value })),
})

export const toPrimaryAsset = (one: NaturalAsset): PrimaryAsset => ({ ...toPrimaryRecord(one), metadata: one.metadata })

export const toPrimaryLocation = (one: NaturalLocation, parentId: number | null): LocationJson => ({
  ...toPrimaryRecord(one),
  parent_id: parentId,
  parent_external_key: one.parent ?? null,
})
