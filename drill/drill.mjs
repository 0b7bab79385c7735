/** Injects faults while clients write, and abuses the service while a neighbour reads. See docs/reliability.md. */
import { parseArgs } from 'node:util'
import { Scope, log, startHelper } from '../bench/environment.mjs'
import { runAbuse } from './abuse.mjs'
import { faultGroups } from './faults.mjs'
import { Service } from './service.mjs'
import { soak } from './soak.mjs'
import { createDisk, environments } from './environment.mjs'
import { Writers } from './writers.mjs'

const recoveryLimitMs = 60_000
/** The server's log has a disk of its own, so that a case of abuse can fill it. */
const logDiskMiB = 128

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

/** Injects the faults of a group into a service of its own. */
async function runGroup(scope, { faults, needs = 'none' }, { times }) {
  const { missing, start } = environments[needs]
  const skip = ({ name }, reason) => [name, 0, `skipped: ${reason}`, '']
  if (missing !== undefined)
    return { rows: faults.map((fault) => skip(fault, `${missing} is not installed`)), ...nothing }
  const disk = await scope.use(createDisk())
  const parts = { disk, ...(await start(scope, disk.folder)) }
  const service = await scope.use(
    new Service().start(disk.folder, { broker: parts.broker, settings: parts.clock?.settings }),
  )
  const writers = await scope.use(new Writers(service).start())
  await measureRecovery(writers)
  const rows = []
  for (const fault of faults) {
    const obstacle = fault.obstacle?.(parts)
    if (obstacle !== undefined) {
      rows.push(skip(fault, obstacle))
      continue
    }
    const before = writers.acknowledged
    const recoveries = []
    const count = Math.max(1, Math.round(fault.times * times))
    for (let round = 0; round < count; round++) {
      await fault.run(service, parts)
      recoveries.push(await measureRecovery(writers))
    }
    const after = writers.acknowledged
    const acknowledged = `${after.creates - before.creates} creates, ${after.reads - before.reads} reads`
    rows.push([fault.name, count, acknowledged, `${(Math.max(...recoveries) / 1000).toFixed(1)} s`])
    log(`${fault.name}: ${count} times, ${acknowledged}`)
  }
  await writers.stop()
  return { rows, ...(await writers.compare()) }
}

const nothing = { acknowledged: 0, lost: 0, duplicated: 0 }

const toTable = (columns, rows) =>
  [columns, columns.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')

async function drillFaults(scope, { isQuick, caseName }) {
  const results = []
  const isSelected = ({ name, isSlow = false }) => name.includes(caseName) && !(isQuick && isSlow)
  for (const { faults, needs } of faultGroups) {
    const selected = faults.filter(isSelected)
    if (selected.length === 0) continue
    const part = await scope.use(new Scope())
    results.push(await runGroup(part, { faults: selected, needs }, { times: isQuick ? 0.1 : 1 }))
    await part.stop()
  }
  if (results.length === 0) throw new Error(`No fault is named like "${caseName}".`)
  const sum = (valueOf) => results.reduce((total, result) => total + valueOf(result), 0)
  const rows = results.flatMap((result) => result.rows)
  const total = rows.reduce((count, [, times]) => count + times, 0)
  const [acknowledged, lost, duplicated] = ['acknowledged', 'lost', 'duplicated'].map((key) => sum((one) => one[key]))
  process.stdout.write(`${toTable(['fault', 'times', 'acknowledged meanwhile', 'longest recovery'], rows)}\n\n`)
  process.stdout.write(
    `${total} faults, ${acknowledged} writes acknowledged, ${lost} lost, ${duplicated} duplicated.\n\n`,
  )
  return lost + duplicated === 0
}

async function drillAbuse(scope, { isQuick, caseName }) {
  const disk = await scope.use(createDisk())
  const logDisk = await scope.use(createDisk(logDiskMiB))
  const service = await scope.use(new Service().start(disk.folder, { logFolder: logDisk.folder }))
  const neighbour = await scope.use(startHelper('../drill/neighbour.mjs'))
  const { columns, rows } = await runAbuse(service, neighbour, { isQuick, caseName, logDisk, log })
  process.stdout.write(`${toTable(columns, rows)}\n\n`)
  return rows.every((cells) => !cells.at(-1).startsWith('**no**'))
}

async function drillSoak(scope, { minutes }) {
  const { columns, rows } = await soak(scope, { minutes, log })
  process.stdout.write(`${toTable(columns, rows)}\n\n`)
  return rows.every((cells) => cells.at(-1) === 'yes')
}

const drills = { faults: drillFaults, abuse: drillAbuse, soak: drillSoak }

/** The exit code is 0 when no write was lost or duplicated, and every case of abuse stayed within its bounds. */
export async function main() {
  const { values } = parseArgs({
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string' },
      case: { type: 'string', default: '' },
      soak: { type: 'boolean', default: false },
      minutes: { type: 'string', default: '60' },
    },
  })
  const minutes = Number(values.minutes)
  if (!(minutes > 0)) throw new Error('--minutes must be a positive number.')
  const usual = values.soak ? ['soak'] : values.case ? ['abuse'] : ['faults', 'abuse']
  const names = values.only?.split(',') ?? usual
  const unknown = names.filter((name) => !(name in drills))
  if (unknown.length > 0)
    throw new Error(`Unknown drill: ${unknown}. The drills are ${Object.keys(drills).join(', ')}.`)
  const scope = new Scope()
  const stop = () => void scope.stop().then(() => process.exit(130))
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, stop)
  try {
    for (const name of names) {
      const part = await scope.use(new Scope())
      const isPassed = await drills[name](part, { isQuick: values.quick, caseName: values.case, minutes })
      if (!isPassed) process.exitCode = 1
      await part.stop()
    }
  } finally {
    await scope.stop()
  }
}
