/** Point reads with one server process and with two, in turns, and the processor time that each side takes of a request. */
import { exchangeAll, makeDataset, postmasterOf } from './database.mjs'
import { median, whole } from './figures.mjs'
import { familyProcessorMsOf, freePort, processorMsOf, startPipeline, startService } from './processes.mjs'
import { patiently } from './surroundings.mjs'

const bar = 1.5
const cores = 2
/** What they send is just what one process lets one organization have under way and waiting. */
const connections = 42
/** Requests that travel in one packet. */
const requestsTogether = 4
/** Until the code is compiled. */
const firstWarmMs = 10_000

const kinds = {
  one: 'one process',
  two: '`--workers 2`',
  // As on several machines: what it costs to ask the database about every bucket.
  shared: '`--workers 2`, buckets in the database',
}

async function startServices(started, postgres, credentials) {
  // A database for each: who has company on it shares the buckets with it.
  const start = async (kind, more) => {
    const { url, name, ...dataset } = await makeDataset(postgres.url, 10_000, credentials, `bench_${kind}`)
    const PORT = String(await freePort())
    const environment = { PORT, ...more.environment }
    const service = await started.add(startService({ url, folder: postgres.folder, name, ...more, environment }))
    const pipeline = await started.add(startPipeline())
    const tokens = await exchangeAll(service.port, dataset.credentials)
    await pipeline.prepare({ sample: dataset.sample, tokens, connections, requestsTogether })
    return { service, pipeline }
  }
  const environment = { LASTSEEN_RATE_LIMIT_STORE: 'database' }
  return {
    one: await start('one', {}),
    two: await start('two', { workers: 2 }),
    shared: await start('shared', { workers: 2, environment }),
  }
}

async function measureOnce({ service, pipeline }, postmaster, pace) {
  const used = () => [familyProcessorMsOf(service.pid), familyProcessorMsOf(postmaster), processorMsOf(pipeline.pid)]
  const before = used()
  const { perSecond, answered, failed } = await pipeline.run({ port: service.port, ...pace })
  const micros = used().map((value, index) => ((value - before[index]) * 1000) / answered)
  const [serviceMicros, databaseMicros, callerMicros] = micros
  return { perSecond, failed, serviceMicros, databaseMicros, callerMicros }
}

async function measureWorkers(started, postgres, { credentials, rounds, again, warmMs, measureMs, say }) {
  const services = await startServices(started, postgres, credentials)
  const postmaster = await postmasterOf(postgres.url)
  const results = { one: [], two: [], shared: [] }
  const order = Object.keys(results)
  for (const kind of order) await measureOnce(services[kind], postmaster, { warmMs: firstWarmMs, measureMs: 0 })
  const undisturbed = patiently(again)
  for (let round = 0; round < rounds; round++) {
    // Each is first, in the middle and last as often.
    const first = round % order.length
    const seen = await undisturbed(async () => {
      const ofKinds = {}
      for (const kind of [...order.slice(first), ...order.slice(0, first)])
        ofKinds[kind] = await measureOnce(services[kind], postmaster, { warmMs, measureMs })
      return ofKinds
    })
    for (const kind of order) results[kind].push(seen[kind])
  }
  const lines = order.map((kind) => summarize(kind, results[kind], results.one))
  say(`two processes: ${lines[1].ratio.toFixed(2)} times one, ${lines[1].ceiling.toFixed(2)} at most`)
  return lines
}

function summarize(kind, rounds, ones) {
  const of = (key) => median(rounds.map((round) => round[key]))
  const [serviceMicros, databaseMicros, callerMicros] = ['serviceMicros', 'databaseMicros', 'callerMicros'].map(of)
  const mostPerSecond = (cores * 1e6) / (serviceMicros + databaseMicros + callerMicros)
  return {
    kind,
    perSecond: of('perSecond'),
    ratio: median(rounds.map(({ perSecond }, round) => perSecond / ones[round].perSecond)),
    serviceMicros,
    databaseMicros,
    callerMicros,
    mostPerSecond,
    /** What the ratio could be if neither core ever waited. */
    ceiling: mostPerSecond / median(ones.map((one) => one.perSecond)),
    failed: rounds.reduce((sum, round) => sum + round.failed, 0),
  }
}

function renderWorkers(lines) {
  const row = (line) => {
    const verdict = line.kind === 'two' && line.ratio < bar ? ' ✗' : ''
    const ratios = line.kind === 'one' ? '|' : `${line.ratio.toFixed(2)}${verdict} | ${line.ceiling.toFixed(2)}`
    const micros = [line.serviceMicros, line.databaseMicros, line.callerMicros].map(whole).join(' | ')
    return (
      `| ${kinds[line.kind]} | ${whole(line.perSecond)} | ${micros} | ${whole(line.mostPerSecond)} | ${ratios} | ` +
      `${line.kind === 'two' ? bar : ''} |`
    )
  }
  const [one, two] = lines
  const isOutOfReach = two.ratio < bar && two.ceiling < bar
  return [
    '| point reads | req/s | service µs | PostgreSQL µs | caller µs | at most req/s | ratio | at most | bar |',
    '|---|--:|--:|--:|--:|--:|--:|--:|--:|',
    ...lines.map(row),
    ...(isOutOfReach
      ? [
          '',
          `A request costs ${whole(two.serviceMicros + two.databaseMicros + two.callerMicros)} µs of processor time with two ` +
            `processes, callers and PostgreSQL included: ${cores} cores give at most ${whole(two.mostPerSecond)} a second, ` +
            `which is ${two.ceiling.toFixed(2)} times the ${whole(one.perSecond)} of one process. ` +
            `${bar} is out of reach with the callers on the same ${cores} cores.`,
        ]
      : []),
  ].join('\n')
}

function workersMisses(lines) {
  const missed = lines.filter((line) => line.failed > 0).map((line) => `${line.kind} of workers: failures`)
  if (lines[1].ratio < bar) missed.push('workers: ratio')
  return missed
}

export const workers = {
  name: 'workers',
  title: 'One process and two',
  pace: {
    full: { minutes: 14, credentials: 5_000, rounds: 15, again: 15, warmMs: 1_500, measureMs: 1_500 },
    quick: { minutes: 7, credentials: 2_500, rounds: 6, again: 6, warmMs: 1_500, measureMs: 1_000 },
  },
  measure: measureWorkers,
  render: renderWorkers,
  misses: workersMisses,
}
