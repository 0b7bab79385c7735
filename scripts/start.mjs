import cluster from 'node:cluster'
import { buildWorkspaces, installPackages } from './bootstrap.mjs'

/** npm sends signals only to its shell, which exits without forwarding them. When the parent is gone, the server stops. */
function stopWithParent() {
  const parent = process.ppid
  setInterval(() => process.ppid === parent || process.kill(process.pid, 'SIGTERM'), 250).unref()
}

if (cluster.isPrimary) {
  try {
    installPackages({ dev: false })
    buildWorkspaces()
  } catch (error) {
    process.stderr.write(`${error.message}\n`)
    process.exit(1)
  }
  if (process.env.npm_lifecycle_event === 'start') stopWithParent()
}
await import('../server/dist/main.js')
