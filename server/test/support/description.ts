import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import { describePrimary } from '../../src/api/primary/description.ts'
import { primarySurface } from '../../src/api/primary/surface.ts'
import { apiKeyComponents } from '../../src/api/web/api-keys.ts'
import { describeWeb } from '../../src/api/web/description.ts'
import { webSurface } from '../../src/api/web/surface.ts'
import type { AnyRoute } from '../../src/http/route.ts'
import { Router } from '../../src/http/router.ts'
import { evidenceFolder } from './statements.ts'

/** The rows alone: nothing in them is called, so they need nothing. */
export const primaryRoutes: readonly AnyRoute[] = primarySurface(new Proxy({}, {}) as never).routes

export const document = describePrimary(primaryRoutes, null, apiKeyComponents)

/** The rows of the web app's own endpoints, and their description, which is not published. */
export const webRoutes: readonly AnyRoute[] = webSurface(new Proxy({}, {}) as never, undefined as never).routes

export const webDocument = describeWeb(webRoutes)

type Schema = Record<string, unknown>

/** OpenAPI 3.0 says `nullable`, JSON Schema a list of types; and answers must not carry keys nobody declared. */
function toJsonSchema(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(toJsonSchema)
  if (typeof node !== 'object' || node === null) return node
  const { nullable, example: _example, ...rest } = node as Schema
  const converted = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, toJsonSchema(value)]))
  if (converted['type'] === 'object' && converted['properties'] !== undefined)
    converted['additionalProperties'] ??= false
  return nullable === true ? { anyOf: [converted, { type: 'null' }] } : converted
}

const ajv = new Ajv({ strict: false, allErrors: true })
;(addFormats as unknown as (ajv: Ajv) => void)(ajv)
ajv.addSchema({ $id: 'api', components: toJsonSchema(document.components) } as Schema)
ajv.addSchema({ $id: 'web', components: toJsonSchema(webDocument.components) } as Schema)

interface Described {
  route: AnyRoute
  document: Pick<typeof document, 'paths'>
  id: 'api' | 'web'
}

const router = new Router<Described>()
for (const route of primaryRoutes) router.add(route.method, `/api/v1${route.path}`, { route, document, id: 'api' })
for (const route of webRoutes)
  router.add(route.method, `/api/v1${route.path}`, { route, document: webDocument, id: 'web' })

const errorSchema = { $ref: 'api#/components/schemas/Error' }
const compiled = new Map<unknown, ReturnType<Ajv['compile']>>()

function validator(schema: unknown, id: string): ReturnType<Ajv['compile']> {
  const known = compiled.get(schema)
  if (known !== undefined) return known
  const text = JSON.stringify(toJsonSchema(schema)).replaceAll('"#/components/', `"${id}#/components/`)
  const made = ajv.compile(JSON.parse(text) as Schema)
  compiled.set(schema, made)
  return made
}

const answers = new Set<string>()

interface Answered {
  status: number
  headers: Record<string, string | undefined>
  json: unknown
}

/** Fails the test when an answer is not one the description declares. */
export function checkAnswer(method: string, path: string, reply: Answered): void {
  const found = router.find(path)?.methods.get(method === 'HEAD' ? 'GET' : method)
  if (found === undefined || (reply.status === 403 && reply.json === undefined)) return
  const { route } = found
  const operation = (found.document.paths[`/api/v1${route.path}`] as Record<string, { responses: Schema }>)[
    route.method.toLowerCase()
  ]!
  const isError = reply.status >= 400
  if (!(reply.status in operation.responses))
    throw new Error(`${route.id} answered ${reply.status}, which is not described`)
  answers.add(`${route.id} ${reply.status}`)
  if (method === 'HEAD' || reply.status === 204) return
  if (!isError && route.success.schema === undefined) return
  const check = validator(isError ? errorSchema : route.success.schema, found.id)
  if (!check(reply.json))
    throw new Error(
      `${route.id} ${reply.status} does not match its description: ${ajv.errorsText(check.errors)}\n${JSON.stringify(reply.json)}`,
    )
}

/** Remembers which answers were seen, so that a later check can name the ones no test produced. */
export function saveAnswers(): void {
  mkdirSync(evidenceFolder, { recursive: true })
  const name = `answers-${process.pid}-${Math.random().toString(36).slice(2)}.json`
  writeFileSync(join(evidenceFolder, name), JSON.stringify([...answers]))
}
