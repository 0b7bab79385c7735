import { passthrough, boolean } from '../../http/validation/fields.ts'
import { type Infer, nullable, optional } from '../../http/validation/schema.ts'
import type { RecordPatch } from '../../records/patch.ts'
import type { RecordDraft } from '../../records/record.ts'
import { validityPatch } from '../shared/validity.ts'
import { descriptionField, keyField, nameField } from '../../records/fields.ts'
import { draftOf, type stateCreate } from './wire.ts'

/** Fields that a client may send back unchanged; see records/read-only-fields.ts. */
const readOnlyShape = {
  id: optional(passthrough({ type: 'integer', format: 'int64' })),
  external_key: optional(passthrough({ type: 'string' })),
  created_at: optional(passthrough({ type: 'string', format: 'date-time' })),
  updated_at: optional(passthrough({ type: 'string', format: 'date-time' })),
  deleted_at: optional(passthrough({ type: 'string', format: 'date-time', nullable: true })),
  tags: optional(passthrough({ type: 'array', items: { type: 'object' } })),
}

/** The PATCH fields of every record before and after its own, in the order of the contract's tables. */
export const statePatch = {
  before: {
    id: readOnlyShape.id,
    external_key: readOnlyShape.external_key,
    name: optional(nameField),
    description: optional(nullable(descriptionField)),
  },
  after: {
    is_active: optional(boolean),
    ...validityPatch,
    created_at: readOnlyShape.created_at,
    updated_at: readOnlyShape.updated_at,
    deleted_at: readOnlyShape.deleted_at,
    tags: readOnlyShape.tags,
  },
}

export const patchDescription =
  'JSON merge patch (RFC 7396). For optimistic locking, send `updated_at` as last read: if another write has happened since, the request is rejected.'

export const recordCreate = {
  external_key: optional(keyField),
  name: nameField,
  description: optional(nullable(descriptionField)),
}

export function toRecordDraft(body: Infer<typeof recordCreate & typeof stateCreate>): RecordDraft {
  return {
    ...(body.external_key === undefined ? {} : { externalKey: body.external_key }),
    name: body.name,
    description: body.description ?? null,
    isActive: body.is_active ?? true,
    ...(body.valid_from === undefined ? {} : { validFrom: body.valid_from }),
    validTo: body.valid_to ?? null,
    tags: (body.tags ?? []).map(draftOf),
  }
}

export const toPatch = (body: Infer<typeof statePatch.before & typeof statePatch.after>): RecordPatch => ({
  name: body.name,
  description: body.description,
  isActive: body.is_active,
  validFrom: body.valid_from,
  validTo: body.valid_to,
  readOnly: body,
})
