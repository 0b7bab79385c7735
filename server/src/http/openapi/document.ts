import { type ErrorKind, errorKinds, fieldCodes } from '../../kernel/errors.ts'
import type { Parameter } from '../validation/parameters.ts'
import { burst } from '../rate-limit.ts'
import { type AnyRoute, variablesOf } from '../route.ts'
import { type JsonSchema, objectSchema } from '../validation/schema.ts'
import { type Component, refTo } from './response-schema.ts'

export interface DescriptionOptions {
  /** The URL under `servers`. */
  serverUrl: string
  description: string
  routes: readonly AnyRoute[]
  components: readonly Component[]
}

const allKinds = Object.entries(errorKinds) as [ErrorKind, { status: number; title: string }][]

const ErrorSchema: JsonSchema = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['type', 'title', 'status', 'detail', 'instance', 'request_id'],
      properties: {
        type: { type: 'string', 'x-extensible-enum': Object.keys(errorKinds), description: 'Identifies the error.' },
        title: { type: 'string', description: 'Fixed per type.' },
        status: { type: 'integer', description: 'The HTTP status code.' },
        detail: { type: 'string', description: 'Human-readable; the wording may change.' },
        instance: { type: 'string', description: 'The request path.' },
        request_id: { type: 'string', description: 'Equals the X-Request-ID header.' },
        fields: { type: 'array', items: { $ref: '#/components/schemas/FieldProblem' } },
      },
    },
  },
}

const FieldProblemSchema: JsonSchema = {
  type: 'object',
  required: ['field', 'code', 'message'],
  properties: {
    field: { type: 'string' },
    code: { type: 'string', 'x-extensible-enum': fieldCodes },
    message: { type: 'string' },
    params: { type: 'object', additionalProperties: true },
  },
}

const header = (description: string, schema: JsonSchema): JsonSchema => ({ description, schema })

const headers: Record<string, JsonSchema> = {
  'X-Request-ID': header('The value that the client sent, otherwise a new ULID.', { type: 'string' }),
  'RateLimit-Policy': header('Quota and window in seconds.', { type: 'string', example: '60;w=60' }),
  'X-RateLimit-Limit': header('Capacity of the bucket.', { type: 'integer', example: burst }),
  'X-RateLimit-Remaining': header('Requests left in the bucket.', { type: 'integer' }),
  'X-RateLimit-Reset': header('Unix time in seconds at which the bucket is full again.', { type: 'integer' }),
}

const headerRefs = Object.fromEntries(
  Object.keys(headers).map((name) => [name, { $ref: `#/components/headers/${name}` }]),
)

const extraHeaders: Record<number, Record<string, JsonSchema>> = {
  401: { 'WWW-Authenticate': header('How to authenticate.', { type: 'string' }) },
  429: { 'Retry-After': header('Whole seconds to wait, at least 1.', { type: 'integer', minimum: 1 }) },
}

const sampleDetails: Record<number, string> = {
  400: 'name is required',
  401: 'Invalid or expired token',
  403: 'Missing required scope: assets:write',
  404: 'Asset not found',
  409: 'A tag with this type and value already exists',
  410: 'This endpoint was removed on the date in the Sunset header',
  415: 'Content-Type must be application/json',
  422: 'The credential does not belong to an organization',
  429: 'Rate limit exceeded; retry after 1 second',
  500: 'An unexpected error occurred',
}

function errorResponse(status: number): JsonSchema {
  const kinds = allKinds.filter(([, kind]) => kind.status === status)
  const [type, { title }] = kinds[0]!
  const fields = type === 'validation_error' ? [{ field: 'name', code: 'required', message: 'name is required' }] : null
  return {
    description: kinds.map(([, kind]) => kind.title).join(' or '),
    headers: { ...headerRefs, ...extraHeaders[status] },
    'x-error-types': kinds.map(([kind]) => kind),
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/Error' },
        example: {
          error: {
            type,
            title,
            status,
            detail: sampleDetails[status],
            instance: '/api/v1/assets',
            request_id: '01JBX3V5T8Q9Z2R4W6Y8A0C2E4',
            ...(fields === null ? {} : { fields }),
          },
        },
      },
    },
  }
}

