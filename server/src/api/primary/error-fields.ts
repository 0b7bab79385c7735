import type { AnyRoute } from '../../http/route.ts'
import { withReferenceErrors } from '../shared/reference-errors.ts'

/** Uses this surface's field names in the errors of commands. No body of this surface sets the location of an asset. */
export const mapErrorFields = (route: AnyRoute): AnyRoute =>
  withReferenceErrors(route, ({ by, code }) => {
    const field = by === 'id' ? 'parent_id' : 'parent_external_key'
    if (code === 'fk_not_found') return { field, message: `${field} does not name a location` }
    return { field, message: 'parent_id and parent_external_key name different locations' }
  })
