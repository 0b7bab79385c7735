/**
 * `npm test`: the checks, then the tests with few rounds, fast ones first. `npm run test:all` (`--all`): every test with all
 * rounds, on both databases and at both screen sizes, and the quick drill. `npm test -- --only server` and the like run one
 * part; `npm test -- --list` names the parts.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { buildWorkspaces, installPackages, root } from './bootstrap.mjs'

const isFull = process.argv.includes('--all')
const cache = join(root, 'server/.cache')
const coverageFolder = join(cache, 'coverage')
const postgres15 = '/usr/lib/postgresql/15/bin/postgres'
const seed = process.env.TEST_SEED ?? (isFull ? String(Date.now() % 2 ** 31) : '1')
const totals = { passed: 0, failed: 0, skipped: 0 }
/** Printed again at the end, because a run of thousands of tests is long to look back through. */
const failedTests = []
/** How long each test file took, by the part it ran in. */
const files = []
/** Tests that passed only on the second run. */
const flaky = []

async function run(command, args, { cwd = root, env = {} } = {}) {
  const child = spawn(command, args, { cwd, stdio: 'inherit', env: { ...process.env, TEST_SEED: seed, ...env } })
  const [status] = await once(child, 'close')
  return status === 0
}

const bin = (name) => join(root, 'node_modules/.bin', name)