/** Derives every error status of an operation from its route. */
export function errorStatusesOf(route: AnyRoute): number[] {
  // Sessions have no rate limit, but a busy service answers 429 to them, too.
  const statuses = new Set<number>([400, 429, 500, ...(route.errorStatuses ?? [])])
  if (route.access !== 'public') statuses.add(401)
  if (route.scopes.length > 0 || route.access === 'session') statuses.add(403)
  if (route.ids !== undefined) for (const status of [403, 404]) statuses.add(status)
  if (route.keys !== undefined) statuses.add(404)
  if (route.deprecation !== undefined) statuses.add(410)
  if (route.body !== undefined || route.upload !== undefined) statuses.add(415)
  return [...statuses].sort()
}

const surrogateId = { type: 'integer', format: 'int64', minimum: 1, maximum: Number.MAX_SAFE_INTEGER }
const naturalKey = {
  description: 'The natural key, percent-encoded.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
}

function parameters(route: AnyRoute): JsonSchema[] {
  const path = variablesOf(route).map((name) => ({
    name,
    in: 'path',
    required: true,
    ...(route.keys?.includes(name) ? naturalKey : { schema: surrogateId }),
  }))
  const query = Object.entries((route.query?.parameters ?? {}) as Record<string, Parameter<unknown>>).map(
    ([name, { schema, description, repeatable }]) => ({
      name,
      in: 'query',
      ...(description === undefined ? {} : { description }),
      ...(repeatable ? { style: 'form', explode: true } : {}),
      schema,
    }),
  )
  const header = (route.headers ?? []).map((parameter) => ({ ...parameter, in: 'header' }))
  return [...path, ...query, ...header]
}

const bothSchemes = [{ BearerAuth: [] }, { APIKey: [] }]

function operation(route: AnyRoute): JsonSchema {
  const { success, body, upload } = route
  const parameterList = parameters(route)
  const locationText = success.location ?? (route.id.endsWith('.create') ? 'Path of the new record.' : undefined)
  const requestContent =
    upload?.content ?? (body && { [body.mediaType]: { schema: refTo(body), example: body.example } })
  const responseContent =
    success.content ??
    (success.schema && {
      [success.mediaType ?? 'application/json']: { schema: success.schema, example: success.example },
    })
  return {
    operationId: route.id,
    tags: [route.group],
    summary: route.summary,
    ...(route.description === undefined ? {} : { description: route.description }),
    ...(route.deprecation === undefined ? {} : { deprecated: true }),
    ...(route.access === 'public' ? { security: [] } : { security: bothSchemes, 'x-required-scopes': route.scopes }),
    ...(parameterList.length > 0 ? { parameters: parameterList } : {}),
    ...(requestContent === undefined ? {} : { requestBody: { required: true, content: requestContent } }),
    responses: {
      [success.status]: {
        description: success.description,
        headers: {
          ...headerRefs,
          ...(locationText === undefined ? {} : { Location: header(locationText, { type: 'string' }) }),
        },
        ...(responseContent === undefined ? {} : { content: responseContent }),
      },
      ...Object.fromEntries(
        errorStatusesOf(route).map((status) => [String(status), { $ref: `#/components/responses/${status}` }]),
      ),
    },
  }
}

/** Builds the OpenAPI document from the routes that serve the requests. */
export function describeApi(options: DescriptionOptions) {
  const paths: Record<string, Record<string, JsonSchema>> = {}
  const bodies: Record<string, JsonSchema> = {}
  for (const route of options.routes) {
    const path = `/api/v1${route.path}`
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route) }
    if (route.body !== undefined) bodies[route.body.name] = objectSchema(route.body.shape)
  }
  const statuses = new Set(options.routes.flatMap(errorStatusesOf))
  return {
    openapi: '3.0.3',
    info: {
      title: 'API',
      version: 'v1',
      description: options.description,
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    servers: [{ url: options.serverUrl }],
    tags: [...new Set(options.routes.map((route) => route.group))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        BearerAuth: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
        APIKey: { type: 'apiKey', in: 'header', name: 'Authorization', description: 'Bearer <jwt>' },
      },
      headers,
      responses: Object.fromEntries([...statuses].sort().map((status) => [String(status), errorResponse(status)])),
      schemas: {
        ...Object.fromEntries(options.components.map((part) => [part.name, { ...part.schema, example: part.example }])),
        ...bodies,
        Error: ErrorSchema,
        FieldProblem: FieldProblemSchema,
      },
    },
  }
}
