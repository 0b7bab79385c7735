/** Generates the API types of the web app and the client from the OpenAPI documents. `--check` only reports stale files. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root } from './bootstrap.mjs'

const entry = createRequire(join(root, 'web/package.json')).resolve('openapi-typescript')
const loaded = await import(pathToFileURL(entry).href)
const {
  default: openapiTS,
  astToString,
  NULL,
  STRING,
  tsLiteral,
} = loaded.default?.astToString === undefined ? loaded : loaded.default
const { default: ts } = await import(pathToFileURL(createRequire(entry).resolve('typescript')).href)

/** A set of values that may grow: the known values, and any other string. */
function typeOfExtensible(schema) {
  const values = schema['x-extensible-enum']
  if (values === undefined || 'enum' in schema) return undefined
  const others = ts.factory.createIntersectionTypeNode([STRING, ts.factory.createTypeLiteralNode([])])
  return ts.factory.createUnionTypeNode([
    ...values.map((value) => tsLiteral(value)),
    ts.factory.createParenthesizedType(others),
    ...(schema.nullable ? [NULL] : []),
  ])
}

/** The client calls operations by name, so it needs the method and path of each operation at run time. */
function routesOf({ paths }) {
  const lines = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId }]) => {
      const route = JSON.stringify([method.toUpperCase(), path]).replace(',', ', ')
      return `    ${JSON.stringify(operationId)}: ${route},\n`
    }),
  )
  return `\nexport const routes = {\n${lines.join('')}} as const;\n`
}

/** The web app imports the types of the public API from the client. */
const targets = [
  ['server/openapi/web.json', 'web/src/api/generated/web.ts'],
  ['server/openapi/primary.json', 'client/src/generated/primary.ts', routesOf],
  ['server/openapi/natural-key.json', 'client/src/generated/natural-key.ts', routesOf],
]

for (const [source, target, appendix = () => ''] of targets) {
  const document = JSON.parse(readFileSync(join(root, source), 'utf8'))
  const types = astToString(await openapiTS(document, { transform: typeOfExtensible }))
  const text = `/** Made from ${source} by scripts/api-types.mjs. */\n\n${types}${appendix(document)}`
  const path = join(root, target)
  if (!process.argv.includes('--check')) writeFileSync(path, text)
  else if (!existsSync(path) || readFileSync(path, 'utf8') !== text) {
    process.stderr.write(`${target} does not match ${source}. Run node scripts/api-types.mjs.\n`)
    process.exitCode = 1
  }
}
