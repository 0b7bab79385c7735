import {
  type TokenEndpointDeps,
  type TokenPair,
  exchangeCredentials,
  exchangeRefresh,
} from '../../auth/token-endpoint.ts'
import { text } from '../../http/validation/fields.ts'
import { type AnyRoute, type Reply, route } from '../../http/route.ts'
import { type Field, type Infer, optional } from '../../http/validation/schema.ts'
import { component, refTo } from '../../http/openapi/response-schema.ts'
import { type FieldProblem, apiError, throwIfAny } from '../../kernel/errors.ts'
import { wholeNumber } from './wire.ts'

const secretText = text({ min: 1, max: 1024 })

const tokenShape = {
  grant_type: {
    schema: { type: 'string', 'x-extensible-enum': ['client_credentials', 'refresh_token'] },
    parse: text({ min: 1, max: 255 }).parse,
  } satisfies Field<string>,
  client_id: optional(secretText),
  client_secret: optional(secretText),
  refresh_token: optional(secretText),
}

type TokenRequest = Infer<typeof tokenShape>

export const TokenOut = component(
  'Token',
  { access_token: secretText, refresh_token: secretText, token_type: secretText, expires_in: wholeNumber },
  {
    access_token: 'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJ…',
    refresh_token: 'lsr_1ka9.0b8c2a52-…',
    token_type: 'Bearer',
    expires_in: 900,
  },
)

const presentTokens = (pair: TokenPair) => ({
  access_token: pair.accessToken,
  refresh_token: pair.refreshToken,
  token_type: 'Bearer',
  expires_in: pair.expiresInSeconds,
})

function exchange(deps: TokenEndpointDeps, body: TokenRequest, address: string): Promise<TokenPair> {
  if (body.grant_type === 'client_credentials') {
    const { client_id: clientId, client_secret: clientSecret } = requireFields(body, 'client_id', 'client_secret')
    return exchangeCredentials(deps, { clientId, clientSecret, address })
  }
  if (body.grant_type === 'refresh_token')
    return exchangeRefresh(deps, { token: requireFields(body, 'refresh_token').refresh_token, address })
  throw apiError.invalid({ field: 'grant_type', code: 'invalid_value', message: 'grant_type is not supported' })
}

/** The required fields depend on the grant type, so the handler checks them and not the schema. */
function requireFields<K extends keyof TokenRequest>(body: TokenRequest, ...fields: K[]): Record<K, string> {
  const missing = fields.filter((field) => body[field] === undefined)
  throwIfAny(missing.map((field): FieldProblem => ({ field, code: 'required', message: `${field} is required` })))
  return body as Record<K, string>
}

export function tokenRoute(deps: TokenEndpointDeps): AnyRoute {
  return route({
    id: 'oauth.token',
    method: 'POST',
    path: '/oauth/token',
    group: 'Authentication',
    access: 'public',
    scopes: [],
    summary: 'Exchange a credential or a refresh token for an access token',
    description:
      'A refresh token can be used once: store the new one. Using it again revokes all refresh tokens of its family. After too many failures the response is 429.',
    body: {
      mediaType: 'application/json',
      name: 'TokenRequest',
      shape: tokenShape,
      example: {
        grant_type: 'client_credentials',
        client_id: '0b8c2a52-6a0f-4a53-9f0e-2f4d5a1d2c11',
        client_secret: 'ls_5f4dcc3b5aa765d61d8327deb882cf995f4dcc3b5aa765d61d8327deb882cf99',
      },
    },
    success: { status: 200, description: 'A token pair', schema: refTo(TokenOut), example: TokenOut.example },
    errorStatuses: [401, 429],
    async handle({ body, address }): Promise<Reply> {
      const pair = await exchange(deps, body, address)
      return { status: 200, body: presentTokens(pair), headers: { Pragma: 'no-cache' } }
    },
  })
}
