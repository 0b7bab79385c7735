/**
 * `npm run dev`: the server restarts after every change of its source, and Vite serves the web app with hot reload and
 * forwards API requests to the server. The compiler writes to `server/dist.dev`, so that `npm start` never runs that build.
 */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { installPackages, root } from './bootstrap.mjs'

installPackages({ dev: true })
const port = process.env.PORT ?? '8080'
const out = join(root, 'server/dist.dev')
const children = []

const stop = () => children.forEach((child) => child.kill('SIGTERM'))

/** When one of the programs ends, all of them end. */
function start(args, options = {}) {
  const child = spawn(process.execPath, args, { cwd: root, stdio: 'inherit', ...options })
  children.push(child)
  child.once('exit', stop)
  return child
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, stop)

const flags = ['-p', 'server', '--watch', '--preserveWatchOutput', '--outDir', out]
const compiler = start(
  [join(root, 'node_modules/typescript/bin/tsc'), ...flags, '--tsBuildInfoFile', join(out, '.tsbuildinfo')],
  { stdio: ['ignore', 'pipe', 'inherit'] },
)
let isServing = false
compiler.stdout.setEncoding('utf8').on('data', (text) => {
  process.stdout.write(text)
  if (isServing || !text.includes('Watching for file changes')) return
  isServing = true
  start(['--watch', '--watch-preserve-output', join(out, 'main.js'), 'serve'], {
    env: { ...process.env, PORT: port },
  })
  start([join(root, 'node_modules/vite/bin/vite.js')], {
    cwd: join(root, 'web'),
    env: { ...process.env, LASTSEEN_URL: `http://127.0.0.1:${port}` },
  })
})
