import { mintCredentials, revokeCredential } from '../../auth/commands.ts'
import type { Credential, Minted } from '../../auth/credential.ts'
import { listCredentials } from '../../auth/credentials.sql.ts'
import type { AccountDeps } from '../../accounts/deps.ts'
import { assertEmailConfirmed } from '../../accounts/email-confirmation.ts'
import { instant, listOf, oneOf, id, text } from '../../http/validation/fields.ts'
import { limit, offset } from '../../http/validation/parameters.ts'
import { type AnyRoute, noContent, ok, route } from '../../http/route.ts'
import { nullable, objectSchema, optional } from '../../http/validation/schema.ts'
import { type Component, component, pageOf, envelope } from '../../http/openapi/response-schema.ts'
import { now } from '../../kernel/clock.ts'
import { apiError } from '../../kernel/errors.ts'
import { formatMillis } from '../../kernel/instant.ts'
import { credentialScopes } from '../../kernel/scopes.ts'
import { timestamp } from '../shared/wire.ts'
import { singleLine, formatNullable } from './fields.ts'

const scopeList = listOf(oneOf(credentialScopes), { min: 1, max: credentialScopes.length })
const stringList = listOf(text({ max: 255 }))

const identity = { id, jti: { schema: { type: 'string', format: 'uuid' }, parse: singleLine.parse } }

const createExample = { name: 'ERP sync', scopes: ['assets:read'], expires_at: null }

const createShape = { name: singleLine, scopes: scopeList, expires_at: optional(nullable(instant)) }

const ApiKeyCreated = component(
  'APIKeyCreated',
  {
    ...identity,
    key: singleLine,
    name: singleLine,
    scopes: stringList,
    created_at: timestamp,
    expires_at: nullable(timestamp),
  },
  {
    id: 3390415586620914,
    jti: '0b8c2a52-6a0f-4a53-9f0e-2f4d5a1d2c11',
    key: 'ls_5f4dcc3b5aa765d61d8327deb882cf995f4dcc3b5aa765d61d8327deb882cf99',
    name: 'ERP sync',
    scopes: ['assets:read'],
    created_at: '2026-05-04T08:00:00.000Z',
    expires_at: null,
  },
)

const ApiKeyItem = component(
  'APIKeyListItem',
  {
    ...identity,
    name: singleLine,
    scopes: stringList,
    created_at: timestamp,
    expires_at: nullable(timestamp),
    last_used_at: nullable(timestamp),
    created_by: nullable(id),
    created_by_key_id: nullable(id),
  },
  {
    id: 3390415586620914,
    jti: '0b8c2a52-6a0f-4a53-9f0e-2f4d5a1d2c11',
    name: 'ERP sync',
    scopes: ['assets:read'],
    created_at: '2026-05-04T08:00:00.000Z',
    expires_at: null,
    last_used_at: '2026-05-04T09:12:00.000Z',
    created_by: 5120093347718820,
    created_by_key_id: null,
  },
)

/** The contract requires these schemas in the public documents, although only sessions can use the endpoints. */
export const apiKeyComponents: readonly Component[] = [
  { name: 'APIKeyCreate', shape: createShape, schema: objectSchema(createShape), example: createExample },
  ApiKeyCreated,
  ApiKeyItem,
] as Component[]

const presentShared = (credential: Credential) => ({
  id: credential.id,
  jti: credential.clientId,
  name: credential.name,
  scopes: [...credential.scopes],
  created_at: formatMillis(credential.createdAt),
  expires_at: formatNullable(credential.expiresAt),
})

const presentCreated = ({ credential, clientSecret }: Minted) => ({ ...presentShared(credential), key: clientSecret })

const presentItem = (credential: Credential) => ({
  ...presentShared(credential),
  last_used_at: formatNullable(credential.lastUsedAt),
  created_by: credential.createdBy,
  created_by_key_id: null,
})

/** The path names an organization. A session may administer only its current organization. */
function ownOrganization(principal: { orgId: number }, orgId: number): number {
  if (principal.orgId !== orgId) throw apiError.forbidden('Switch to this organization first')
  return orgId
}

export function apiKeyRoutes(deps: AccountDeps): AnyRoute[] {
  const common = { group: 'API keys', access: 'session', scopes: ['keys:admin'] } as const
  return [
    route({
      ...common,
      id: 'api-keys.list',
      method: 'GET',
      path: '/orgs/{org_id}/api-keys',
      ids: ['org_id'],
      summary: 'List API keys',
      query: { parameters: { limit, offset } },
      success: { status: 200, description: 'A page of keys', schema: pageOf(ApiKeyItem) },
      async handle({ principal, params, query }) {
        const page = await listCredentials(deps.db.read, ownOrganization(principal, params.org_id), query)
        return ok({ data: page.rows.map(presentItem), ...query, total_count: page.total })
      },
    }),
    route({
      ...common,
      id: 'api-keys.create',
      method: 'POST',
      path: '/orgs/{org_id}/api-keys',
      ids: ['org_id'],
      summary: 'Create an API key; its secret is shown only once',
      ensureExists: async ({ principal, params }) => void ownOrganization(principal, params.org_id),
      body: { mediaType: 'application/json', name: 'APIKeyCreate', shape: createShape, example: createExample },
      success: { status: 201, description: 'The key', schema: envelope(ApiKeyCreated) },
      errorStatuses: [409],
      async handle({ principal, params, body }) {
        const orgId = ownOrganization(principal, params.org_id)
        await assertEmailConfirmed(deps, Number(principal.subject))
        const expiresAt = body.expires_at ?? null
        if (expiresAt !== null && expiresAt <= now(deps.clock))
          throw apiError.invalid({ field: 'expires_at', code: 'invalid_value', message: 'expires_at is in the past' })
        const draft = {
          name: body.name,
          scopes: [...new Set(body.scopes)],
          expiresAt,
          createdBy: Number(principal.subject),
        }
        const [minted] = await mintCredentials(deps, orgId, draft, 1)
        return { status: 201, body: { data: presentCreated(minted!) } }
      },
    }),
    route({
      ...common,
      id: 'api-keys.revoke',
      method: 'DELETE',
      path: '/orgs/{org_id}/api-keys/{key_id}',
      ids: ['org_id', 'key_id'],
      summary: 'Revoke an API key',
      success: { status: 204, description: 'Revoked' },
      async handle({ principal, params }) {
        const orgId = ownOrganization(principal, params.org_id)
        if (!(await revokeCredential(deps, orgId, { id: params.key_id }))) throw apiError.notFound('API key')
        return noContent
      },
    }),
  ]
}
