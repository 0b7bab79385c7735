/** Measures the server and its baselines in the same run. See docs/benchmarks.md. */
import { parseArgs } from 'node:util'
import { Scope, dropDatabases, log, machineCpu, startPostgres, withClient } from './environment.mjs'
import { bulk } from './parts/bulk.mjs'
import { crud } from './parts/crud.mjs'
import { growth } from './parts/growth.mjs'
import { ingest } from './parts/ingest.mjs'
import { overload } from './parts/overload.mjs'
import { peer } from './parts/peer.mjs'
import { shared } from './parts/shared.mjs'
import { webhooks } from './parts/webhooks.mjs'
import { workers } from './parts/workers.mjs'
import { factsOf, missedThresholds, readPreviousResults, toTable, writeDocs } from './report.mjs'

/**
 * A part has a name, a title, and `measure`, which returns columns and rows. A cell is a text, a number, or a number with a
 * threshold: `{ value, min }` or `{ value, max }`.
 */
export const parts = [crud, ingest, webhooks, shared, overload, workers, growth, bulk, peer]

function readOptions() {
  const { values } = parseArgs({
    options: {
      only: { type: 'string' },
      all: { type: 'boolean', default: false },
      quick: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
      sizes: { type: 'string' },
    },
  })
  const names = values.only?.split(',') ?? parts.filter((part) => values.all || part.isDefault).map(({ name }) => name)
  const unknown = names.filter((name) => !parts.some((part) => part.name === name))
  if (unknown.length > 0)
    throw new Error(`Unknown part: ${unknown}. The parts are ${parts.map(({ name }) => name).join(', ')}.`)
  const sizes = values.sizes?.split(',').map(Number)
  if (sizes?.some((size) => !(size >= 1_000 && size <= 10_000_000)))
    throw new Error('--sizes takes numbers of assets from 1000 to 10000000, such as 10000,100000')
  const chosen = parts.filter(({ name }) => names.includes(name))
  return { chosen, sizes, isQuick: values.quick, isWritten: values.write }
}

function stolenShare(before, after) {
  return before === null || after === null ? null : (after.stolen - before.stolen) / (after.total - before.total)
}

/** Continues with the next part when a part fails. */
async function measureParts(scope, { chosen, sizes, isQuick }) {
  const postgres = await scope.use(startPostgres())
  const { rows } = await withClient(postgres.url, (client) => client.query('show server_version'))
  const facts = factsOf(rows[0].server_version, isQuick)
  const measured = {}
  for (const { name, title, measure } of chosen) {
    log(`Measuring ${name} …`)
    const partScope = await scope.use(new Scope())
    const cpuBefore = machineCpu()
    try {
      const { columns, rows } = await measure({ scope: partScope, postgres, sizes, isQuick })
      measured[name] = { title, facts: { ...facts, stolenShare: stolenShare(cpuBefore, machineCpu()) }, columns, rows }
      process.stdout.write(`\n${title}\n\n${toTable(measured[name])}\n\n`)
    } catch (error) {
      log(`${name} could not be measured: ${error.stack}${error.cause ? `\nCause: ${error.cause}` : ''}`)
    }
    await partScope.stop()
    await dropDatabases(postgres)
  }
  return measured
}

/** The exit code is 0 when every part was measured and every threshold was met. */
export async function main() {
  const options = readOptions()
  const scope = new Scope()
  for (const signal of ['SIGINT', 'SIGTERM'])
    process.once(signal, async () => {
      await scope.stop()
      process.exit(1)
    })
  try {
    const measured = await measureParts(scope, options)
    if (options.isWritten) writeDocs(parts, { ...readPreviousResults(), ...measured })
    const missed = Object.entries(measured).flatMap(missedThresholds)
    if (missed.length > 0) log(`Thresholds missed: ${missed.join('; ')}`)
    process.exitCode = missed.length === 0 && Object.keys(measured).length === options.chosen.length ? 0 : 1
  } finally {
    await scope.stop()
  }
}
