/** Writes the descriptions of the API to server/openapi, made of the rows that serve it. A test fails while one is stale. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ensureBuilt, root } from './ensure.mjs'

ensureBuilt()
const { describePrimary } = await import('../server/dist/api/primary/description.js')
const { primarySurface } = await import('../server/dist/api/primary/surface.js')
const { apiKeyComponents } = await import('../server/dist/api/web/api-keys.js')
const { describeWeb } = await import('../server/dist/api/web/description.js')
const { webSurface } = await import('../server/dist/api/web/surface.js')

// Nothing in the rows is called, so they need nothing.
const nothing = new Proxy({}, {})
const primary = primarySurface(nothing).routes
const web = webSurface(nothing, nothing).routes
const documents = {
  'primary.json': describePrimary(primary, null, apiKeyComponents),
  'web.json': describeWeb(web),
}

const folder = join(root, 'server/openapi')
mkdirSync(folder, { recursive: true })
for (const [name, document] of Object.entries(documents)) {
  writeFileSync(join(folder, name), `${JSON.stringify(document, null, 2)}\n`)
  process.stdout.write(`server/openapi/${name}: ${Object.keys(document.paths).length} paths\n`)
}
