import { sentinelProblem } from '../http/validation/fields.ts'
import { type FieldProblem, throwIfAny } from '../kernel/errors.ts'
import { type Instant, type ParsedInstant, isSentinel } from '../kernel/instant.ts'
import { type ReadOnlyFields, readOnlyErrors } from './read-only-fields.ts'
import { type BaseRecord, isShownAs } from './record.ts'

/** The fields that a request changes. Absent fields stay as they are; null clears a field. */
export interface RecordPatch {
  externalKey?: string | undefined
  name?: string | undefined
  description?: string | null | undefined
  isActive?: boolean | undefined
  validFrom?: ParsedInstant | undefined
  validTo?: ParsedInstant | null | undefined
  /** Read-only fields that the client sent back. The change is rejected when they differ from the record. */
  readOnly?: ReadOnlyFields | undefined
}

/** The record after the change. Throws when the patch contradicts the record. */
export function applyPatch<R extends BaseRecord>(current: R, patch: RecordPatch): R {
  if (patch.readOnly !== undefined) throwIfAny(readOnlyErrors(patch.readOnly, current))
  return {
    ...current,
    externalKey: patch.externalKey ?? current.externalKey,
    name: patch.name ?? current.name,
    description: patch.description === undefined ? current.description : patch.description,
    isActive: patch.isActive ?? current.isActive,
    ...changedPeriod(current, patch),
  }
}

type Period = Pick<BaseRecord, 'validFrom' | 'validTo'>

/**
 * The period of validity after the change. A time that equals the one shown is accepted, a sentinel date included, and the
 * stored time, which may be finer, stays as it is.
 */
function changedPeriod(current: Period, { validFrom: from, validTo: to }: RecordPatch): Period {
  const problems: FieldProblem[] = []
  const changed = (field: string, given: ParsedInstant, stored: Instant | null): Instant => {
    if (stored !== null && isShownAs(stored, given.instant)) return stored
    if (isSentinel(given)) problems.push(sentinelProblem(field))
    return given.instant
  }
  const validFrom = from === undefined ? current.validFrom : changed('valid_from', from, current.validFrom)
  const validTo = to === undefined ? current.validTo : to && changed('valid_to', to, current.validTo)
  throwIfAny(problems)
  return { validFrom, validTo }
}
