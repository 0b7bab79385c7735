import type { LocationJson, RecordJson } from './master-data.ts'
import type { NaturalAsset, NaturalLocation } from './natural.ts'

/** What one surface shows, in the words of the other. What only one of them knows is left out or given. */
export type PrimaryAsset = RecordJson & { metadata: object }

type Core = Omit<NaturalLocation, 'path' | 'depth' | 'parent' | 'parent_identifier'>

const present = <K extends string, V>(key: K, value: V | null): Partial<Record<K, V>> =>
  value === null ? {} : ({ [key]: value } as Record<K, V>)

const coreOf = (one: RecordJson): Core => ({
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

export const assetOf = (one: PrimaryAsset) => ({ ...coreOf(one), metadata: one.metadata })

export const locationOf = (one: LocationJson) => ({
  ...coreOf(one),
  ...present('parent', one.parent_external_key),
  ...present('parent_identifier', one.parent_external_key),
})

const recordOf = (one: Core): RecordJson => ({
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

export const primaryAssetOf = (one: NaturalAsset): PrimaryAsset => ({ ...recordOf(one), metadata: one.metadata })

export const primaryLocationOf = (one: NaturalLocation, parentId: number | null): LocationJson => ({
  ...recordOf(one),
  parent_id: parentId,
  parent_external_key: one.parent ?? null,
})
