/** Injects faults while clients write, and abuses the service while a neighbour reads. See docs/reliability.md. */
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Scope, log } from '../bench/environment.mjs'
import { runAbuse } from './abuse.mjs'
import { faults } from './faults.mjs'
import { Service } from './service.mjs'
import { Writers } from './writers.mjs'

const diskMiB = 1_500
const recoveryLimitMs = 60_000

/** Creates a folder on its own small file system, which a fault can fill; an ordinary folder when mounting is not allowed. */
function createDataFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'lastseen-drill-'))
  chmodSync(folder, 0o755)
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${diskMiB}m,mode=755`, 'tmpfs', folder])
  const isOnOwnDisk = mounted.status === 0
  return {
    folder,
    isOnOwnDisk,
    async stop() {
      if (isOnOwnDisk) spawnSync('umount', ['-l', folder])
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Returns the time in milliseconds until every writer has received an acknowledgement again. */
async function measureRecovery(writers) {
  const startedAt = performance.now()
  try {
    await writers.waitForProgress(AbortSignal.timeout(recoveryLimitMs))
  } catch (error) {
    throw new Error(`a writer received no acknowledgement within ${recoveryLimitMs / 1000} s`, { cause: error })
  }
  return performance.now() - startedAt
}

async function runFaults(scope, { times }) {
  const disk = await scope.use(createDataFolder())
  const service = await scope.use(new Service().start(disk.folder))
  const writers = await scope.use(new Writers(service).start())
  await measureRecovery(writers)
  const rows = []
  for (const fault of faults) {
    if (fault.isPossible?.(disk) === false) {
      rows.push([fault.name, 0, 'skipped: cannot mount a file system', ''])
      continue
    }
    const before = writers.acknowledged
    const recoveries = []
    const count = Math.max(1, Math.round(fault.times * times))
    for (let round = 0; round < count; round++) {
      await fault.run(service, disk)
      recoveries.push(await measureRecovery(writers))
    }
    const after = writers.acknowledged
    const acknowledged = `${after.creates - before.creates} creates, ${after.reads - before.reads} reads`
    rows.push([fault.name, count, acknowledged, `${(Math.max(...recoveries) / 1000).toFixed(1)} s`])
    log(`${fault.name}: ${count} times, ${acknowledged}`)
  }
  await writers.stop()
  return { rows, compared: await writers.compare() }
}

const toTable = (columns, rows) =>
  [columns, columns.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')

async function drillFaults(scope, { isQuick }) {
  const { rows, compared } = await runFaults(scope, { times: isQuick ? 0.1 : 1 })
  const total = rows.reduce((sum, [, count]) => sum + count, 0)
  const { acknowledged, lost, duplicated } = compared
  process.stdout.write(`${toTable(['fault', 'times', 'acknowledged meanwhile', 'longest recovery'], rows)}\n\n`)
  process.stdout.write(
    `${total} faults, ${acknowledged} writes acknowledged, ${lost} lost, ${duplicated} duplicated.\n\n`,
  )
  return lost + duplicated === 0
}

async function drillAbuse(scope, { isQuick }) {
  const disk = await scope.use(createDataFolder())
  const service = await scope.use(new Service().start(disk.folder))
  const { columns, rows } = await runAbuse(service, { isQuick, log })
  process.stdout.write(`${toTable(columns, rows)}\n\n`)
  return rows.every((cells) => cells.at(-1) === 'yes')
}

const drills = { faults: drillFaults, abuse: drillAbuse }

/** The exit code is 0 when no write was lost or duplicated, and every case of abuse stayed within its bounds. */
export async function main() {
  const options = { quick: { type: 'boolean', default: false }, only: { type: 'string' } }
  const { values } = parseArgs({ options })
  const names = values.only?.split(',') ?? Object.keys(drills)
  const unknown = names.filter((name) => !(name in drills))
  if (unknown.length > 0)
    throw new Error(`Unknown drill: ${unknown}. The drills are ${Object.keys(drills).join(', ')}.`)
  const scope = new Scope()
  const stop = () => void scope.stop().then(() => process.exit(130))
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, stop)
  try {
    for (const name of names) {
      const part = await scope.use(new Scope())
      const isPassed = await drills[name](part, { isQuick: values.quick })
      if (!isPassed) process.exitCode = 1
      await part.stop()
    }
  } finally {
    await scope.stop()
  }
}
