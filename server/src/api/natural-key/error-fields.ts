import type { AnyRoute } from '../../http/route.ts'
import { ApiError, apiError } from '../../kernel/errors.ts'
import { withReferenceErrors } from '../shared/reference-errors.ts'

/** This surface names locations by key alone, so a reference cannot contradict itself. */
const referenceFields = { parent: 'parent_identifier', location: 'current_location' }

/** Uses this surface's field names in the errors of commands. Errors of body and query already use them. */
export function mapErrorFields(route: AnyRoute): AnyRoute {
  const mapped = withReferenceErrors(route, (problem) => {
    const field = referenceFields[problem.field]
    return { field, message: `${field} does not name a location` }
  })
  return {
    ...mapped,
    handle: (context) =>
      mapped.handle(context).catch((error: unknown) => {
        const keyTakenBy = error instanceof ApiError ? error.keyTakenBy : undefined
        throw keyTakenBy === undefined ? error : apiError.keyTaken(keyTakenBy, 'identifier')
      }),
  }
}
