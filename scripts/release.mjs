/**
 * `npm run release`: writes the tarballs of the packages, the packaging files, the container image, the SBOM and the checksums
 * of all of them into `release/` (docs/releasing.md). The base image is pinned by its digest; without one no image is built.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { installPackages, root } from './bootstrap.mjs'

const usage = `npm run release -- [options]
  --image             fail when the image cannot be built, instead of leaving it out
  --no-image          leave the image out
  --node-image IMAGE  the base image, as NAME@sha256:DIGEST
  --out FOLDER        where to write, instead of release/
`

const { values: options } = parseArgs({
  options: {
    image: { type: 'boolean' },
    'no-image': { type: 'boolean', default: false },
    'node-image': { type: 'string' },
    out: { type: 'string', default: 'release' },
    help: { type: 'boolean', default: false },
  },
})
const { version } = JSON.parse(readFileSync(join(root, 'server/package.json'), 'utf8'))
const out = resolve(root, options.out)
const say = (line) => process.stdout.write(`${line}\n`)

/** The standard output of a program, or null when it is missing or fails. */
function outputOf(file, args) {
  const { status, stdout } = spawnSync(file, args, { cwd: root, encoding: 'utf8', timeout: 60_000 })
  return status === 0 ? stdout.trim() : null
}

function run(file, args) {
  const { status, error } = spawnSync(file, args, { cwd: root, stdio: ['ignore', 2, 2] })
  if (status !== 0) throw new Error(`${file} ${args[0]} failed${error === undefined ? '' : ` (${error.code})`}`)
}

/** How each program builds an image and writes it into a file that `docker load` and `podman load` read. */
const builders = {
  docker: {
    works: ['version', '--format', '{{.Server.Version}}'],
    build: ['build'],
    save: (name, file) => ['save', '--output', file, name],
  },
  podman: {
    works: ['info', '--format', '{{.Version.Version}}'],
    build: ['build', '--format', 'docker'],
    save: (name, file) => ['save', '--format', 'docker-archive', '--output', file, name],
  },
  buildah: {
    works: ['info'],
    build: ['build', '--format', 'docker'],
    save: (name, file) => ['push', name, `docker-archive:${file}:${name}`],
  },
}

/** The base image, of the option or the Dockerfile, which must be pinned by its digest. */
function pinnedNodeImage() {
  const inDockerfile = /^ARG NODE_IMAGE=(\S+)$/m.exec(readFileSync(join(root, 'Dockerfile'), 'utf8'))[1]
  const image = options['node-image'] ?? inDockerfile
  if (/@sha256:[0-9a-f]{64}$/.test(image)) return image
  throw new Error(`The base image ${image} has no digest. Pass --node-image NAME@sha256:DIGEST.`)
}

/** What is needed to build the image, or null when it is left out. Checked first, because the other steps take minutes. */
function planImage() {
  if (options['no-image']) return null
  const builder = Object.keys(builders).find((name) => outputOf(name, builders[name].works) !== null)
  if (builder === undefined) {
    if (options.image) throw new Error('No image can be built: neither docker, podman nor buildah works here.')
    say('No image: neither docker, podman nor buildah works here.')
    return null
  }
  return { builder, nodeImage: pinnedNodeImage() }
}

function packPackages() {
  for (const name of ['server', 'client'])
    run('npm', ['pack', '--workspace', `@lastseen/${name}`, '--pack-destination', out, '--loglevel=error'])
}

/** The units, proxies, chart, rules and compose files, with the paths that they have in the repository. */
function packPackagingFiles() {
  const name = `lastseen-packaging-${version}`
  for (const path of ['LICENSE', 'compose.yaml', 'compose.scale.yaml', 'packaging'])
    // The chart links to the alert rules.
    cpSync(join(root, path), join(out, name, path), { recursive: true, dereference: true })
  run('tar', ['-czf', join(out, `${name}.tar.gz`), '-C', out, name])
  rmSync(join(out, name), { recursive: true })
}

function writeSbom() {
  const sbom = outputOf('npm', ['sbom', '--sbom-format', 'cyclonedx', '--omit', 'dev', '--loglevel=error'])
  if (sbom === null) throw new Error('npm sbom failed')
  writeFileSync(join(out, `lastseen-${version}.cdx.json`), `${sbom}\n`)
}

function buildImage({ builder, nodeImage }) {
  const { build, save } = builders[builder]
  const name = `lastseen:${version}`
  const labels = { version, 'base.name': nodeImage, licenses: 'Apache-2.0' }
  const flags = Object.entries(labels).flatMap(([key, value]) => [
    '--label',
    `org.opencontainers.image.${key}=${value}`,
  ])
  run(builder, [...build, '--build-arg', `NODE_IMAGE=${nodeImage}`, ...flags, '--tag', name, '.'])
  run(builder, save(name, join(out, `lastseen-${version}.image.tar`)))
  say(`Image ${name} on ${nodeImage}, built with ${builder}.`)
}

/** In the format of sha256sum. */
function writeChecksums() {
  const lines = readdirSync(out)
    .sort()
    .map(
      (name) =>
        `${createHash('sha256')
          .update(readFileSync(join(out, name)))
          .digest('hex')}  ${name}\n`,
    )
  writeFileSync(join(out, 'SHA256SUMS'), lines.join(''))
}

if (options.help) say(usage)
else
  try {
    const image = planImage()
    installPackages({ dev: false })
    rmSync(out, { recursive: true, force: true })
    mkdirSync(out, { recursive: true })
    packPackages()
    packPackagingFiles()
    writeSbom()
    if (image !== null) buildImage(image)
    writeChecksums()
    say(`Release ${version} is in ${out}:\n${readFileSync(join(out, 'SHA256SUMS'), 'utf8')}`)
  } catch (error) {
    process.stderr.write(`${error.message}\n`)
    process.exitCode = 1
  }
