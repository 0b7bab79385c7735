/**
 * Reads the code without running it: format, types, lint, imports, dead code, one on each core and with caches under
 * `.cache/check`. `npm run check -- lint types` runs some of them.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { installPackages, root } from './bootstrap.mjs'

const cache = join(root, '.cache/check')
const node = (...args) => [process.execPath, ...args]
const tool = (name, ...args) => [join(root, 'node_modules/.bin', name), ...args]
const typesOf = (folder, settings) =>
  tool('tsc', '--noEmit', '-p', settings, '--incremental', '--tsBuildInfoFile', join(cache, `${folder}.tsbuildinfo`))

/** The checks that take longest are started first. */
const checks = {
  lint: [tool('eslint', '--cache', '--cache-strategy=content', '--cache-location', join(cache, 'eslint'), '.')],
  // One program, because the tests of the client start the server.
  'types of the server and the client': [typesOf('server', 'server/tsconfig.test.json')],
  'types of the web app': [typesOf('web', 'web/tsconfig.json')],
  format: [
    tool('prettier', '--check', '--log-level=warn', '--cache', '--cache-strategy=content', '.').concat(
      '--cache-location',
      join(cache, 'prettier'),
    ),
  ],
  imports: [tool('depcruise', '--config', '.dependency-cruiser.cjs', 'server/src', 'client/src')],
  'dead code': [tool('knip')],
  // The types of requests are generated from the descriptions; they are committed and must be current.
  'generated types': [node('scripts/api-types.mjs', '--check')],
}

/** Runs the commands of one check, also after one has failed, and prints what they wrote when all have ended. */
async function run(name, commands) {
  const started = performance.now()
  let isGood = true
  let output = ''
  for (const [command, ...args] of commands) {
    // The linter then parses every file once instead of watching for changes.
    const env = { ...process.env, TSESTREE_SINGLE_RUN: 'true' }
    const child = spawn(command, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] })
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
    const [status] = await once(child, 'close')
    isGood &&= status === 0
  }
  const seconds = Math.round((performance.now() - started) / 1000)
  process.stdout.write(`${isGood ? '✓' : '✗'} ${name}: ${seconds} s\n${isGood ? '' : output}`)
  return isGood
}

installPackages({ dev: true })
mkdirSync(cache, { recursive: true })
const wanted = process.argv.slice(2)
const chosen = Object.entries(checks).filter(
  ([name]) => wanted.length === 0 || wanted.some((word) => name.startsWith(word)),
)
let areGood = true
/** One check runs per core: further ones would not finish earlier, but need their memory at the same time. */
async function runNext() {
  for (let next = chosen.shift(); next !== undefined; next = chosen.shift()) {
    const isGood = await run(...next)
    areGood &&= isGood
  }
}
await Promise.all(Array.from({ length: availableParallelism() }, runNext))
process.exitCode = areGood ? 0 : 1
