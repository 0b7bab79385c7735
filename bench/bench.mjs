/** Measures the service beside the floor, in the same run and on the same data. See docs/benchmarks.md. */
import { writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { measureIngest } from './ingest.mjs'
import { exchangeAll, makeDataset, startPostgres, versionOf } from './database.mjs'
import { operations } from './operations.mjs'
import { memoryOf, processorMsOf, startFloor, startLoad, startService } from './processes.mjs'
import { growthOf, machineFacts, misses, render, summarize } from './report.mjs'
import { checkSameness } from './sameness.mjs'
import { measureParse } from './parse.mjs'
import { measureWeb } from './web.mjs'
import { measureWebhooks } from './webhooks.mjs'

const connections = 16
const settleMs = 3_000
const restMs = 30_000
const say = (line) => process.stderr.write(`${line}\n`)

const pace = {
  full: {
    sizes: [10_000, 1_000_000],
    rounds: 9,
    warmMs: 200,
    measureMs: 800,
    compileMs: 2_000,
    ingestMs: 3_000,
    ingestRounds: 5,
    events: 5_000,
    credentials: 5_000,
    limitMs: 20 * 60_000,
  },
  quick: {
    sizes: [10_000],
    rounds: 7,
    warmMs: 150,
    measureMs: 400,
    compileMs: 1_500,
    ingestMs: 1_000,
    ingestRounds: 3,
    events: 2_000,
    credentials: 2_500,
    limitMs: 4 * 60_000,
  },
}

function readOptions() {
  const { values } = parseArgs({
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string' },
      sizes: { type: 'string' },
      rounds: { type: 'string' },
      json: { type: 'string' },
      profile: { type: 'string' },
    },
  })
  // The web app needs a browser, so it is measured when it is asked for.
  const usual = [...Object.keys(operations), 'ingest', 'webhooks']
  const all = [...usual, 'web', 'parse']
  const wanted = values.only?.split(',') ?? usual
  const unknown = wanted.filter((name) => !all.includes(name))
  if (unknown.length > 0) throw new Error(`No such operation: ${unknown.join(', ')}. There are ${all.join(', ')}`)
  const names = wanted.filter((name) => Object.hasOwn(operations, name))
  const base = values.quick ? pace.quick : pace.full
  const sizes = values.sizes?.split(',').map(Number) ?? base.sizes
  if (sizes.some((size) => !(size >= 1_000 && size <= 10_000_000)))
    throw new Error('--sizes takes numbers from 1000 to 10000000, such as 10000,100000')
  const rounds = values.rounds === undefined ? base.rounds : Number(values.rounds)
  if (!(rounds >= 1 && rounds <= 99)) throw new Error('--rounds takes a number from 1 to 99')
  return {
    ...base,
    names,
    hasIngest: wanted.includes('ingest'),
    hasWebhooks: wanted.includes('webhooks'),
    hasWeb: wanted.includes('web'),
    hasParse: wanted.includes('parse'),
    sizes,
    rounds,
    json: values.json,
    profileDir: values.profile,
  }
}

/** Starts things and stops them in reverse, also after a failure halfway. */
class Started {
  #stops = []

  async add(starting) {
    const thing = await starting
    this.#stops.push(() => thing.stop())
    return thing
  }

