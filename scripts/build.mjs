/** Installs and builds everything without starting the server: for container images and packages. */
import { buildWorkspaces, installPackages } from './bootstrap.mjs'

try {
  installPackages({ dev: false })
  buildWorkspaces('server', 'web', 'client')
} catch (error) {
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}
