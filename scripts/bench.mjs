import { buildWorkspaces, installPackages } from './bootstrap.mjs'

try {
  installPackages({ dev: true })
  buildWorkspaces('server', 'web', 'client')
  const { main } = await import('../bench/bench.mjs')
  await main()
} catch (error) {
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}
