/** Makes the types of the web app and of the client from the descriptions of the API; with --check only says whether they are as they would be made. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root } from './ensure.mjs'

const entry = createRequire(join(root, 'web/package.json')).resolve('openapi-typescript')
const loaded = await import(pathToFileURL(entry).href)
const { default: openapiTS, astToString } = loaded.default?.astToString === undefined ? loaded : loaded.default

/** The client calls operations by their names, so it needs to know at run time where each of them is. */
function routesOf({ paths }) {
  const rows = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId }]) => {
      const row = JSON.stringify([method.toUpperCase(), path]).replace(',', ', ')
      return `    ${JSON.stringify(operationId)}: ${row},\n`
    }),
  )
  return `\nexport const routes = {\n${rows.join('')}} as const;\n`
}

/** The web app takes the types of the public API from the client. */
const targets = [
  ['server/openapi/web.json', 'web/src/api/generated/web.ts'],
  ['server/openapi/primary.json', 'client/src/generated/primary.ts', routesOf],
  ['server/openapi/natural-key.json', 'client/src/generated/natural-key.ts', routesOf],
]

for (const [source, target, more = () => ''] of targets) {
  const description = JSON.parse(readFileSync(join(root, source), 'utf8'))
  const made = astToString(await openapiTS(description))
  const text = `/** Made from ${source} by scripts/api-types.mjs. */\n\n${made}${more(description)}`
  const path = join(root, target)
  if (!process.argv.includes('--check')) writeFileSync(path, text)
  else if (!existsSync(path) || readFileSync(path, 'utf8') !== text) {
    process.stderr.write(`${target} is not as ${source} would make it: run node scripts/api-types.mjs\n`)
    process.exitCode = 1
  }
}