  async stopAll() {
    for (const stop of this.#stops.splice(0).reverse())
      await stop().catch((error) => say(`While stopping: ${error.message}`))
  }
}

async function stage(started, postgres, load, size, options) {
  const began = performance.now()
  const dataset = await makeDataset(postgres.url, size, options.credentials)
  say(`${size} assets are in after ${Math.round((performance.now() - began) / 1000)} s`)
  const { url, orgId, poolSize, name, sample } = dataset
  const service = await started.add(
    startService({ url, folder: postgres.folder, name, profileDir: options.profileDir }),
  )
  const floor = await started.add(startFloor({ url, orgId, poolSize, profileDir: options.profileDir }))
  await sleep(settleMs)
  const idleMib = memoryOf(service.pid)
  const tokens = await exchangeAll(service.port, dataset.credentials)
  await load.prepare({ name, sample, tokens })
  await checkSameness({ service, floor, sample, token: tokens[0], names: options.names })
  return { size, name, service, floor, idleMib }
}

async function measure(load, target, pid, dataset, operation, { warmMs, measureMs }) {
  const before = processorMsOf(pid)
  const result = await load.run({ port: target.port, dataset, operation, connections, warmMs, measureMs })
  const micros = ((processorMsOf(pid) - before) * 1_000_000) / (result.perSecond * (warmMs + measureMs))
  return { ...result, processorMicros: micros }
}

function turns(operation, round) {
  if (operations[operation].isWithoutFloor) return ['service']
  return round % 2 === 0 ? ['service', 'floor'] : ['floor', 'service']
}

/**
 * Both run unmeasured first, until their code is compiled. Then service and floor take turns, and who goes first
 * alternates, so that what else the machine does hits both alike.
 */
async function measureAll(load, stages, operation, options) {
  const results = new Map(stages.map(({ size }) => [size, { service: [], floor: [] }]))
  const unmeasured = { ...options, warmMs: options.compileMs, measureMs: 0 }
  for (const one of stages)
    for (const who of turns(operation, 0)) await measure(load, one[who], one[who].pid, one.name, operation, unmeasured)
  for (let round = 0; round < options.rounds; round++)
    for (const one of stages)
      for (const who of turns(operation, round))
        results.get(one.size)[who].push(await measure(load, one[who], one[who].pid, one.name, operation, options))
  return results
}

function linesOf(operation, results) {
  const sizes = [...results.keys()].sort((a, b) => a - b)
  const lines = sizes.map((size) => summarize(operation, size, results.get(size)))
  if (lines.length > 1) lines.at(-1).growth = growthOf(results.get(sizes[0]), results.get(sizes.at(-1)))
  return lines
}

const inShort = ({ size, ratio, medianMs }) =>
  ratio === null ? `${medianMs.toFixed(2)} ms at ${size}` : `${ratio.toFixed(2)} at ${size}`

async function bench(started, options) {
  const postgres = await started.add(startPostgres())
  const machine = machineFacts(await versionOf(postgres.url))
  const register = options.names.length === 0 ? null : await measureRegister(started, postgres, options)
  const { hasIngest, hasWebhooks, ingestRounds, ingestMs } = options
  const ingest = hasIngest ? await measureIngest(started, postgres, { rounds: ingestRounds, ingestMs, say }) : []
  const pace = { rounds: ingestRounds, events: options.events, seconds: 3, say }
  const webhooks = hasWebhooks ? await measureWebhooks(started, postgres, pace) : null
  const web = options.hasWeb ? await measureWeb(started, postgres, { say }) : null
  const parse = options.hasParse ? await measureParse(started, postgres, { ...options, say }) : []
  return {
    parse,
    ...register,
    ingest,
    webhooks,
    web,
    machine,
    connections,
    rounds: options.rounds,
    seconds: options.measureMs / 1000,
  }
}

/** Assets and what is known of them, through the API, in an organization of each size. */
async function measureRegister(started, postgres, options) {
  const load = await started.add(startLoad())
  const stages = []
  for (const size of options.sizes) stages.push(await stage(started, postgres, load, size, options))
  const lines = []
  for (const operation of options.names) {
    const results = await measureAll(load, stages, operation, options)
    lines.push(...linesOf(operation, results))
    say(`${operation}: ${lines.slice(-stages.length).map(inShort).join(', ')}`)
  }
  await sleep(settleMs)
  // A process is idle when it has had time to tidy up.
  await sleep(restMs)
  const memory = stages.map(({ size, idleMib, service }) => ({ size, idleMib, afterMib: memoryOf(service.pid) }))
  return { lines, memory }
}

/** Exit code 0 when every bar is met, 1 when one is missed or something failed. */
export async function main() {
  const options = readOptions()
  const started = new Started()
  let isStopping = false
  const abort = async (why) => {
    if (isStopping) return
    isStopping = true
    say(why)
    await started.stopAll()
    process.exit(1)
  }
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void abort('Stopping …'))
  const timer = setTimeout(() => void abort('The benchmark took too long and was stopped.'), options.limitMs)
  try {
    const report = await bench(started, options)
    process.stdout.write(`${render(report)}\n`)
    if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(report, null, 2)}\n`)
    const missed = misses(report)
    if (missed.length > 0) say(`Bars missed: ${missed.join('; ')}`)
    process.exitCode = missed.length > 0 ? 1 : 0
  } finally {
    clearTimeout(timer)
    if (!isStopping) await started.stopAll()
  }
}
