import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { chartOf } from './chart.mjs'
import { joined, misses, readReport, sections } from './report.mjs'

const docs = fileURLToPath(new URL('../docs/', import.meta.url))
const page = `${docs}benchmarks.md`
/** The figures of the page as they were measured. */
const kept = `${docs}benchmarks.json`
const chart = 'images/benchmarks.svg'
const marks = ['<!-- figures: written by npm run bench -- --write -->', '<!-- end of figures -->']

function verdictOf(report) {
  const missed = misses(report)
  if (missed.length === 0) return 'Every bar was met.'
  return `Marked with ✗ is what missed its bar: ${missed.join('; ')}.`
}

/** What is in the documentation already stays until it is measured again. */
function withKept(report) {
  return existsSync(kept) ? joined([{ ...readReport(kept), failed: [] }, report]) : report
}

/** Puts what was measured beside what is there, writes tables and facts between the marks of the page, draws the chart. */
export function writeDocs(measured) {
  const [before, rest] = readFileSync(page, 'utf8').split(marks[0])
  const after = rest?.split(marks[1])[1]
  if (after === undefined) throw new Error('docs/benchmarks.md has lost the marks between which figures are written')
  const report = withKept(measured)
  writeFileSync(kept, `${JSON.stringify({ parts: report.parts }, null, 2)}\n`)
  const drawn = chartOf(report)
  if (drawn !== null) {
    mkdirSync(`${docs}images`, { recursive: true })
    writeFileSync(docs + chart, drawn)
  }
  const lines = [
    verdictOf(report),
    ...(drawn === null ? [] : [`![Requests per second of Lastseen and what it is compared with](${chart})`]),
    ...sections(report).flatMap(({ title, table, facts }) => [`### ${title}`, table, facts]),
  ]
  writeFileSync(page, `${before}${marks[0]}\n\n${lines.join('\n\n')}\n\n${marks[1]}${after}`)
}
