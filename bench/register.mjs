/** Assets and what is known of them, through the API, beside the floor, in an organization of each size. */
import { setTimeout as sleep } from 'node:timers/promises'
import { exchangeAll, makeDataset } from './database.mjs'
import { operations } from './operations.mjs'
import { memoryOf, processorMsOf, startFloor, startLoad, startService } from './processes.mjs'
import { growthOf, registerMisses, renderRegister, summarize } from './register-report.mjs'
import { checkSameness } from './sameness.mjs'

const connections = 16
const settleMs = 3_000
const restMs = 30_000

async function stage(started, postgres, load, size, options) {
  const began = performance.now()
  const dataset = await makeDataset(postgres.url, size, options.credentials)
  options.say(`${size} assets are in after ${Math.round((performance.now() - began) / 1000)} s`)
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
 * Both run unmeasured first, until their code is compiled. Then service and floor take turns, short ones and many, and
 * who goes first alternates, so that what else the machine does hits both alike: it changes its pace from second to second.
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

async function measureRegister(started, postgres, options) {
  const load = await started.add(startLoad())
  const stages = []
  for (const size of options.sizes) stages.push(await stage(started, postgres, load, size, options))
  const lines = []
  for (const operation of options.names) {
    const results = await measureAll(load, stages, operation, options)
    lines.push(...linesOf(operation, results))
    options.say(`${operation}: ${lines.slice(-stages.length).map(inShort).join(', ')}`)
  }
  await sleep(settleMs)
  // A process is idle when it has had time to tidy up.
  await sleep(restMs)
  const memory = stages.map(({ size, idleMib, service }) => ({ size, idleMib, afterMib: memoryOf(service.pid) }))
  return { lines, memory, connections, rounds: options.rounds, seconds: options.measureMs / 1000 }
}

export const register = {
  name: 'register',
  title: 'The register, beside the floor',
  /** Each can be asked for by itself. */
  choices: Object.keys(operations),
  pace: {
    full: {
      minutes: 16,
      sizes: [10_000, 1_000_000],
      rounds: 41,
      warmMs: 50,
      measureMs: 250,
      compileMs: 3_000,
      credentials: 5_000,
    },
    quick: {
      minutes: 5,
      sizes: [10_000],
      rounds: 21,
      warmMs: 50,
      measureMs: 250,
      compileMs: 2_000,
      credentials: 2_500,
    },
  },
  measure: measureRegister,
  render: renderRegister,
  misses: registerMisses,
}
