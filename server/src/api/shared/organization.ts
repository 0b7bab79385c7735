import type { Database } from '../../db/database.ts'
import { listOf, id, text } from '../../http/validation/fields.ts'
import { type AnyRoute, ok, route } from '../../http/route.ts'
import { component, envelope, envelopeExample } from '../../http/openapi/response-schema.ts'
import { ApiError } from '../../kernel/errors.ts'
import { scopes } from '../../kernel/scopes.ts'
import { findOrganization } from '../../organizations/organizations.sql.ts'

const shortText = text({ max: 255 })

export const OrganizationOut = component(
  'Organization',
  {
    id: id,
    name: shortText,
    scopes: listOf({ schema: { type: 'string', 'x-extensible-enum': scopes }, parse: shortText.parse }),
    api_key_id: { schema: { type: 'string', format: 'uuid' }, parse: shortText.parse },
  },
  {
    id: 2241503377195508,
    name: 'Northwind Logistics',
    scopes: ['assets:read', 'tracking:read'],
    api_key_id: '0b8c2a52-6a0f-4a53-9f0e-2f4d5a1d2c11',
  },
)

export function organizationRoute(deps: { db: Database }): AnyRoute {
  return route({
    id: 'orgs.me',
    method: 'GET',
    path: '/orgs/me',
    group: 'Organization',
    access: 'credential',
    scopes: [],
    summary: 'Get the organization of the credential',
    description: 'Returns the organization and scopes of the credential to which the token belongs.',
    success: {
      status: 200,
      description: 'The organization',
      schema: envelope(OrganizationOut),
      example: envelopeExample(OrganizationOut),
    },
    errorStatuses: [422],
    async handle({ principal }) {
      const organization = await findOrganization(deps.db.read, principal.orgId)
      if (organization === null)
        throw new ApiError('missing_org_context', 'The credential does not belong to an organization')
      const { orgId: id, name } = organization
      return ok({ data: { id, name, scopes: principal.namedScopes, api_key_id: principal.subject } })
    },
  })
}
