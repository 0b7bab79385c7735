import { parsedInstant } from '../../http/validation/fields.ts'
import { described, nullable, optional } from '../../http/validation/schema.ts'

/** The validity period in the body of an update. */
export const validityPatch = {
  valid_from: optional(described(parsedInstant, 'Omit the key rather than sending null.')),
  valid_to: optional(described(nullable(parsedInstant), 'null means no expiry.')),
}
