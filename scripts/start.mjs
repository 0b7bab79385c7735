import cluster from 'node:cluster'
import { ensureBuilt, ensurePackages } from './ensure.mjs'

/** npm hands a signal to its shell, which ends without handing it on: whoever loses npm was meant to stop. */
function stopWithNpm() {
  const parent = process.ppid
  setInterval(() => process.ppid === parent || process.kill(process.pid, 'SIGTERM'), 250).unref()
}

if (cluster.isPrimary) {
  try {
    ensurePackages({ dev: false })
    ensureBuilt()
  } catch (error) {
    process.stderr.write(`${error.message}\n`)
    process.exit(1)
  }
  if (process.env.npm_lifecycle_event === 'start') stopWithNpm()
}
await import('../server/dist/main.js')
