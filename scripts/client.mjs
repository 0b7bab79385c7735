import { buildWorkspaces, installPackages } from './bootstrap.mjs'

try {
  installPackages({ dev: false })
  buildWorkspaces('client')
} catch (error) {
  process.stderr.write(`${error.message}\n`)
  process.exit(1)
}
await import('../client/bin/lastseen.mjs')
