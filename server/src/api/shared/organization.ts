import type { Database } from '../../db/database.ts'
import { listOf, reference, text } from '../../http/fields.ts'
import { type AnyRoute, ok, route } from '../../http/route.ts'
import { component, single, singleExample } from '../../http/shape.ts'
import { Refusal } from '../../kernel/errors.ts'
import { scopes } from '../../kernel/scopes.ts'
import { findOrganization } from '../../organizations/organizations.sql.ts'

const words = text({ max: 255 })

export const OrganizationOut = component(
  'Organization',
  {
    id: reference,
    name: words,
    scopes: listOf({ schema: { type: 'string', 'x-extensible-enum': scopes }, read: words.read }),
    api_key_id: { schema: { type: 'string', format: 'uuid' }, read: words.read },
  },
  {
    id: 2241503377195508,
    name: 'Northwind Logistics',
    scopes: ['assets:read', 'tracking:read'],
    api_key_id: '0b8c2a52-6a0f-4a53-9f0e-2f4d5a1d2c11',
  },
)

export function organizationRoute(needs: { db: Database }): AnyRoute {
  return route({
    id: 'orgs.me',
    method: 'GET',
    path: '/orgs/me',
    group: 'Organization',
    access: 'credential',
    scopes: [],
    summary: 'Who am I',
    description: 'The organization and scopes of the credential behind the token.',
    success: {
      status: 200,
      description: 'The organization',
      schema: single(OrganizationOut),
      example: singleExample(OrganizationOut),
    },
    refusals: [422],
    async handle({ caller }) {
      const organization = await findOrganization(needs.db.read, caller.orgId)
      if (organization === null)
        throw new Refusal('missing_org_context', 'The credential does not belong to an organization')
      const { orgId: id, name } = organization
      return ok({ data: { id, name, scopes: caller.namedScopes, api_key_id: caller.subject } })
    },
  })
}
