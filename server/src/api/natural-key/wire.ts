import { boolean, instant, listOf, oneOf, object, id } from '../../http/validation/fields.ts'
import type { SortTerm } from '../../kernel/page.ts'
import { type Infer, described, nullable, optional } from '../../http/validation/schema.ts'
import { type Output, component, embedded } from '../../http/openapi/response-schema.ts'
import { formatMillis } from '../../kernel/instant.ts'
import type { RecordPatch } from '../../records/patch.ts'
import type { BaseRecord, RecordDraft } from '../../records/record.ts'
import { type Tag, type TagDraft, type TagType, maxTagsPerRecord, tagTypes } from '../../tags/tag.ts'
import { validityPatch } from '../shared/validity.ts'
import { descriptionField, keyField, nameField, tagValue } from '../../records/fields.ts'
import { timestamp } from '../shared/wire.ts'

/** A closed enum, as in v1.0.0 (D50), marked as extensible like every declaration of the tag type. */
const closedTagType = oneOf(tagTypes, { isClosed: true })
const tagType = { ...closedTagType, schema: { ...closedTagType.schema, 'x-extensible-enum': tagTypes } }

const identifierBody = {
  type: optional({ ...tagType, schema: { ...tagType.schema, default: 'rfid' } }),
  value: tagValue,
}

export const identifierAttach = {
  mediaType: 'application/json',
  name: 'IdentifierAttach',
  shape: identifierBody,
  example: { type: 'rfid', value: 'E28011700000020A1B2C3D4E' },
} as const

export const draftOf = ({ type = 'rfid', value }: { type?: TagType; value: string }): TagDraft => ({ type, value })

export const IdentifierOut = component(
  'Identifier',
  { id: id, type: tagType, value: tagValue, is_active: boolean },
  { id: 6021874402113355, type: 'rfid', value: 'E28011700000020A1B2C3D4E', is_active: true },
)

/** A detached tag is deleted, so every tag in a response is active. */
export const presentIdentifier = ({ id, type, value }: Tag): Output<(typeof IdentifierOut)['shape']> => ({
  id,
  type,
  value,
  is_active: true,
})

/** The fields of every resource before and after its own. Unset fields are omitted, except `valid_to`. */
export const outShape = {
  before: {
    surrogate_id: id,
    identifier: keyField,
    name: nameField,
    description: optional(descriptionField),
  },
  after: {
    valid_from: timestamp,
    valid_to: described(nullable(timestamp), 'null means no expiry.'),
    identifiers: listOf(embedded(IdentifierOut)),
    created_at: timestamp,
    updated_at: described(timestamp, 'Advances on every accepted write.'),
  },
}

export const present = {
  before: (record: BaseRecord): Output<typeof outShape.before> => ({
    surrogate_id: record.id,
    identifier: record.externalKey,
    name: record.name,
    description: record.description ?? undefined,
  }),
  after: (record: BaseRecord): Output<typeof outShape.after> => ({
    valid_from: formatMillis(record.validFrom),
    valid_to: record.validTo === null ? null : formatMillis(record.validTo),
    identifiers: record.tags.map(presentIdentifier),
    created_at: formatMillis(record.createdAt),
    updated_at: formatMillis(record.updatedAt),
  }),
}

export const exampleAfter: Output<typeof outShape.after> = {
  valid_from: '2026-05-04T08:00:00.000Z',
  valid_to: null,
  identifiers: [IdentifierOut.example as Output<(typeof IdentifierOut)['shape']>],
  created_at: '2026-05-04T08:00:00.000Z',
  updated_at: '2026-05-04T08:15:30.250Z',
}

const windowBody = {
  valid_from: optional(described(instant, 'Omit the key rather than sending null.')),
  valid_to: optional(described(nullable(instant), 'null means no expiry.')),
}

export const createBody = {
  before: { name: nameField, description: optional(nullable(descriptionField)) },
  after: { ...windowBody, identifiers: optional(listOf(object(identifierBody), { max: maxTagsPerRecord })) },
}

export const updateBody = {
  before: {
    identifier: optional(keyField),
    name: optional(nameField),
    description: optional(nullable(descriptionField)),
  },
  after: validityPatch,
}

type CreateBody = Infer<typeof createBody.before & typeof createBody.after> & {
  identifier?: string
  is_active?: boolean
}

export const toDraft = (body: CreateBody): RecordDraft => ({
  ...(body.identifier === undefined ? {} : { externalKey: body.identifier }),
  name: body.name,
  description: body.description ?? null,
  isActive: body.is_active ?? true,
  ...(body.valid_from === undefined ? {} : { validFrom: body.valid_from }),
  validTo: body.valid_to ?? null,
  tags: (body.identifiers ?? []).map(draftOf),
})

export const toPatch = (
  body: Infer<typeof updateBody.before & typeof updateBody.after> & { is_active?: boolean },
): RecordPatch => ({
  externalKey: body.identifier,
  name: body.name,
  description: body.description,
  isActive: body.is_active,
  validFrom: body.valid_from,
  validTo: body.valid_to,
})

/** Maps sort terms to the domain's field names. */
export const sortedBy = <Own extends string, Field extends string>(
  terms: readonly SortTerm<Own>[],
  names: Record<Own, Field>,
): SortTerm<Field>[] => terms.map(({ field, descending }) => ({ field: names[field], descending }))
