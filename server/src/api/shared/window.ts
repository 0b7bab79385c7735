import { parsedInstant, sentinelProblem } from '../../http/fields.ts'
import { type Infer, described, nullable, optional } from '../../http/schema.ts'
import { type FieldProblem, refuseAny } from '../../kernel/errors.ts'
import { type Instant, type ParsedInstant, isSentinel } from '../../kernel/instant.ts'
import { type RecordCore, isShownAs } from '../../records/record.ts'

/** The validity window in a body that changes a record. */
export const windowChange = {
  valid_from: optional(described(parsedInstant, 'Omit the key rather than sending null.')),
  valid_to: optional(described(nullable(parsedInstant), 'null means no expiry.')),
}

type Window = Pick<RecordCore, 'validFrom' | 'validTo'>

/**
 * The window after a change. A time that equals the one shown is accepted, a sentinel date included, and the stored time,
 * which may be finer, stays as it is.
 */
export function changedWindow(current: Window, body: Infer<typeof windowChange>): Window {
  const problems: FieldProblem[] = []
  const changed = (field: string, given: ParsedInstant, stored: Instant | null): Instant => {
    if (stored !== null && isShownAs(stored, given.instant)) return stored
    if (isSentinel(given)) problems.push(sentinelProblem(field))
    return given.instant
  }
  const { valid_from: from, valid_to: to } = body
  const validFrom = from === undefined ? current.validFrom : changed('valid_from', from, current.validFrom)
  const validTo = to === undefined ? current.validTo : to && changed('valid_to', to, current.validTo)
  refuseAny(problems)
  return { validFrom, validTo }
}
