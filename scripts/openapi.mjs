/** Generates the OpenAPI documents in server/openapi from the routes. A test fails while one of them is stale. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildWorkspaces, root } from './bootstrap.mjs'

buildWorkspaces()
const { describeNaturalKey, naturalKeySurface } = await import('../server/dist/api/natural-key/surface.js')
const { describePrimary } = await import('../server/dist/api/primary/openapi.js')
const { primarySurface } = await import('../server/dist/api/primary/surface.js')
const { apiKeyComponents } = await import('../server/dist/api/session/api-keys.js')
const { describeSessionApi } = await import('../server/dist/api/session/openapi.js')
const { sessionSurface } = await import('../server/dist/api/session/surface.js')

const folder = join(root, 'server/openapi')
mkdirSync(folder, { recursive: true })

function write(name, document) {
  writeFileSync(join(folder, name), `${JSON.stringify(document, null, 2)}\n`)
  const operations = Object.values(document.paths).flatMap((methods) => Object.keys(methods))
  process.stdout.write(`server/openapi/${name}: ${operations.length} operations\n`)
}

// No handler is called, so the routes need no dependencies.
const noDeps = new Proxy({}, {})
write('primary.json', describePrimary(primarySurface(noDeps).routes, '/', apiKeyComponents))
write(
  'natural-key.json',
  describeNaturalKey(naturalKeySurface(noDeps, '/natural').routes, '/natural', apiKeyComponents),
)
write('web.json', describeSessionApi(sessionSurface(noDeps).routes))
