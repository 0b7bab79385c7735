import { type SpawnSyncReturns, spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { cleanEnvironment, newFolder, repository, usePrograms } from '../support/process.ts'

usePrograms({ isBuilt: false })

const release = (args: string[], env: Record<string, string> = {}): SpawnSyncReturns<string> =>
  spawnSync(process.execPath, ['scripts/release.mjs', ...args], {
    ...{ cwd: repository, encoding: 'utf8', env: cleanEnvironment(env) },
  })

/** packages.test.ts runs a whole release, because two programs cannot pack the server at the same time. */
describe('npm run release', () => {
  /** Folders with programs of these names that succeed without doing anything. */
  const programs = (...names: string[]): string => {
    const folder = newFolder()
    mkdirSync(join(folder, 'bin'))
    for (const name of names) writeFileSync(join(folder, 'bin', name), '#!/bin/sh\nexit 0\n', { mode: 0o755 })
    return join(folder, 'bin')
  }

  it('builds no image on a base image without a digest, and says so before it builds anything', () => {
    const out = newFolder()
    const args = ['--image', '--node-image', 'docker.io/library/node:26-slim', '--out', join(out, 'release')]
    const { status, stderr } = release(args, { PATH: programs('docker') })
    expect([status, stderr]).toEqual([1, expect.stringContaining('node:26-slim has no digest')])
    expect(readdirSync(out)).toEqual([])
  })

  it('fails when an image is asked for and no builder is there', () => {
    const { status, stderr } = release(['--image', '--out', join(newFolder(), 'release')], { PATH: programs() })
    expect([status, stderr]).toEqual([1, expect.stringContaining('neither docker, podman nor buildah works here')])
  })
})
