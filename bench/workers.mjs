/** Point reads with one server process and with two, in turns, and the processor time that each side takes of a request. */
import { makeDataset, postmasterOf, signingIn } from './database.mjs'
import { median, whole } from './figures.mjs'
import { familyProcessorMsOf, freePort, processorMsOf, startPipeline, startService } from './processes.mjs'
import { Started } from './started.mjs'
import { patiently } from './surroundings.mjs'

const bar = 1.5
const cores = 2
/** What they send is just what one process lets one organization have under way and waiting. */
const connections = 28
/** Requests that travel in one packet. */
const requestsTogether = 6
/** Until the code is compiled. */
const firstWarmMs = 15_000

const kinds = {
  one: 'one process',
  two: '`--workers 2`',
  // As on several machines: what it costs to ask the database about every bucket.
  shared: '`--workers 2`, buckets in the database',
}

/** What outlives the processes of a kind. A database for each: who has company on it shares the buckets with it. */
async function makeKinds(postgres, credentials) {
  const make = async (name, settings) => {
    const dataset = await makeDataset(postgres.url, 10_000, credentials, `bench_${name}`)
    const kind = { dataset, settings, port: await freePort(), tokens: [] }
    kind.signIn = signingIn(kind.port, dataset.credentials, (tokens) => (kind.tokens = tokens))
    return kind
  }
  const environment = { LASTSEEN_RATE_LIMIT_STORE: 'database' }
  return {
    one: await make('one', {}),
    two: await make('two', { workers: 2 }),
    shared: await make('shared', { workers: 2, environment }),
  }
}

async function startKind(started, folder, kind) {
  const { dataset, settings, port } = kind
  const environment = { PORT: String(port), ...settings.environment }
  const service = await started.add(
    startService({ url: dataset.url, folder, name: dataset.name, ...settings, environment }),
  )
  await kind.signIn()
  const pipeline = await started.add(startPipeline())
  await pipeline.prepare({ sample: dataset.sample, tokens: kind.tokens, connections, requestsTogether })
  return { service, pipeline }
}

async function measureOnce({ service, pipeline }, postmaster, pace) {
  const used = () => [familyProcessorMsOf(service.pid), familyProcessorMsOf(postmaster), processorMsOf(pipeline.pid)]
  const before = used()
  const { perSecond, answered, failed } = await pipeline.run({ port: service.port, ...pace })
  const micros = used().map((value, index) => ((value - before[index]) * 1000) / answered)
  const [serviceMicros, databaseMicros, callerMicros] = micros
  return { perSecond, failed, serviceMicros, databaseMicros, callerMicros }
}

/** Rounds with processes of their own: how fast one is depends on what was compiled when, and stays so while it lives. */
async function measureStart(services, postmaster, { firstRound, rounds, warmMs, measureMs, undisturbed }) {
  const order = Object.keys(services)
  for (const kind of order) await measureOnce(services[kind], postmaster, { warmMs: firstWarmMs, measureMs: 0 })
  const seen = []
  for (let round = firstRound; round < firstRound + rounds; round++) {
    // Each is first, in the middle and last as often.
    const first = round % order.length
    const measure = async () => {
      const ofKinds = {}
      for (const kind of [...order.slice(first), ...order.slice(0, first)])
        ofKinds[kind] = await measureOnce(services[kind], postmaster, { warmMs, measureMs })
      return ofKinds
    }
    seen.push(await undisturbed(measure))
  }
  return seen
}

async function measureWorkers(started, postgres, { credentials, starts, rounds, again, warmMs, measureMs, say }) {
  const made = await makeKinds(postgres, credentials)
  const postmaster = await postmasterOf(postgres.url)
  const undisturbed = patiently(again)
  const seen = []
  for (let start = 0; start < starts; start++) {
    const own = await started.add(new Started())
    const services = {}
    for (const kind of Object.keys(made)) services[kind] = await startKind(own, postgres.folder, made[kind])
    const pace = { firstRound: start * rounds, rounds, warmMs, measureMs, undisturbed }
    seen.push(...(await measureStart(services, postmaster, pace)))
    await own.stop()
  }
  const of = (kind) => seen.map((round) => round[kind])
  const lines = Object.keys(made).map((kind) => summarize(kind, of(kind), of('one')))
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
    full: { minutes: 18, credentials: 5_000, starts: 3, rounds: 5, again: 15, warmMs: 1_500, measureMs: 1_500 },
    quick: { minutes: 9, credentials: 4_000, starts: 2, rounds: 3, again: 6, warmMs: 1_500, measureMs: 1_000 },
  },
  measure: measureWorkers,
  render: renderWorkers,
  misses: workersMisses,
}
