import { ensureBuilt, ensurePackages } from './ensure.mjs'

try {
  ensurePackages({ dev: false })
  ensureBuilt()
} catch (error) {
  process.stderr.write(`${error.message}\n`)
  process.exit(1)
}
await import('../server/dist/main.js')
