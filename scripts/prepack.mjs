/**
 * `npm pack` in `server` or `client` runs this before it collects the files: it builds the package and copies what the
 * tarball contains from other folders of the repository. `postpack.mjs` removes the copies.
 */
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { buildWorkspaces, installPackages, root } from './bootstrap.mjs'
import { copies } from './package-copies.mjs'

const name = process.argv[2]
try {
  installPackages({ dev: false })
  buildWorkspaces(...(name === 'server' ? ['server', 'web', 'client'] : [name]))
  for (const [from, to] of copies[name]) {
    rmSync(join(root, name, to), { recursive: true, force: true })
    cpSync(join(root, from), join(root, name, to), { recursive: true })
  }
} catch (error) {
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}
