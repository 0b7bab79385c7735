/** Makes the types of the web app from the descriptions of the API; with --check only says whether they are as they would be made. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root } from './ensure.mjs'

const entry = createRequire(join(root, 'web/package.json')).resolve('openapi-typescript')
const loaded = await import(pathToFileURL(entry).href)
const { default: openapiTS, astToString } = loaded.default?.astToString === undefined ? loaded : loaded.default

const targets = [
  ['server/openapi/primary.json', 'web/src/api/primary.ts'],
  ['server/openapi/web.json', 'web/src/api/web.ts'],
]

for (const [source, target] of targets) {
  const made = astToString(await openapiTS(JSON.parse(readFileSync(join(root, source), 'utf8'))))
  const text = `/** Made from ${source} by scripts/web-types.mjs. */\n\n${made}`
  const path = join(root, target)
  if (!process.argv.includes('--check')) writeFileSync(path, text)
  else if (!existsSync(path) || readFileSync(path, 'utf8') !== text) {
    process.stderr.write(`${target} is not as ${source} would make it: run node scripts/web-types.mjs\n`)
    process.exitCode = 1
  }
}
