import type { AnyRoute } from '../../http/route.ts'
import { type FieldProblem, ApiError, apiError } from '../../kernel/errors.ts'

/** Domain field names and their names on this surface. */
const fieldNames: Record<string, string> = {
  parent_external_key: 'parent_identifier',
  location_external_key: 'current_location',
}

const messages: Partial<Record<FieldProblem['code'], (field: string) => string>> = {
  fk_not_found: (field) => `${field} does not name a location`,
}

function mapField(problem: FieldProblem): FieldProblem {
  const field = fieldNames[problem.field]
  if (field === undefined) return problem
  return { ...problem, field, message: messages[problem.code]?.(field) ?? problem.message }
}

function mapError(error: unknown): unknown {
  if (!(error instanceof ApiError)) return error
  if (error.keyTakenBy !== undefined) return apiError.keyTaken(error.keyTakenBy, 'identifier')
  const [first, ...rest] = error.fields?.map(mapField) ?? []
  return first === undefined ? error : apiError.invalid(first, ...rest)
}

/** Renames the fields in a handler's errors to this surface's names. Errors of body and query already use them. */
export const mapErrorFields = (route: AnyRoute): AnyRoute => ({
  ...route,
  handle: (call) =>
    route.handle(call).catch((error: unknown) => {
      throw mapError(error)
    }),
})
