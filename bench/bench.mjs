/** Measures the service beside the floor, in the same run and on the same data. See docs/benchmarks.md. */
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { dropDatabases, startPostgres, versionOf } from './database.mjs'
import { parts } from './parts.mjs'
import { machineFacts, misses, render } from './report.mjs'

const startMinutes = 1
const say = (line) => process.stderr.write(`${line}\n`)

const choicesOf = ({ name, choices }) => choices ?? [name]

function readOptions() {
  const { values } = parseArgs({
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string' },
      sizes: { type: 'string' },
      rounds: { type: 'string' },
      json: { type: 'string' },
      profile: { type: 'string' },
      minutes: { type: 'string' },
      all: { type: 'boolean', default: false },
    },
  })
  const all = parts.flatMap(choicesOf)
  const wanted = values.only?.split(',') ?? parts.filter((part) => values.all || !part.isExtra).flatMap(choicesOf)
  const unknown = wanted.filter((name) => !all.includes(name))
  if (unknown.length > 0) throw new Error(`No such operation: ${unknown.join(', ')}. There are ${all.join(', ')}`)
  const sizes = values.sizes?.split(',').map(Number)
  if (sizes?.some((size) => !(size >= 1_000 && size <= 10_000_000)))
    throw new Error('--sizes takes numbers from 1000 to 10000000, such as 10000,100000')
  const rounds = values.rounds === undefined ? undefined : Number(values.rounds)
  if (rounds !== undefined && !(rounds >= 1 && rounds <= 99)) throw new Error('--rounds takes a number from 1 to 99')
  const history = values.minutes?.split(',').map(Number)
  if (history?.some((minutes) => !(minutes >= 200_000 && minutes <= 1_000_000_000)))
    throw new Error('--minutes takes numbers from 200000 to 1000000000, such as 1000000,5000000')
  const asked = { ...(sizes && { sizes }), ...(rounds && { rounds }) }
  const common = { say, profileDir: values.profile }
  const chosen = []
  for (const part of parts) {
    const names = choicesOf(part).filter((name) => wanted.includes(name))
    const pace = values.quick ? part.pace.quick : part.pace.full
    const others = { ...(pace.sizes && asked), ...(pace.history && history && { history }) }
    if (names.length > 0) chosen.push({ part, pace: { ...pace, ...others, ...common, names } })
  }
  return { chosen, json: values.json }
}

/** Starts things and stops them in reverse, also after a failure halfway. */
class Started {
  #stops = []

  async add(starting) {
    const thing = await starting
    this.#stops.push(() => thing.stop())
    return thing
  }

  async stop() {
    for (const stop of this.#stops.splice(0).reverse())
      await stop().catch((error) => say(`While stopping: ${error.message}`))
  }
}

async function bench(started, chosen) {
  const postgres = await started.add(startPostgres())
  const report = { machine: machineFacts(await versionOf(postgres.url)) }
  for (const { part, pace } of chosen) {
    // What one part started is gone before the next begins.
    const own = await started.add(new Started())
    report[part.name] = await part.measure(own, postgres, pace)
    await own.stop()
    await dropDatabases(postgres.url)
  }
  return report
}

/** Exit code 0 when every bar is met, 1 when one is missed or something failed. */
export async function main() {
  const { chosen, json } = readOptions()
  const minutes = chosen.reduce((sum, { pace }) => sum + pace.minutes, startMinutes)
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
    const report = await bench(started, chosen)
    process.stdout.write(`${render(report)}\n`)
    if (json !== undefined) writeFileSync(json, `${JSON.stringify(report, null, 2)}\n`)
    const missed = misses(report)
    if (missed.length > 0) say(`Bars missed: ${missed.join('; ')}`)
    process.exitCode = missed.length > 0 ? 1 : 0
  } finally {
    clearTimeout(timer)
    if (!isStopping) await started.stop()
  }
}
