/** Brings a checkout to the point where it can run: packages installed, TypeScript built. Does nothing when all is there. */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))

const readJson = (path) => JSON.parse(readFileSync(path, 'utf8'))

/** Names of packages that the lock file asks for and node_modules does not have in that version. */
function missingPackages({ dev }) {
  const hidden = join(root, 'node_modules/.package-lock.json')
  const installed = existsSync(hidden) ? readJson(hidden).packages : {}
  const wanted = Object.entries(readJson(join(root, 'package-lock.json')).packages)
  return wanted.filter(([path, lock]) => {
    if (!path.startsWith('node_modules/') || lock.link || lock.optional || lock.devOptional) return false
    if (lock.dev && !dev) return false
    return installed[path]?.version !== lock.version
  })
}

/** Installs exactly what the lock file says; without `dev` only what running needs. */
export function ensurePackages({ dev }) {
  if (missingPackages({ dev }).length === 0) return
  process.stderr.write('Installing packages …\n')
  const flags = ['ci', '--no-audit', '--no-fund', '--loglevel=error', ...(dev ? [] : ['--omit=dev'])]
  const { status } = spawnSync('npm', flags, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] })
  if (status !== 0) throw new Error('npm ci failed; see the lines above')
}

/** Changes whenever a file in the folder does. */
function fingerprint(folders) {
  const hash = createHash('sha256')
  for (const folder of folders)
    for (const name of readdirSync(folder, { recursive: true }).sort()) {
      const { mtimeMs, size } = statSync(join(folder, name))
      hash.update(`${name} ${mtimeMs} ${size}\n`)
    }
  return hash.digest('hex')
}

export function ensureBuilt() {
  const stamp = join(root, 'server/dist/.built')
  const current = fingerprint([join(root, 'server/src')])
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === current) return
  process.stderr.write('Building …\n')
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const { status } = spawnSync(process.execPath, [tsc, '-p', join(root, 'server')], { stdio: ['ignore', 2, 2] })
  if (status !== 0) throw new Error('the build failed; see the lines above')
  mkdirSync(join(root, 'server/dist'), { recursive: true })
  writeFileSync(stamp, current)
}
