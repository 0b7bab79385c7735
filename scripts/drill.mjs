import { buildWorkspaces, installPackages } from './bootstrap.mjs'

try {
  installPackages({ dev: true })
  buildWorkspaces()
  const { main } = await import('../drill/drill.mjs')
  await main()
} catch (error) {
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}
// After a failed drill, its writers may still be retrying and would keep the process alive.
process.exit()
