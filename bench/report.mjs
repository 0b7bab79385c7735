import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parts } from './parts.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })

/** What was measured: the commit, and whether the program or the benchmark was changed since. */
function commitFact() {
  try {
    const isChanged = git('status', '--porcelain', '--', 'server', 'web', 'bench', 'package-lock.json') !== ''
    return `${git('rev-parse', '--short=12', 'HEAD').trim()}${isChanged ? ' with changes' : ''}`
  } catch {
    return 'unknown'
  }
}

export function machineFacts(postgresVersion) {
  const processors = cpus()
  const memoryGib = Math.round(totalmem() / 2 ** 30)
  return {
    processor: `${processors[0]?.model ?? 'unknown'}, ${processors.length} cores`,
    memory: `${memoryGib} GiB`,
    system: `${process.platform} ${process.arch}`,
    node: process.version.slice(1),
    postgres: postgresVersion,
    commit: commitFact(),
    date: new Date().toISOString().slice(0, 10),
  }
}

const measured = (report) => parts.filter(({ name }) => report[name] !== undefined)

export function factsOf({ machine, isQuick }) {
  const { processor, memory, system, node, postgres, commit, date } = machine
  return (
    `${processor}, ${memory}, ${system}, Node ${node}, PostgreSQL ${postgres}. ` +
    `Commit ${commit}, ${date}${isQuick ? ', a quick run' : ''}.`
  )
}

export const render = (report) =>
  [...measured(report).flatMap(({ name, render }) => [render(report[name]), '']), factsOf(report)].join('\n')

/** Bars that were missed, failures included. */
export const misses = (report) => [
  ...measured(report).flatMap(({ name, misses }) => misses(report[name])),
  ...report.failed.map((name) => `${name} could not be measured`),
]

/** Reports written earlier with --json, as one. Only what was measured on one machine and commit belongs together. */
export function readReports(files) {
  const reports = files.map((file) => JSON.parse(readFileSync(file, 'utf8')))
  const sameOf = ({ machine, isQuick }) => JSON.stringify({ ...machine, date: null, isQuick })
  if (reports.some((report) => sameOf(report) !== sameOf(reports[0])))
    throw new Error('These reports are of different machines, commits or paces.')
  return Object.assign({}, ...reports, { failed: reports.flatMap(({ failed }) => failed) })
}
