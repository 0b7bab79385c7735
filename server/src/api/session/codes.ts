import { listOf, oneOf, id, text } from '../../http/validation/fields.ts'
import { type AnyRoute, ok, route } from '../../http/route.ts'
import { nullable } from '../../http/validation/schema.ts'
import { type Output, arrayOf, component } from '../../http/openapi/response-schema.ts'
import type { RecordDeps } from '../../records/record.ts'
import { type Resolved, resolveCodes } from '../../tracking/codes.sql.ts'
import { timestamp } from '../shared/wire.ts'
import { jsonBody, singleLine, formatNullable } from './fields.ts'

const code = text({ min: 1, max: 255 })

export const CodeOut = component(
  'ResolvedCode',
  {
    code,
    kind: nullable(oneOf(['asset', 'location'])),
    id: nullable(id),
    external_key: nullable(singleLine),
    name: nullable(singleLine),
    location_id: nullable(id),
    location_name: nullable(singleLine),
    last_seen_at: nullable(timestamp),
  },
  {
    code: '4006381333931',
    kind: null,
    id: null,
    external_key: null,
    name: null,
    location_id: null,
    location_name: null,
    last_seen_at: null,
  },
)

const presentCode = (resolved: Resolved): Output<(typeof CodeOut)['shape']> => ({
  code: resolved.code,
  kind: resolved.kind,
  id: resolved.id,
  external_key: resolved.externalKey,
  name: resolved.name,
  location_id: resolved.locationId,
  location_name: resolved.locationName,
  last_seen_at: formatNullable(resolved.lastSeenAt),
})

const codesBody = jsonBody('CodesResolve', { codes: listOf(code, { max: 1000 }) }, { codes: ['4006381333931'] })

export const codesRoute = (deps: RecordDeps): AnyRoute =>
  route({
    group: 'Overview and search',
    access: 'session',
    scopes: ['tracking:read'],
    id: 'codes.resolve',
    method: 'POST',
    path: '/codes/resolve',
    summary: 'Resolve scanned codes to assets and locations',
    description: 'A code matches a tag of any type first, then the key of an asset, then the key of a location.',
    body: codesBody,
    success: {
      status: 200,
      description: 'One entry per code, in the same order',
      schema: arrayOf(CodeOut),
    },
    async handle({ principal, body }) {
      return ok({ data: (await resolveCodes(deps.db.read, principal.orgId, body.codes)).map(presentCode) })
    },
  })
