import { id, text } from '../../http/validation/fields.ts'
import { type Output, arrayOf, component, envelope } from '../../http/openapi/response-schema.ts'
import { type AnyRoute, noContent, ok, route } from '../../http/route.ts'
import { apiError } from '../../kernel/errors.ts'
import type { RecordDeps } from '../../records/record.ts'
import {
  type SavedView,
  deleteSavedView,
  listSavedViews,
  maxSavedViews,
  saveView,
} from '../../users/saved-views.sql.ts'
import { jsonBody } from './fields.ts'

const draftShape = { name: text({ min: 1, max: 80 }), search: text({ max: 2000 }) }

export const SavedViewOut = component(
  'SavedView',
  { id: id, ...draftShape },
  { id: 6120449930581042, name: 'Inactive at Dock 3', search: 'active=no&location=7710249930581042' },
)

const present = ({ id, name, search }: SavedView): Output<(typeof SavedViewOut)['shape']> => ({ id, name, search })

/** The saved views of the signed-in user, in the current organization. */
export function savedViewRoutes(deps: RecordDeps): AnyRoute[] {
  const common = { group: 'Views', access: 'session', scopes: ['assets:read'] } as const
  return [
    route({
      ...common,
      id: 'views.list',
      method: 'GET',
      path: '/views',
      summary: 'List the saved views of the signed-in user',
      success: { status: 200, description: 'The views by name', schema: arrayOf(SavedViewOut) },
      async handle({ principal }) {
        const views = await listSavedViews(deps.db.read, principal.orgId, Number(principal.subject))
        return ok({ data: views.map(present) })
      },
    }),
    route({
      ...common,
      id: 'views.save',
      method: 'POST',
      path: '/views',
      summary: 'Save a view; the user’s view of the same name is replaced',
      body: jsonBody('SavedViewDraft', draftShape, { name: 'Inactive at Dock 3', search: 'active=no' }),
      success: { status: 200, description: 'The view', schema: envelope(SavedViewOut) },
      errorStatuses: [409],
      async handle({ principal: { orgId, subject }, body }) {
        const view = { id: await deps.ids.next(orgId), ...body }
        const saved = await deps.db.withTenant(orgId, (tx) => saveView(tx, orgId, Number(subject), view))
        if (saved === null) throw apiError.conflict(`You can save at most ${maxSavedViews} views; delete one first`)
        return ok({ data: present(saved) })
      },
    }),
    route({
      ...common,
      id: 'views.delete',
      method: 'DELETE',
      path: '/views/{view_id}',
      ids: ['view_id'],
      summary: 'Delete a saved view',
      success: { status: 204, description: 'Deleted' },
      async handle({ principal: { orgId, subject }, params }) {
        const isDeleted = await deps.db.withTenant(orgId, (tx) =>
          deleteSavedView(tx, orgId, Number(subject), params.view_id),
        )
        if (!isDeleted) throw apiError.notFound('View')
        return noContent
      },
    }),
  ]
}
