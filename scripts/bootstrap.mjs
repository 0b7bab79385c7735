/** Prepares a checkout to run: installs packages and builds the TypeScript sources. Does nothing when both are up to date. */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { withFileLock } from './file-lock.mjs'

export const root = fileURLToPath(new URL('..', import.meta.url))

const inRoot = (path) => join(root, path)
const lockPath = inRoot('.cache/prepare.lock')
/** This file exists during an installation, so that an interrupted installation is detected and repeated. */
const installMarker = inRoot('.cache/installing')

/** The installed packages by path; empty when the last installation was interrupted. */
function installedPackages() {
  if (existsSync(installMarker)) return {}
  try {
    return JSON.parse(readFileSync(inRoot('node_modules/.package-lock.json'), 'utf8')).packages
  } catch {
    return {}
  }
}

/** `list` holds names, or excluded names with a leading `!`, as in the `os` and `cpu` fields of a package. */
const includes = (list = [], value) =>
  list.every((name) => name.startsWith('!') && name !== `!${value}`) || list.includes(value)
const supportsThisSystem = ({ os, cpu }) => includes(os, process.platform) && includes(cpu, process.arch)

/**
 * Paths of packages that are absent or have another version than in the lock file. An optional package for this system
 * counts as missing only when packages for another system are installed, because then node_modules was copied from there.
 */
function missingPackages({ dev }) {
  const installed = installedPackages()
  const isCopied = Object.values(installed).some((entry) => !supportsThisSystem(entry))
  const locked = Object.entries(JSON.parse(readFileSync(inRoot('package-lock.json'), 'utf8')).packages)
  const isMissing = ([path, entry]) => {
    if (!path.includes('node_modules/') || entry.link || (entry.dev && !dev)) return false
    if ((entry.optional || entry.devOptional) && !(isCopied && entry.os && supportsThisSystem(entry))) return false
    return installed[path]?.version !== entry.version || !existsSync(inRoot(`${path}/package.json`))
  }
  return locked.filter(isMissing).map(([path]) => path)
}

/** Runs `work` under the lock. When the user may not write to the folder, the error says so and starts with `reason`. */
function runLocked(reason, work) {
  try {
    withFileLock(lockPath, work)
  } catch (error) {
    if (!['EACCES', 'EPERM', 'EROFS'].includes(error.code)) throw error
    throw new Error(
      `${reason}, but this user may not write to ${dirname(error.path ?? lockPath)} (${error.code}). ` +
        'Run npm start once as the user who owns the folder.',
      { cause: error },
    )
  }
}

/**
 * Installs the packages of the lock file when some are missing. Without `dev`, development packages are left out unless
 * they are installed already.
 */
export function installPackages({ dev }) {
  if (missingPackages({ dev }).length === 0) return
  runLocked('Packages have to be installed', () => {
    if (missingPackages({ dev }).length === 0) return
    process.stderr.write('Installing packages …\n')
    const isDev = dev || Object.values(installedPackages()).some((entry) => entry.dev)
    const flags = [
      'ci',
      '--no-audit',
      '--no-fund',
      '--loglevel=error',
      '--ignore-scripts',
      isDev ? '--include=dev' : '--omit=dev',
    ]
    mkdirSync(dirname(installMarker), { recursive: true })
    writeFileSync(installMarker, '')
    const options = { cwd: root, stdio: ['ignore', 'ignore', 'inherit'], shell: process.platform === 'win32' }
    const { status, error } = spawnSync('npm', flags, options)
    if (error !== undefined) throw new Error(`npm could not be run (${error.code}). It comes with Node.js.`)
    if (status !== 0) throw new Error('The packages could not be installed (npm ci); the lines above say why.')
    rmSync(installMarker)
  })
}

const remove = (path) => rmSync(path, { recursive: true, force: true })

const filesUnder = (folder, suffix = '') =>
  (existsSync(inRoot(folder)) ? readdirSync(inRoot(folder), { recursive: true, withFileTypes: true }) : [])
    .filter((file) => file.isFile() && file.name.endsWith(suffix))
    .map((file) => relative(root, join(file.parentPath, file.name)))

function compile(settings, out) {
  const flags = ['--outDir', out, '--incremental', 'false', '--tsBuildInfoFile', 'null']
  return { args: [inRoot('node_modules/typescript/bin/tsc'), '-p', inRoot(settings), ...flags], cwd: root }
}

