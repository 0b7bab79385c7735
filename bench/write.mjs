import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { chartOf } from './chart.mjs'
import { parts } from './parts.mjs'
import { factsOf, misses } from './report.mjs'

const docs = fileURLToPath(new URL('../docs/', import.meta.url))
const page = `${docs}benchmarks.md`
const chart = 'images/benchmarks.svg'
const marks = ['<!-- figures: written by npm run bench -- --write -->', '<!-- end of figures -->']

function verdictOf(report) {
  const missed = misses(report)
  if (missed.length === 0) return 'Every bar was met.'
  return `Marked with ✗ is what missed its bar in this run: ${missed.join('; ')}.`
}

/** Puts the tables and the facts of a run between the marks of docs/benchmarks.md, and draws the chart. */
export function writeDocs(report) {
  const [before, rest] = readFileSync(page, 'utf8').split(marks[0])
  const after = rest?.split(marks[1])[1]
  if (after === undefined) throw new Error('docs/benchmarks.md has lost the marks between which figures are written')
  const drawn = chartOf(report)
  if (drawn !== null) {
    mkdirSync(`${docs}images`, { recursive: true })
    writeFileSync(docs + chart, drawn)
  }
  const measured = parts.filter(({ name }) => report[name] !== undefined)
  const lines = [
    factsOf(report),
    verdictOf(report),
    ...(drawn === null ? [] : [`![Requests per second of Lastseen and what it is compared with](${chart})`]),
    ...measured.flatMap(({ name, title, render }) => [`### ${title ?? name}`, render(report[name])]),
  ]
  writeFileSync(page, `${before}${marks[0]}\n\n${lines.join('\n\n')}\n\n${marks[1]}${after}`)
}
