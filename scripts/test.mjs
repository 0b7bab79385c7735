/** Every check there is, as CI runs them. `npm test -- --only unit` and the like run one part; `npm test -- --list` names the parts. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { join, relative } from 'node:path'
import { buildWorkspaces as ensureBuilt, installPackages as ensurePackages, root } from './bootstrap.mjs'

const cache = join(root, 'server/.cache')
const evidence = join(cache, 'evidence')
const postgres15 = '/usr/lib/postgresql/15/bin/postgres'
const tally = { passed: 0, failed: 0, skipped: 0 }
/** Said again at the end: a run of thousands of tests is long to look back through. */
const failedTests = []

async function run(command, args, options = {}) {
  const child = spawn(command, args, {
    cwd: options.cwd ?? root,
    stdio: 'inherit',
    env: { ...process.env, ...options.env },
  })
  const [status] = await once(child, 'close')
  return status === 0
}

const bin = (name) => join(root, 'node_modules/.bin', name)

async function vitest(report, filters, { env = {}, folder = 'server' } = {}) {
  const outputFile = join(cache, `${report}.json`)
  const flags = ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${outputFile}`, ...filters]
  const isGood = await run(bin('vitest'), flags, { cwd: join(root, folder), env })
  if (existsSync(outputFile)) {
    const result = JSON.parse(readFileSync(outputFile, 'utf8'))
    tally.passed += result.numPassedTests
    tally.failed += result.numFailedTests
    tally.skipped += result.numPendingTests + result.numTodoTests
    for (const file of result.testResults) failedTests.push(...failuresOf(file))
  }
  return isGood
}

function failuresOf(file) {
  const name = relative(root, file.name)
  const failed = file.assertionResults.filter((one) => one.status === 'failed')
  if (failed.length === 0 && file.status === 'failed') return [`${name}\n${file.message}`]
  return failed.map((one) => `${name} > ${one.fullName}\n${one.failureMessages.join('\n')}`)
}

const node = (...args) => [process.execPath, ...args]
const tool = (name, ...args) => [bin(name), ...args]

/** Those that only read the code, each a few commands. They run beside the tests, on what these leave of the processors. */
const inspections = {
  format: [tool('prettier', '--check', '--log-level=warn', '.')],
  // The types of requests are made from the descriptions; they are kept, must not be old, and must compile.
  types: [
    node('scripts/api-types.mjs', '--check'),
    ...['server/tsconfig.test.json', 'web/tsconfig.json', 'client/tsconfig.test.json'].map((settings) =>
      tool('tsc', '--noEmit', '-p', settings),
    ),
  ],
  lint: [tool('eslint', '.')],
  imports: [tool('depcruise', '--config', '.dependency-cruiser.cjs', 'server/src', 'client/src')],
  'dead code': [tool('knip')],
}

/** Runs all of them, also after one has failed, and keeps what they say until the end. */
async function inspect(commands) {
  const started = performance.now()
  let isGood = true
  let said = ''
  for (const [command, ...args] of commands) {
    const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
    if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW)
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += chunk))
    const [status] = await once(child, 'close')
    isGood &&= status === 0
  }
  return { isGood, said, ms: performance.now() - started }
}

/** Debian's chromium where it is installed, elsewhere the one Playwright was told to download. */
async function browser() {
  const outputFile = join(root, 'web/.cache/browser.json')
  rmSync(outputFile, { force: true })
  const isGood = await run(bin('playwright'), ['test', '--reporter=list,json'], {
    cwd: join(root, 'web'),
    env: { PLAYWRIGHT_JSON_OUTPUT_NAME: outputFile },
  })
  if (existsSync(outputFile)) {
    const { stats } = JSON.parse(readFileSync(outputFile, 'utf8'))
    tally.passed += stats.expected + stats.flaky
    tally.failed += stats.unexpected
    tally.skipped += stats.skipped
  }
  return isGood
}

/**
 * PostgreSQL 15 is the oldest server supported; where it is not installed that part says so. CI installs it. In this run
 * two server processes take turns, so that the contract is held against several processes at no further cost.
 */
function onPostgres15() {
  if (existsSync(postgres15))
    return vitest('postgres15', ['test/contract', 'test/db/tenancy'], {
      env: { TEST_POSTGRES: '15', TEST_PROCESSES: '2' },
    })
  process.stderr.write(`Not run: PostgreSQL 15 is not installed (${postgres15}).\n`)
  return process.env.CI === undefined
}

const parts = {
  tests: () => {
    rmSync(evidence, { recursive: true, force: true })
    mkdirSync(evidence, { recursive: true })
    return vitest('tests', [])
  },
  evidence: () => {
    const { status, stdout } = spawnSync(process.execPath, ['scripts/check-coverage.mjs'], {
      cwd: root,
      encoding: 'utf8',
    })
    process.stdout.write(stdout)
    if (status !== 0) failedTests.push(stdout)
    return status === 0
  },
  client: () => vitest('client', [], { folder: 'client' }),
  'PostgreSQL 15': onPostgres15,
  browser,
}

const wanted = process.argv.includes('--only') ? process.argv.slice(process.argv.indexOf('--only') + 1) : null
if (process.argv.includes('--list')) {
  process.stdout.write(`${Object.keys({ ...inspections, ...parts }).join('\n')}\n`)
  process.exit(0)
}

ensurePackages({ dev: true })
ensureBuilt('server', 'web', 'client')
mkdirSync(cache, { recursive: true })
const failures = []
const isWanted = ([name]) => wanted === null || wanted.includes(name)

function end(name, isGood, ms) {
  if (!isGood) failures.push(name)
  process.stdout.write(`== ${name}: ${Math.round(ms / 1000)} s\n`)
}

const inspecting = Object.entries(inspections)
  .filter(isWanted)
  .map(async ([name, commands]) => {
    const { isGood, said, ms } = await inspect(commands)
    process.stdout.write(said)
    if (!isGood) failedTests.push(said)
    end(name, isGood, ms)
  })
for (const [name, check] of Object.entries(parts).filter(isWanted)) {
  process.stdout.write(`\n== ${name}\n`)
  const started = performance.now()
  end(name, await check(), performance.now() - started)
}
await Promise.all(inspecting)

for (const failure of failedTests) process.stdout.write(`\n✗ ${failure.slice(0, 1500)}\n`)
if (failures.length > 0) process.stdout.write(`\nFailed: ${failures.join(', ')}\n`)
process.stdout.write(`\n${tally.passed} passed, ${tally.failed} failed, ${tally.skipped} skipped\n`)
process.exitCode = failures.length > 0 ? 1 : 0
