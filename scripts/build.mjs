/** Makes a checkout ready to run and stops: for images and packages, where nothing may be built at the first start. */
import { ensureBuilt, ensurePackages } from './ensure.mjs'

try {
  ensurePackages({ dev: false })
  ensureBuilt('server', 'web', 'client')
} catch (error) {
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}
