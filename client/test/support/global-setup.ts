import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { TestProject } from 'vitest/node'
import setupServer from '../../../server/test/support/global-setup.ts'

const repository = fileURLToPath(new URL('../../..', import.meta.url))

/** Builds the client, whose command line is tested as it is shipped, and starts the server tests' database. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const build = `const { buildWorkspaces } = await import('./scripts/bootstrap.mjs'); buildWorkspaces('client')`
  const flags = ['--input-type=module', '--eval', build]
  const { status } = spawnSync(process.execPath, flags, { cwd: repository, stdio: 'inherit' })
  if (status !== 0) throw new Error('The client could not be built.')
  return setupServer(project)
}
