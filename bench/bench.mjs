/** Measures the service beside the floor, in the same run and on the same data. See docs/benchmarks.md. */
import { writeFileSync } from 'node:fs'
import { dropDatabases, startPostgres, versionOf } from './database.mjs'
import { readOptions } from './options.mjs'
import { emptyReport, factsOfRun, joined, misses, readReport, render } from './report.mjs'
import { Started, say } from './started.mjs'
import { watched } from './surroundings.mjs'
import { writeDocs } from './write.mjs'

const startMinutes = 1

/** A part that fails does not take the others with it. */
async function bench(started, { chosen, isQuick }, keep) {
  const postgres = await started.add(startPostgres())
  const facts = factsOfRun(await versionOf(postgres.url), isQuick)
  const report = emptyReport()
  for (const { part, pace } of chosen) {
    // What one part started and made is gone before the next begins.
    const own = await started.add(new Started())
    try {
      const { result, surroundings } = await watched(postgres.folder, () => part.measure(own, postgres, pace))
      report.parts[part.name] = { facts: { ...facts, surroundings }, result }
    } catch (error) {
      say(`${part.name} could not be measured: ${error.message}`)
      report.failed.push(part.name)
    }
    await own.stop()
    await dropDatabases(postgres.url)
    keep(report)
  }
  return report
}

/** Measures, and ends by itself when it is told to or when it takes too long. */
async function run(options, keep) {
  const minutes = options.chosen.reduce((sum, { pace }) => sum + pace.minutes, startMinutes)
  const started = new Started()
  let isStopping = false
  const abort = async (why) => {
    if (isStopping) return
    isStopping = true
    say(why)
    await started.stop()
    process.exit(1)
  }
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void abort('Stopping …'))
  const timer = setTimeout(() => void abort('The benchmark took too long and was stopped.'), minutes * 60_000)
  try {
    return await bench(started, options, keep)
  } finally {
    clearTimeout(timer)
    if (!isStopping) await started.stop()
  }
}

/** Exit code 0 when every bar is met, 1 when one is missed or something failed. */
export async function main() {
  const options = readOptions(say)
  const keep = (report) => options.json && writeFileSync(options.json, `${JSON.stringify(report, null, 2)}\n`)
  const report = options.from === undefined ? await run(options, keep) : joined(options.from.map(readReport))
  process.stdout.write(`${render(report)}\n`)
  if (options.isWritten) writeDocs(report)
  const missed = misses(report)
  if (missed.length > 0) say(`Bars missed: ${missed.join('; ')}`)
  process.exitCode = missed.length > 0 ? 1 : 0
}
