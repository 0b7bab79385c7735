/** Writes the description of the API to server/openapi, made of the rows that serve it. A test fails while the file is stale. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ensureBuilt, root } from './ensure.mjs'

ensureBuilt()
const { describePrimary } = await import('../server/dist/api/primary/description.js')
const { primarySurface } = await import('../server/dist/api/primary/surface.js')
const { apiKeyComponents } = await import('../server/dist/api/web/api-keys.js')

// Nothing in the rows is called, so they need nothing.
const { routes } = primarySurface(new Proxy({}, {}))
const document = describePrimary(routes, null, apiKeyComponents)

const folder = join(root, 'server/openapi')
mkdirSync(folder, { recursive: true })
writeFileSync(join(folder, 'primary.json'), `${JSON.stringify(document, null, 2)}\n`)
process.stdout.write(`server/openapi/primary.json: ${routes.length} operations\n`)
