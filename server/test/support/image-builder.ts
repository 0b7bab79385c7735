import { type SpawnSyncReturns, execFileSync, spawnSync } from 'node:child_process'
import { existsSync, realpathSync, renameSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { repository } from './process.ts'

const certificates = '/etc/ssl/certs/ca-certificates.crt'
/** The image and its base stay here, because the base takes minutes. */
const storage = join(repository, 'server/.cache/images')
const flags = ['--root', join(storage, 'root'), '--runroot', join(storage, 'run'), '--storage-driver', 'vfs']

const isThere = (program: string): boolean => spawnSync(program, ['--version']).status === 0

/** Why no image can be built here, or null. Buildah needs root, because it works in a chroot without namespaces. */
export function whyNoImages(): string | null {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'it needs root on Linux'
  const missing = ['buildah', 'mmdebstrap'].filter((program) => !isThere(program))
  return missing.length === 0 ? null : `it needs ${missing.join(' and ')}`
}

export const buildahArgs = (...args: string[]): string[] => [...flags, ...args]

export function buildah(...args: string[]): SpawnSyncReturns<string> {
  return spawnSync('buildah', buildahArgs(...args), { cwd: repository, encoding: 'utf8', maxBuffer: 2 ** 26 })
}

/** Runs Buildah and returns what it prints. Throws when it fails. */
export function buildahOutput(...args: string[]): string {
  const { status, stdout, stderr } = buildah(...args)
  if (status !== 0) throw new Error(`buildah ${args.join(' ')}:\n${stdout.slice(-2000)}\n${stderr.slice(-4000)}`)
  return stdout.trim()
}

/** A base image like the official one: Debian with this machine's Node.js and npm, and the user node (1000). */
export function baseImage(): string {
  const name = `localhost/lastseen-test-node:${process.version}`
  if (buildah('inspect', '--type', 'image', name).status === 0) return name
  const container = buildahOutput('from', 'scratch')
  const root = join(storage, 'debian.tar')
  if (!existsSync(root)) {
    const include = '--include=ca-certificates,libstdc++6,libatomic1'
    // The mirror may be a snapshot, whose release files have expired; their signatures are checked.
    const apt = '--aptopt=Acquire::Check-Valid-Until "false"'
    const bootstrap = ['--variant=minbase', '--format=tar', include, apt, 'stable', `${root}.part`]
    execFileSync('mmdebstrap', bootstrap, { stdio: ['ignore', 'ignore', 'inherit'] })
    renameSync(`${root}.part`, root)
  }
  buildahOutput('add', container, root, '/')
  const npm = dirname(dirname(realpathSync(execFileSync('which', ['npm'], { encoding: 'utf8' }).trim())))
  buildahOutput('copy', container, realpathSync(process.execPath), '/usr/local/bin/node')
  buildahOutput('copy', container, npm, '/usr/local/lib/node_modules/npm')
  // A machine behind a proxy trusts further authorities.
  if (existsSync(certificates)) buildahOutput('copy', container, certificates, certificates)
  const setUp =
    'ln -sf ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm && useradd --uid 1000 --create-home node'
  buildahOutput('run', '--isolation', 'chroot', container, '--', 'sh', '-c', setUp)
  buildahOutput('config', '--env', `NODE_EXTRA_CA_CERTS=${certificates}`, container)
  buildahOutput('commit', '--rm', container, name)
  return name
}
