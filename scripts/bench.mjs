import { ensureBuilt, ensurePackages } from './ensure.mjs'

try {
  ensurePackages({ dev: true })
  ensureBuilt()
  const { main } = await import('../bench/bench.mjs')
  await main()
} catch (error) {
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}
