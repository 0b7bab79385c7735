/**
 * A long run of mixed load at half of the peak. The memory, the handles, the connections and the tables that are updated in
 * place must not grow: the median of the last third of the run is compared with that of the second third.
 */
import { readdirSync } from 'node:fs'
import { residentMiB } from '../bench/environment.mjs'
import { createSession } from '../bench/requests.mjs'
import { createOrganization } from '../bench/seed.mjs'
import { median } from '../bench/statistics.mjs'
import { addTarget, apiLoad, measureLoad, startLoad } from '../bench/targets.mjs'
import { Service } from './service.mjs'
import { createDisk } from './environment.mjs'
import { Writers } from './writers.mjs'

const samplesPerRun = 60
const credentials = 5_000
const mix = ['point read', 'list of 50', 'substring search', 'create', 'asset history', 'report']
const name = 'soak'
const maxGrowth = 1.15

/** Tables whose rows are updated, not added to: their size shows whether space is reused. */
const updatedTables = ['asset_positions', 'record_counts', 'readers', 'credentials', 'organizations']

/** The measured values that must not grow, each with the fluctuation that is allowed. */
const measures = {
  'server memory (MiB)': { tolerance: 20, valueOf: ({ service }) => residentMiB(service.pid) },
  'server heap in use (MiB)': {
    tolerance: 20,
    valueOf: ({ metrics }) => metrics.nodejs_heap_size_used_bytes / 2 ** 20,
  },
  'open handles': { tolerance: 20, valueOf: ({ metrics }) => metrics.nodejs_active_handles_total },
  'file descriptors': { tolerance: 20, valueOf: ({ service }) => readdirSync(`/proc/${service.pid}/fd`).length },
  'database connections': { tolerance: 4, valueOf: ({ stored }) => stored.connections },
  'tables updated in place (MiB)': { tolerance: 4, valueOf: ({ stored }) => stored.bytes / 2 ** 20 },
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

export async function soak(scope, { minutes, log }) {
  const disk = await scope.use(createDisk())
  const token = 'soak-metrics-token'
  const service = await scope.use(new Service().start(disk.folder, { settings: { LASTSEEN_METRICS_TOKEN: token } }))
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
  await refresh()
  const peak = await measureLoad(load, apiLoad(name, mix, 32), { warmUpMs: 5_000, measureMs: 10_000 })
  const writers = await scope.use(new Writers(service).start())
  const perSecond = peak.perSecond / 2
  log(`Peak ${Math.round(peak.perSecond)} requests a second; ${minutes} minutes with ${Math.round(perSecond)} …`)

  const samples = []
  const failures = {}
  const measureMs = (minutes * 60_000) / samplesPerRun
  for (let round = 1; round <= samplesPerRun; round++) {
    await refresh()
    const slice = { target: name, operations: mix, perSecond, maxInFlight: 256, warmUpMs: 0, measureMs }
    const result = await load.call('runOpenLoop', slice)
    for (const [status, count] of Object.entries(result.failures)) failures[status] = (failures[status] ?? 0) + count
    const sources = { service, metrics: await readMetrics(service, token), stored: await readStored(service) }
    samples.push(Object.values(measures).map(({ valueOf }) => valueOf(sources)))
    if (round % 10 === 0) log(`${Math.round((round / samplesPerRun) * minutes)} min: p99 ${result.p99Ms.toFixed(0)} ms`)
  }
  await writers.stop()
  const { acknowledged, lost, duplicated } = await writers.compare()
  const rows = Object.entries(measures).map(([title, { tolerance }], index) => {
    const third = (from) => median(samples.slice(from * 20, from * 20 + 20).map((sample) => sample[index]))
    const [before, after] = [third(1), third(2)]
    const isFlat = after <= Math.max(before * maxGrowth, before + tolerance)
    return [title, before.toFixed(0), after.toFixed(0), isFlat ? 'yes' : '**no**']
  })
  const failed = Object.values(failures).reduce((sum, count) => sum + count, 0)
  const wrong = lost + duplicated
  return {
    columns: [`${minutes} minutes at ${Math.round(perSecond)} requests/s`, 'second third', 'last third', 'as promised'],
    rows: [
      ...rows,
      ['failed requests', '', JSON.stringify(failures), failed === 0 ? 'yes' : '**no**'],
      [`of ${acknowledged} writes, lost or duplicated`, '', wrong, wrong === 0 ? 'yes' : '**no**'],
    ],
  }
}
