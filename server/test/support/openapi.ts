import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import { describeNaturalKey, naturalKeySurface } from '../../src/api/natural-key/surface.ts'
import { describePrimary } from '../../src/api/primary/openapi.ts'
import { primarySurface } from '../../src/api/primary/surface.ts'
import { apiKeyComponents } from '../../src/api/session/api-keys.ts'
import { describeSessionApi } from '../../src/api/session/openapi.ts'
import { sessionSurface } from '../../src/api/session/surface.ts'
import type { AnyRoute } from '../../src/http/route.ts'
import { Router } from '../../src/http/router.ts'
import { coverageFolder } from './statements.ts'

/** Only the route definitions are used: no handler is called, so no dependency is needed. */
const nothing = new Proxy({}, {}) as never
export const primaryRoutes: readonly AnyRoute[] = primarySurface(nothing).routes
export const naturalRoutes: readonly AnyRoute[] = naturalKeySurface(nothing, '/natural').routes

/** The routes of the session API and its OpenAPI document, which is not published. */
export const webRoutes: readonly AnyRoute[] = sessionSurface(nothing).routes

export const webDocument = describeSessionApi(webRoutes)

export const primaryDocument = describePrimary(primaryRoutes, '/', apiKeyComponents)
export const naturalDocument = describeNaturalKey(naturalRoutes, '/natural', apiKeyComponents)

interface Described {
  /** The name of its file in server/openapi. */
  name: string
  base: string
  routes: readonly AnyRoute[]
  document: typeof primaryDocument
}

const surfaces: Described[] = [
  { name: 'primary', base: '/api/v1', routes: primaryRoutes, document: primaryDocument },
  { name: 'natural-key', base: '/natural/api/v1', routes: naturalRoutes, document: naturalDocument },
  { name: 'web', base: '/api/v1', routes: webRoutes, document: webDocument as typeof primaryDocument },
]

type Schema = Record<string, unknown>

/** Converts `nullable` of OpenAPI 3.0 to JSON Schema and forbids undeclared keys in responses. */
function toJsonSchema(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(toJsonSchema)
  if (typeof node !== 'object' || node === null) return node
  const { nullable, example: _example, ...rest } = node as Schema
  const converted = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, toJsonSchema(value)]))
  if (converted['type'] === 'object' && converted['properties'] !== undefined)
    converted['additionalProperties'] ??= false
  return nullable === true ? { anyOf: [converted, { type: 'null' }] } : converted
}

/** The format of every date-time in a response: UTC with exactly three fractional digits. */
export const wireTimestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

const ajv = new Ajv({ strict: false, allErrors: true })
;(addFormats as unknown as (ajv: Ajv) => void)(ajv)
ajv.addFormat('date-time', wireTimestamp)
const router = new Router<{ surface: Described; route: AnyRoute }>()
for (const surface of surfaces) {
  ajv.addSchema({ $id: surface.name, components: toJsonSchema(surface.document.components) } as Schema)
  for (const route of surface.routes) router.add(route.method, surface.base + route.path, { surface, route })
}

const errorSchema = { $ref: '#/components/schemas/Error' }
const compiled = new Map<string, ReturnType<Ajv['compile']>>()

function validator(surface: Described, schema: unknown): ReturnType<Ajv['compile']> {
  const text = JSON.stringify(toJsonSchema(schema)).replaceAll('"#/components/', `"${surface.name}#/components/`)
  const known = compiled.get(text)
  if (known !== undefined) return known
  const made = ajv.compile(JSON.parse(text) as Schema)
  compiled.set(text, made)
  return made
}

const answers = new Set<string>()

interface Answered {
  status: number
  headers: Record<string, string | undefined>
  json: unknown
}

/** Throws when the OpenAPI document does not declare the response. */
export function assertDescribedResponse(method: string, path: string, reply: Answered): void {
  const match = router.find(path.split('?')[0]!)?.methods.get(method === 'HEAD' ? 'GET' : method)
  if (match === undefined || (reply.status === 403 && reply.json === undefined)) return
  const { surface, route } = match
  const methods = surface.document.paths[`/api/v1${route.path}`] as Record<string, { responses: Schema }>
  const operation = methods[route.method.toLowerCase()]!
  const isError = reply.status >= 400
  if (!(reply.status in operation.responses))
    throw new Error(`${route.id} answered ${reply.status}, which is not described`)
  answers.add(`${surface.name} ${route.id} ${reply.status}`)
  if (method === 'HEAD' || reply.status === 204) return
  if (!isError && (route.success.schema === undefined || route.success.mediaType !== undefined)) return
  const check = validator(surface, isError ? errorSchema : route.success.schema)
  if (!check(reply.json))
    throw new Error(
      `${route.id} ${reply.status} does not match its description: ${ajv.errorsText(check.errors)}\n${JSON.stringify(reply.json)}`,
    )
}

/** Records the seen responses, so that a later check can name the declared responses that no test produced. */
export function saveSeenResponses(): void {
  mkdirSync(coverageFolder, { recursive: true })
  const name = `answers-${process.pid}-${Math.random().toString(36).slice(2)}.json`
  writeFileSync(join(coverageFolder, name), JSON.stringify([...answers]))
}
