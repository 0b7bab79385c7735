import { flag } from '../../http/fields.ts'
import { type Infer, nullable, optional } from '../../http/schema.ts'
import { refuseAny } from '../../kernel/errors.ts'
import type { RecordCore, RecordDraft } from '../../records/record.ts'
import { changedWindow, windowChange } from '../shared/window.ts'
import { descriptionField, keyField, nameField } from '../shared/wire.ts'
import { contradictions, echoShape } from './echo.ts'
import { draftOf, type stateCreate } from './wire.ts'

/** What every record's PATCH takes, before and behind the kind's own fields, in the order of the contract's tables. */
export const statePatch = {
  before: {
    id: echoShape.id,
    external_key: echoShape.external_key,
    name: optional(nameField),
    description: optional(nullable(descriptionField)),
  },
  after: {
    is_active: optional(flag),
    ...windowChange,
    created_at: echoShape.created_at,
    updated_at: echoShape.updated_at,
    deleted_at: echoShape.deleted_at,
    tags: echoShape.tags,
  },
}

export const coreCreate = {
  external_key: optional(keyField),
  name: nameField,
  description: optional(nullable(descriptionField)),
}

export function toCoreDraft(body: Infer<typeof coreCreate & typeof stateCreate>): RecordDraft {
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

/** Only what the body carries changes; null clears what can be cleared; what contradicts the record is refused. */
export function mergeState<R extends RecordCore>(
  current: R,
  body: Infer<typeof statePatch.before & typeof statePatch.after>,
): R {
  refuseAny(contradictions(body, current))
  return {
    ...current,
    name: body.name ?? current.name,
    description: body.description === undefined ? current.description : body.description,
    isActive: body.is_active ?? current.isActive,
    ...changedWindow(current, body),
  }
}
