import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parts } from './parts.mjs'
import { surroundingsText } from './surroundings.mjs'

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

/** Where and of what something is measured. */
export function factsOfRun(postgresVersion, isQuick) {
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
    isQuick,
  }
}

/**
 * A report holds what was measured of each part, and where and of what: parts measured at different times stand beside
 * each other, each with its own commit.
 */
export const emptyReport = () => ({ parts: {}, failed: [] })

const measured = ({ parts: held }) => parts.filter(({ name }) => held[name] !== undefined)

function factsOf({ processor, memory, system, node, postgres, commit, date, isQuick, surroundings }) {
  return (
    `${processor}, ${memory}, ${system}, Node ${node}, PostgreSQL ${postgres}. ${surroundingsText(surroundings)}` +
    `Commit ${commit}, ${date}${isQuick ? ', a quick run' : ''}.`
  )
}

/** Every part with its title, its table, and what it was measured on. */
export const sections = (report) =>
  measured(report).map(({ name, title = name, render }) => {
    const { facts, result } = report.parts[name]
    return { title, table: render(result), facts: factsOf(facts) }
  })

export const render = (report) =>
  sections(report)
    .map(({ table, facts }) => `${table}\n\n${facts}\n`)
    .join('\n')

/** Bars that were missed, failures included. */
export const misses = (report) => [
  ...measured(report).flatMap(({ name, misses }) => misses(report.parts[name].result)),
  ...report.failed.map((name) => `${name} could not be measured`),
]

/** Reports as one; of a part that is in several the last counts, and what failed once may be measured in another. */
export function joined(reports) {
  const held = Object.assign({}, ...reports.map((report) => report.parts))
  return { parts: held, failed: reports.flatMap(({ failed }) => failed).filter((name) => held[name] === undefined) }
}

export const readReport = (file) => JSON.parse(readFileSync(file, 'utf8'))
