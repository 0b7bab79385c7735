import { boolean, instant, listOf, oneOf, id } from '../../http/validation/fields.ts'
import { described, nullable, optional } from '../../http/validation/schema.ts'
import { type Component, type Output, component, embedded } from '../../http/openapi/response-schema.ts'
import { formatMillis } from '../../kernel/instant.ts'
import { keyField, tagBody, tagDraftsField } from '../../records/fields.ts'
import type { BaseRecord } from '../../records/record.ts'
import { type Tag, type TagDraft, tagTypes } from '../../tags/tag.ts'
import { timestamp } from '../shared/wire.ts'

export const TagOut = component(
  'Tag',
  { id: id, tag_type: oneOf(tagTypes), value: tagBody.value },
  { id: 6021874402113355, tag_type: 'rfid', value: 'E28011700000020A1B2C3D4E' },
)

export const presentTag = (tag: Tag): Output<(typeof TagOut)['shape']> => ({
  id: tag.id,
  tag_type: tag.type,
  value: tag.value,
})

export const draftOf = (tag: { tag_type: TagDraft['type']; value: string }): TagDraft => ({
  type: tag.tag_type,
  value: tag.value,
})

export const tagAttach = {
  mediaType: 'application/json',
  name: 'TagAttach',
  shape: tagBody,
  example: { tag_type: 'rfid', value: 'E28011700000020A1B2C3D4E' },
} as const

/** The fields of every record after its own, in the order of the contract's tables. */
export const stateShape = {
  is_active: boolean,
  valid_from: timestamp,
  valid_to: described(nullable(timestamp), 'null means no expiry.'),
  created_at: timestamp,
  updated_at: described(timestamp, 'Advances on every accepted write; send it back on PATCH to detect a lost update.'),
  deleted_at: nullable(timestamp),
  tags: listOf(embedded(TagOut)),
}

export function presentState(record: BaseRecord): Output<typeof stateShape> {
  return {
    is_active: record.isActive,
    valid_from: formatMillis(record.validFrom),
    valid_to: record.validTo === null ? null : formatMillis(record.validTo),
    created_at: formatMillis(record.createdAt),
    updated_at: formatMillis(record.updatedAt),
    deleted_at: record.deletedAt === null ? null : formatMillis(record.deletedAt),
    tags: record.tags.map(presentTag),
  }
}

export const stateExample: Output<typeof stateShape> = {
  is_active: true,
  valid_from: '2026-05-04T08:00:00.000Z',
  valid_to: null,
  created_at: '2026-05-04T08:00:00.000Z',
  updated_at: '2026-05-04T08:15:30.250Z',
  deleted_at: null,
  tags: [TagOut.example as Output<(typeof TagOut)['shape']>],
}

export const stateCreate = {
  is_active: optional(boolean),
  valid_from: optional(described(instant, 'Defaults to now. Omit the key rather than sending null.')),
  valid_to: optional(nullable(instant)),
  tags: optional(tagDraftsField),
}

export const rename = {
  mediaType: 'application/json',
  name: 'Rename',
  shape: { external_key: keyField },
  example: { external_key: 'NEW-KEY' },
} as const

/** Adds the number of live descendants, whose tree paths contain the new key, to a renamed record. */
export function renamed<S extends Component['shape']>(base: Component<S>, name: string) {
  const shape = { ...base.shape, descendant_count_affected: { schema: { type: 'integer' }, parse: Number } }
  const example = { ...(base.example as Output<S>), descendant_count_affected: 0 }
  return component(name, shape, example as never)
}
