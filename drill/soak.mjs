/**
 * A long run of mixed load at half of the peak. The memory, the handles, the connections and the tables that are updated in
 * place must not grow: the last third of the run is compared with the second third. The first third is the warm-up.
 */
import { readdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { residentMiB } from '../bench/environment.mjs'
import { createSession } from '../bench/requests.mjs'
import { createOrganization } from '../bench/seed.mjs'
import { median } from '../bench/statistics.mjs'
import { addTarget, apiLoad, measureLoad, startLoad } from '../bench/targets.mjs'
import { Service } from './service.mjs'
import { createFolder } from './environment.mjs'
import { Writers, simulatedMinutes } from './writers.mjs'

const rounds = 60
const roundsPerThird = rounds / 3
/** The heap in use doubles between two garbage collections, so its lowest value needs many samples. */
const samplePauseMs = 5_000
const credentials = 5_000
const mix = ['point read', 'list of 50', 'substring search', 'create', 'asset history', 'report']
const name = 'soak'
/** The writers, which check that nothing is lost, pause between writes; the load comes from the generator. */
const writerPauseMs = 100
/** Each writer takes a minute of simulated time per message. */
const maxMinutes = Math.floor((simulatedMinutes * writerPauseMs) / 60_000)
const maxGrowth = 1.1
/** The generator shares the processors with the service, so it may be late now and then. */
const minSentShare = 0.98

/** Tables whose rows are updated or deleted again: their size shows whether space is reused. */
const updatedTables = [
  'asset_positions',
  'record_counts',
  'key_counters',
  'readers',
  'credentials',
  'organizations',
  'recent_sightings',
  'rate_buckets',
  'sign_in_failures',
  'webhook_outbox',
]

const minimum = (values) => Math.min(...values)

/**
 * The measured values that must not grow. `tolerance` is the fluctuation that is allowed. The memory of a process goes up
 * and down with garbage collection, so its lowest value is compared.
 */
const measures = {
  'server memory (MiB)': { tolerance: 20, summary: minimum, valueOf: ({ service }) => residentMiB(service.pid) },
  'server heap in use (MiB)': {
    tolerance: 8,
    summary: minimum,
    valueOf: ({ metrics }) => metrics.nodejs_heap_size_used_bytes / 2 ** 20,
  },
  'open handles': { tolerance: 20, summary: median, valueOf: ({ metrics }) => metrics.nodejs_active_handles_total },
  'file descriptors': {
    tolerance: 20,
    summary: median,
    valueOf: ({ service }) => readdirSync(`/proc/${service.pid}/fd`).length,
  },
  'database connections': { tolerance: 4, summary: median, valueOf: ({ stored }) => stored.connections },
  'tables updated in place (MiB)': { tolerance: 4, summary: median, valueOf: ({ stored }) => stored.bytes / 2 ** 20 },
}

async function readMetrics({ httpPort }, token) {
  const headers = { Authorization: `Bearer ${token}` }
  const text = await (await fetch(`http://127.0.0.1:${httpPort}/metrics`, { headers })).text()
  return Object.fromEntries(
    text
      .split('\n')
      .filter((line) => /^\w+ /.test(line))
      .map((line) => line.split(' '))
      .map(([key, value]) => [key, Number(value)]),
  )
}

const readStored = (service) =>
  service.withDatabase(async (client) => {
    const { rows } = await client.query(
      `select (select count(*) from pg_stat_activity where backend_type = 'client backend')::int as connections,
        (select sum(pg_total_relation_size(t.name::regclass)) from unnest($1::text[]) t (name))::bigint as bytes`,
      [updatedTables],
    )
    return rows[0]
  })

/** Repeats the work once, because one lost connection must not end a long run. */
const withRetry = (work) => work().catch(work)

/** Returns the values of all measures in order. */
async function takeSample(service, token) {
  const metrics = await withRetry(() => readMetrics(service, token))
  const sources = { service, metrics, stored: await readStored(service) }
  return Object.values(measures).map(({ valueOf }) => valueOf(sources))
}

/** Compares the thirds of the run; returns rows of the table. */
function judgeGrowth(samplesOfRounds) {
  return Object.entries(measures).map(([title, { tolerance, summary }], index) => {
    const ofThird = (third) => {
      const samples = samplesOfRounds.slice(third * roundsPerThird, (third + 1) * roundsPerThird).flat()
      return summary(samples.map((values) => values[index]))
    }
    const [before, after] = [ofThird(1), ofThird(2)]
    const isFlat = after <= Math.max(before * maxGrowth, before + tolerance)
    return [title, before.toFixed(0), after.toFixed(0), isFlat ? 'yes' : '**no**']
  })
}

const count = (counts, key, more) => (counts[key] = (counts[key] ?? 0) + more)

export async function soak(scope, { minutes, log }) {
  if (minutes > maxMinutes) throw new Error(`--minutes can be at most ${maxMinutes}.`)
  // Not on the file system in memory: an hour of load stores more than fits there.
  const { folder } = await scope.use(createFolder())
  const token = 'soak-metrics-token'
  const service = await scope.use(new Service().start(folder, { settings: { LASTSEEN_METRICS_TOKEN: token } }))
  const organization = await createOrganization({
    url: service.databaseUrl,
    name,
    assets: 10_000,
    credentials,
    minutesPerAsset: 1,
  })
  const load = await startLoad(scope)
  const refresh = createSession(service.serverPort, organization.credentials, (tokens) =>
    addTarget(load, name, service.serverPort, organization, tokens),
  )
  await withRetry(refresh)
  const peak = await measureLoad(load, apiLoad(name, mix, 32), { warmUpMs: 5_000, measureMs: 10_000 })
  const writers = await scope.use(new Writers(service, { pauseMs: writerPauseMs }).start())
  const perSecond = peak.perSecond / 2
  log(`Peak ${Math.round(peak.perSecond)} requests a second; ${minutes} minutes with ${Math.round(perSecond)} …`)

  const samplesOfRounds = []
  const failures = {}
  const measureMs = (minutes * 60_000) / rounds
  const startedAt = performance.now()
  for (let round = 1; round <= rounds; round++) {
    await withRetry(refresh)
    const slice = { target: name, operations: mix, perSecond, maxInFlight: 256, warmUpMs: 0, measureMs }
    const running = load.call('runOpenLoop', slice)
    const samples = []
    samplesOfRounds.push(samples)
    do {
      samples.push(await takeSample(service, token))
    } while ((await Promise.race([running, sleep(samplePauseMs)])) === undefined)
    const result = await running
    for (const [status, times] of Object.entries(result.failures)) count(failures, status, times)
    const elapsedMin = (performance.now() - startedAt) / 60_000
    const values = samples.at(-1).map((value) => value.toFixed(0))
    if (round % 5 === 0) log(`${elapsedMin.toFixed(1)} min: p99 ${result.p99Ms.toFixed(0)} ms; ${values.join(', ')}`)
  }
  await writers.stop()
  const { acknowledged, lost, duplicated } = await writers.compare()
  const { 'generator late': late = 0, ...failed } = failures
  const sentShare = 1 - late / (perSecond * minutes * 60)
  const [isLoaded, isServed] = [sentShare >= minSentShare, Object.keys(failed).length === 0]
  const wrong = lost + duplicated
  return {
    columns: [`${minutes} minutes at ${Math.round(perSecond)} requests/s`, 'second third', 'last third', 'as promised'],
    rows: [
      ...judgeGrowth(samplesOfRounds),
      ['failed requests', '', isServed ? 0 : JSON.stringify(failed), isServed ? 'yes' : '**no**'],
      ['requests that were sent in time', '', `${(sentShare * 100).toFixed(1)} %`, isLoaded ? 'yes' : '**no**'],
      [`of ${acknowledged} writes, lost or duplicated`, '', wrong, wrong === 0 ? 'yes' : '**no**'],
    ],
  }
}