const typescriptBuild = (title, folder, entry, settings = ['tsconfig.json']) => ({
  title,
  folder,
  entry,
  sources: () => [
    'tsconfig.base.json',
    ...settings.map((name) => `${folder}/${name}`),
    ...filesUnder(`${folder}/src`, '.ts').sort(),
  ],
  commands: (out) => [compile(`${folder}/tsconfig.json`, out)],
})

/** The client is also built as CommonJS, whose folder needs a package.json that says so. */
const clientBuild = {
  ...typescriptBuild('Building the client …', 'client', 'index.js', ['tsconfig.json', 'tsconfig.cjs.json']),
  commands: (out) => [compile('client/tsconfig.json', out), compile('client/tsconfig.cjs.json', join(out, 'cjs'))],
  finish: (out) => writeFileSync(join(out, 'cjs/package.json'), '{"type":"commonjs"}\n'),
}

/** One build per workspace: its folder, its sources and its commands. A build without the file `entry` is incomplete. */
const builds = [
  typescriptBuild('Building …', 'server', 'main.js'),
  {
    title: 'Building the web app …',
    folder: 'web',
    entry: 'index.html',
    sources: () => {
      // The web app imports modules of the client and the parser of CSV files.
      const settings = ['web/package.json', 'web/vite.config.ts', 'web/index.html']
      return [
        ...settings,
        ...['web/public', 'web/src', 'client/src', 'server/src/bulk', 'server/src/kernel'].flatMap((folder) =>
          filesUnder(folder).sort(),
        ),
      ]
    },
    commands: (out) => {
      const flags = ['--outDir', out, '--emptyOutDir', '--logLevel', 'warn']
      return [{ args: [inRoot('node_modules/vite/bin/vite.js'), 'build', ...flags], cwd: inRoot('web') }]
    },
  },
  clientBuild,
]

/** A hash of the contents of all sources: it does not change when a file is only copied or touched. */
function fingerprint({ sources }) {
  const hash = createHash('sha256')
  for (const path of sources())
    if (existsSync(inRoot(path))) hash.update(`${path}\0`).update(readFileSync(inRoot(path)))
  return hash.digest('hex')
}

/** A workspace that was shipped without sources always counts as up to date. */
function isUpToDate(build) {
  const dist = inRoot(`${build.folder}/dist`)
  if (!existsSync(inRoot(`${build.folder}/src`))) return true
  if (!existsSync(join(dist, build.entry)) || !existsSync(join(dist, '.built'))) return false
  return readFileSync(join(dist, '.built'), 'utf8') === fingerprint(build)
}

/** Builds into a new folder and renames it at the end, so that an interrupted build leaves the previous one intact. */
function runBuild(build) {
  process.stderr.write(`${build.title}\n`)
  const dist = inRoot(`${build.folder}/dist`)
  const next = `${dist}.new-${process.pid}`
  const previous = `${dist}.old`
  const current = fingerprint(build)
  // A compiler whose parent was killed may still write to its folder, so an old folder is deleted and never reused.
  for (const name of readdirSync(inRoot(build.folder)))
    if (name.startsWith('dist.new')) remove(inRoot(`${build.folder}/${name}`))
  mkdirSync(next)
  // A caller with another NODE_ENV, such as a test, would get a development build of the web app.
  const env = { ...process.env, NODE_ENV: 'production' }
  for (const { args, cwd } of build.commands(next)) {
    const { status } = spawnSync(process.execPath, args, { cwd, env, stdio: ['ignore', 2, 2] })
    if (status === 0) continue
    remove(next)
    throw new Error('The build failed; the lines above say why.')
  }
  build.finish?.(next)
  writeFileSync(join(next, '.built'), current)
  remove(previous)
  if (existsSync(dist)) renameSync(dist, previous)
  renameSync(next, dist)
  remove(previous)
}

/** Builds those of the named workspaces whose build is out of date; without names, the server and the web app. */
export function buildWorkspaces(...names) {
  const wanted = names.length === 0 ? ['server', 'web'] : names
  const selected = builds.filter(({ folder }) => wanted.includes(folder))
  if (selected.every(isUpToDate)) return
  runLocked('The program has to be built', () => {
    for (const build of selected) if (!isUpToDate(build)) runBuild(build)
  })
}
