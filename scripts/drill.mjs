import { ensureBuilt, ensurePackages } from './ensure.mjs'

try {
  ensurePackages({ dev: true })
  ensureBuilt()
  const { main } = await import('../drill/drill.mjs')
  await main()
} catch (error) {
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}
// Writers of a drill that failed may still be trying.
process.exit()
