import { ensureBuilt, ensurePackages } from './ensure.mjs'

try {
  ensurePackages({ dev: false })
  ensureBuilt('client')
} catch (error) {
  process.stderr.write(`${error.message}\n`)
  process.exit(1)
}
await import('../client/bin/lastseen.mjs')