async function vitest(part, filters = [], { env = {}, folder = 'server' } = {}) {
  const outputFile = join(cache, `${part}.json`)
  rmSync(outputFile, { force: true })
  const flags = ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${outputFile}`, ...filters]
  const isGood = await run(bin('vitest'), flags, { cwd: join(root, folder), env })
  if (existsSync(outputFile)) {
    const result = JSON.parse(readFileSync(outputFile, 'utf8'))
    totals.passed += result.numPassedTests
    totals.failed += result.numFailedTests
    totals.skipped += result.numPendingTests + result.numTodoTests
    for (const file of result.testResults) {
      failedTests.push(...failuresOf(file))
      flaky.push(...flakyTestsOf(file))
      files.push({ name: relative(root, file.name), part, ms: file.endTime - file.startTime })
    }
  }
  return isGood
}

function failuresOf(file) {
  const name = relative(root, file.name)
  const failed = file.assertionResults.filter((one) => one.status === 'failed')
  if (failed.length === 0 && file.status === 'failed') return [`${name}\n${file.message}`]
  return failed.map((one) => `${name} > ${one.fullName}\n${one.failureMessages.join('\n')}`)
}

/** A test that passed when it was run again keeps the messages of its failure. */
function flakyTestsOf(file) {
  const passed = file.assertionResults.filter((one) => one.status === 'passed' && one.failureMessages.length > 0)
  return passed.map(
    (one) => `${relative(root, file.name)} > ${one.fullName}\n    ${one.failureMessages[0].split('\n')[0]}`,
  )
}

/** Without `--all` the configuration of vitest divides the contract files between two databases. */
async function server() {
  rmSync(coverageFolder, { recursive: true, force: true })
  mkdirSync(coverageFolder, { recursive: true })
  if (isFull) return vitest('server', [], { env: { TEST_ROUNDS: 'full', TEST_POSTGRES: '18' } })
  const isInstalled = existsSync(postgres15)
  if (!isInstalled)
    process.stdout.write(`PostgreSQL 15 is not installed (${postgres15}): all tests run on the embedded PostgreSQL.\n`)
  return (await vitest('server', ['--project=!nightly'])) && (isInstalled || process.env.CI === undefined)
}

/**
 * Once more on the oldest PostgreSQL supported: the contract with two server processes used alternately, and the races, which
 * start two processes themselves.
 */
async function onPostgres15() {
  if (!existsSync(postgres15)) {
    process.stdout.write(`Not run: PostgreSQL 15 is not installed (${postgres15}).\n`)
    return process.env.CI === undefined
  }
  const env = { TEST_ROUNDS: 'full', TEST_POSTGRES: '15' }
  const contract = ['test/contract', 'test/db/tenancy']
  const isKept = await vitest('PostgreSQL 15', contract, { env: { ...env, TEST_PROCESSES: '2' } })
  return (await vitest('PostgreSQL 15, races', ['test/races'], { env })) && isKept
}

/** The browser is chosen in web/test/support/browser.ts. */
async function browser() {
  const outputFile = join(root, 'web/.cache/browser.json')
  rmSync(outputFile, { force: true })
  const isGood = await run(bin('playwright'), ['test', '--reporter=list,json'], {
    cwd: join(root, 'web'),
    env: { PLAYWRIGHT_JSON_OUTPUT_NAME: outputFile, ...(isFull ? { TEST_ROUNDS: 'full' } : {}) },
  })
  if (existsSync(outputFile)) {
    const { stats, suites } = JSON.parse(readFileSync(outputFile, 'utf8'))
    totals.passed += stats.expected + stats.flaky
    totals.failed += stats.unexpected
    totals.skipped += stats.skipped
    for (const suite of suites)
      files.push({ name: `web/test/${basename(suite.file)}`, part: 'browser', ms: browserMs(suite) })
    flaky.push(...suites.flatMap(flakyTests))
  }
  return isGood
}

/** The browser tests that failed at first and passed when they were run again. */
function flakyTests({ file, specs = [], suites = [] }) {
  const own = specs.filter((spec) => spec.tests.some((test) => test.status === 'flaky'))
  return [...own.map((spec) => `web/test/${file} > ${spec.title}`), ...suites.flatMap(flakyTests)]
}

/** The duration of all tests of a browser suite. */
function browserMs({ specs = [], suites = [] }) {
  const results = specs.flatMap((spec) => spec.tests.flatMap((test) => test.results))
  const own = results.reduce((sum, result) => sum + result.duration, 0)
  return suites.reduce((sum, suite) => sum + browserMs(suite), own)
}

/** Checks that the tests of the server, taken together, ran every statement and produced every declared status. */
function coverage() {
  const options = { cwd: root, encoding: 'utf8' }
  const { status, stdout } = spawnSync(process.execPath, ['scripts/check-coverage.mjs'], options)
  process.stdout.write(stdout)
  if (status !== 0) failedTests.push(stdout)
  return status === 0
}

/** Injects a tenth of the faults and all kinds of abuse, on less data. Where it cannot inject a fault, it skips that one. */
function drill() {
  if (process.platform === 'linux') return run(process.execPath, ['scripts/drill.mjs', '--quick'])
  process.stdout.write('Not run: the drill needs Linux.\n')
  return true
}

const parts = {
  check: () => run(process.execPath, ['scripts/check.mjs']),
  server,
  coverage,
  client: () => vitest('client', [], { folder: 'client' }),
  browser,
  ...(isFull ? { 'PostgreSQL 15': onPostgres15, drill } : {}),
}

const notRun = `Not run here:
  - contract tests a second time: each file ran on the embedded PostgreSQL with one process, or on PostgreSQL 15 with two
  - more than 20 rounds of a race, more than 3 kills of a crash test, three quarters of the runs of a property,
    nine tenths of the runs of the reference model
  - the page about backups, and the other pages of the documentation in reverse order
  - tests around the service: embedded PostgreSQL, backups, failover, terminals, log files, installation,
    packaging, operator commands as programs, several worker processes, demo, simulator, the coverage check itself
  - the drill: faults and abuse while clients write
  - browser flows at phone size, except those marked @phone
\`npm run test:all\` runs them.
`

function slowestFiles() {
  const slowest = files.toSorted((a, b) => b.ms - a.ms).slice(0, 10)
  const lines = slowest.map(({ name, part, ms }) => `${(ms / 1000).toFixed(1).padStart(7)} s  ${name} (${part})\n`)
  return lines.length === 0 ? '' : `\nSlowest test files:\n${lines.join('')}`
}

const wanted = process.argv.includes('--only') ? process.argv.slice(process.argv.indexOf('--only') + 1) : null
if (process.argv.includes('--list')) {
  process.stdout.write(`${Object.keys(parts).join('\n')}\n`)
  process.exit(0)
}

installPackages({ dev: true })
buildWorkspaces('server', 'web', 'client')
mkdirSync(cache, { recursive: true })
const failures = []
const startedAt = performance.now()
const secondsSince = (start) => Math.round((performance.now() - start) / 1000)
for (const [name, check] of Object.entries(parts).filter(([name]) => wanted === null || wanted.includes(name))) {
  process.stdout.write(`\n== ${name}\n`)
  const started = performance.now()
  if (!(await check())) failures.push(name)
  process.stdout.write(`== ${name}: ${secondsSince(started)} s\n`)
}

for (const failure of failedTests) process.stdout.write(`\n✗ ${failure.slice(0, 1500)}\n`)
process.stdout.write(slowestFiles())
if (flaky.length > 0) process.stdout.write(`\nFailed at first, passed on the second run:\n  ${flaky.join('\n  ')}\n`)
if (!isFull) process.stdout.write(`\n${notRun}`)
if (failures.length > 0) process.stdout.write(`\nFailed: ${failures.join(', ')}\n`)
const { passed, failed, skipped } = totals
process.stdout.write(
  `\n${passed} passed, ${failed} failed, ${skipped} skipped in ${secondsSince(startedAt)} s (TEST_SEED=${seed})\n`,
)
process.exitCode = failures.length > 0 ? 1 : 0
