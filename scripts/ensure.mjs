/** Brings a checkout to the point where it can run: packages installed, TypeScript built. Does nothing when all is there. */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { withLock } from './lock.mjs'

export const root = fileURLToPath(new URL('..', import.meta.url))

const at = (path) => join(root, path)
const lock = at('.cache/prepare.lock')
/** Stands while packages are being installed, so that an installation cut short is done again. */
const installing = at('.cache/installing')

/** The packages that were installed, by path; none when the last installation did not end. */
function installedPackages() {
  if (existsSync(installing)) return {}
  try {
    return JSON.parse(readFileSync(at('node_modules/.package-lock.json'), 'utf8')).packages
  } catch {
    return {}
  }
}

const admits = (list = [], value) =>
  list.every((one) => one.startsWith('!') && one !== `!${value}`) || list.includes(value)
const isForHere = ({ os, cpu }) => admits(os, process.platform) && admits(cpu, process.arch)

/**
 * Paths of packages that are not as the lock file wants them: absent or of another version. Of the packages that exist
 * once per system, this system's is missed only where another system's is in its place: the folder was copied.
 */
function missingPackages({ dev }) {
  const installed = installedPackages()
  const isCopied = Object.values(installed).some((one) => !isForHere(one))
  const wanted = Object.entries(JSON.parse(readFileSync(at('package-lock.json'), 'utf8')).packages)
  const isMissing = ([path, one]) => {
    if (!path.includes('node_modules/') || one.link || (one.dev && !dev)) return false
    if ((one.optional || one.devOptional) && !(isCopied && one.os && isForHere(one))) return false
    return installed[path]?.version !== one.version || !existsSync(at(`${path}/package.json`))
  }
  return wanted.filter(isMissing).map(([path]) => path)
}

/** A folder this user cannot write to is the one trouble with an own message; the rest speaks for itself. */
function prepare(what, work) {
  try {
    withLock(lock, work)
  } catch (error) {
    if (!['EACCES', 'EPERM', 'EROFS'].includes(error.code)) throw error
    throw new Error(
      `${what}, but this user may not write to ${dirname(error.path ?? lock)} (${error.code}). ` +
        'Run npm start once as the user who owns the folder.',
      { cause: error },
    )
  }
}

/** Installs exactly what the lock file says; without `dev` only what running needs, unless the rest is there already. */
export function ensurePackages({ dev }) {
  if (missingPackages({ dev }).length === 0) return
  prepare('Packages have to be installed', () => {
    if (missingPackages({ dev }).length === 0) return
    process.stderr.write('Installing packages …\n')
    const isDev = dev || Object.values(installedPackages()).some((one) => one.dev)
    const flags = ['ci', '--no-audit', '--no-fund', '--loglevel=error', isDev ? '--include=dev' : '--omit=dev']
    mkdirSync(dirname(installing), { recursive: true })
    writeFileSync(installing, '')
    const options = { cwd: root, stdio: ['ignore', 'ignore', 'inherit'], shell: process.platform === 'win32' }
    const { status, error } = spawnSync('npm', flags, options)
    if (error !== undefined) throw new Error(`npm could not be run (${error.code}). It comes with Node.js.`)
    if (status !== 0) throw new Error('The packages could not be installed (npm ci); the lines above say why.')
    rmSync(installing)
  })
}

const remove = (path) => rmSync(path, { recursive: true, force: true })

const filesUnder = (folder, ending = '') =>
  (existsSync(at(folder)) ? readdirSync(at(folder), { recursive: true, withFileTypes: true }) : [])
    .filter((one) => one.isFile() && one.name.endsWith(ending))
    .map((one) => relative(root, join(one.parentPath, one.name)))

const compiled = (title, folder, entry) => ({
  title,
  folder,
  entry,
  sources: () => ['tsconfig.base.json', `${folder}/tsconfig.json`, ...filesUnder(`${folder}/src`, '.ts').sort()],
  command: (out) => {
    const flags = ['--outDir', out, '--incremental', 'false', '--tsBuildInfoFile', 'null']
    return { args: [at('node_modules/typescript/bin/tsc'), '-p', at(folder), ...flags], cwd: root }
  },
})

/** What is built: where to, from what, and how. The entry is the file without which a build is none. */
const builds = [
  compiled('Building …', 'server', 'main.js'),
  {
    title: 'Building the web app …',
    folder: 'web',
    entry: 'index.html',
    sources: () => {
      // The app reads CSV files with the code of the command line.
      const settings = ['web/package.json', 'web/vite.config.ts', 'web/index.html', 'client/src/csv/table.ts']
      return [...settings, ...filesUnder('web/public').sort(), ...filesUnder('web/src').sort()]
    },
    command: (out) => {
      const flags = ['--outDir', out, '--emptyOutDir', '--logLevel', 'warn']
      return { args: [at('node_modules/vite/bin/vite.js'), 'build', ...flags], cwd: at('web') }
    },
  },
  compiled('Building the client …', 'client', 'index.js'),
]

/** Changes whenever a source does, and not when it is merely copied or touched. */
function fingerprint({ sources }) {
  const hash = createHash('sha256')
  for (const path of sources()) if (existsSync(at(path))) hash.update(`${path}\0`).update(readFileSync(at(path)))
  return hash.digest('hex')
}

/** An installation that came without its sources has nothing to build. */
function isBuilt(build) {
  const dist = at(`${build.folder}/dist`)
  if (!existsSync(at(`${build.folder}/src`))) return true
  if (!existsSync(join(dist, build.entry)) || !existsSync(join(dist, '.built'))) return false
  return readFileSync(join(dist, '.built'), 'utf8') === fingerprint(build)
}

/** Builds beside the old build and swaps them at the end, so that a build cut short leaves no half one. */
function make(build) {
  process.stderr.write(`${build.title}\n`)
  const dist = at(`${build.folder}/dist`)
  const fresh = `${dist}.new-${process.pid}`
  const former = `${dist}.old`
  const current = fingerprint(build)
  // The compiler of a start that was killed may still be writing, so leftovers are removed and never used again.
  for (const name of readdirSync(at(build.folder)))
    if (name.startsWith('dist.new')) remove(at(`${build.folder}/${name}`))
  mkdirSync(fresh)
  const { args, cwd } = build.command(fresh)
  // A caller with another NODE_ENV, such as a test, would get a development build of the web app.
  const env = { ...process.env, NODE_ENV: 'production' }
  const { status } = spawnSync(process.execPath, args, { cwd, env, stdio: ['ignore', 2, 2] })
  if (status !== 0) {
    remove(fresh)
    throw new Error('The build failed; the lines above say why.')
  }
  writeFileSync(join(fresh, '.built'), current)
  remove(former)
  if (existsSync(dist)) renameSync(dist, former)
  renameSync(fresh, dist)
  remove(former)
}

/** Builds what is old of these folders; what the server runs on when none is named. */
export function ensureBuilt(...folders) {
  const wanted = folders.length === 0 ? ['server', 'web'] : folders
  const chosen = builds.filter(({ folder }) => wanted.includes(folder))
  if (chosen.every(isBuilt)) return
  prepare('The program has to be built', () => {
    for (const build of chosen) if (!isBuilt(build)) make(build)
  })
}
