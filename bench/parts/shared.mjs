/** Noisy neighbours: the throughput of busy organizations that share a server, and the latency of a quiet organization. */
import { cpus } from 'node:os'
import { createDatabase, log, startServer } from '../environment.mjs'
import { median } from '../statistics.mjs'
import { createSession } from '../requests.mjs'
import { createOrganization } from '../seed.mjs'
import { addTarget, apiLoad, ingestLoad, measureLoads, startLoad } from '../targets.mjs'

const assets = 10_000
const minRatio = 0.8
const maxTries = 10
const maxQuietP99 = (undisturbedMs) => Math.max(30, 4 * undisturbedMs)
const reads = ['point read', 'list of 50']
const busyNames = ['busy-1', 'busy-2', 'busy-3', 'busy-4']
const quietLoad = { target: 'quiet', operations: reads, perSecond: 20, maxInFlight: 8 }

const shape = 'ten reads per asset and minute'

/** The loads of one busy organization. */
const busyLoads = {
  'ingest over HTTP': (target) => [ingestLoad(target, 'http', shape, 32)],
  'API reads': (target) => [apiLoad(target, reads, 32)],
  'ingest and API reads': (target) => [ingestLoad(target, 'http', shape, 16), apiLoad(target, reads, 16)],
}

/**
 * One process generates the load of all busy organizations at low priority, another process that of the quiet
 * organization, so that the latencies of the quiet organization do not include the CPU time of the busy generator.
 */
async function startOrganizations({ scope, postgres, isQuick }) {
  const url = await createDatabase(postgres, 'bench_shared')
  const server = await scope.use(startServer({ url, folder: postgres.folder }))
  const generators = {
    busy: await startLoad(scope, { isLowPriority: true }),
    quiet: await startLoad(scope),
  }
  const sessions = []
  for (const name of [...busyNames, 'quiet']) {
    // Enough credentials that no rate limit applies. The first busy organization is part of every measurement.
    const credentials = name === 'quiet' ? 60 : (name === 'busy-1' ? 2_500 : 1_000) / (isQuick ? 4 : 1)
    const organization = await createOrganization({ url, name, assets, credentials })
    const generator = name === 'quiet' ? generators.quiet : generators.busy
    const onTokens = (tokens) => addTarget(generator, name, server.port, organization, tokens)
    sessions.push(createSession(server.port, organization.credentials, onTokens))
  }
  const refreshAll = async () => {
    for (const refresh of sessions) await refresh()
  }
  return { generators, refreshAll }
}

/** Rates by kind of load: messages and requests cannot be added up. */
const ratesOf = ({ results }) => {
  const rates = {}
  for (const { kind, perSecond } of results) rates[kind] = (rates[kind] ?? 0) + perSecond
  return rates
}

/** The mean of the ratios of all kinds of load. */
function ratioOf(rates, alone) {
  const ratios = Object.keys(alone).map((kind) => rates[kind] / alone[kind])
  return ratios.reduce((sum, ratio) => sum + ratio, 0) / ratios.length
}

/** Returns null when the generator of the quiet organization did not get the CPU time to send a request when it was due. */
async function measureRound({ busy, quiet }, loadsOf, pace) {
  const run = (count) => measureLoads(busy, busyNames.slice(0, count).flatMap(loadsOf), pace)
  const measureQuiet = () => quiet.call('runOpenLoop', { ...quietLoad, ...pace })
  const undisturbed = await measureQuiet()
  const alone = await run(1)
  const two = ratesOf(await run(2))
  const four = ratesOf(await run(4))
  const [beside, disturbed] = await Promise.all([run(1), measureQuiet()])
  const failures = { ...undisturbed.failures, ...disturbed.failures }
  if ('generator late' in failures) return null
  if (Object.keys(failures).length > 0) throw new Error(`quiet organization: ${JSON.stringify(failures)}`)
  const base = ratesOf(alone)
  return {
    base,
    two: ratioOf(two, base),
    four: ratioOf(four, base),
    beside: ratioOf(ratesOf(beside), base),
    quietP50: undisturbed.p50Ms,
    quietP99: undisturbed.p99Ms,
    disturbedP50: disturbed.p50Ms,
    disturbedP99: disturbed.p99Ms,
    generatorShare: (alone.cpuCores / cpus().length) * 100,
  }
}

const units = { http: 'reads/s', api: 'req/s' }

function toRow(name, rounds) {
  const of = (key) => median(rounds.map((round) => round[key]))
  const alone = Object.keys(rounds[0].base).map((kind) => {
    const rate = Math.round(median(rounds.map(({ base }) => base[kind])))
    return `${rate.toLocaleString('en-US')} ${units[kind]}`
  })
  const ratios = ['two', 'four', 'beside'].map((key) => ({ value: of(key), min: minRatio }))
  const quiet = [of('quietP50'), of('disturbedP50'), of('quietP99')]
  const p99 = { value: of('disturbedP99'), max: maxQuietP99(of('quietP99')) }
  return [name, alone.join(', '), ...ratios, ...quiet, p99, of('generatorShare')]
}

export const shared = {
  name: 'shared',
  title: 'Organizations that share a server',
  isDefault: true,
  async measure(context) {
    const { generators, refreshAll } = await startOrganizations(context)
    const pace = context.isQuick ? { warmUpMs: 500, measureMs: 2_000 } : { warmUpMs: 1_000, measureMs: 6_000 }
    const rows = []
    for (const [name, loadsOf] of Object.entries(busyLoads)) {
      const rounds = []
      await refreshAll()
      await measureLoads(generators.busy, busyNames.flatMap(loadsOf), pace)
      for (let tries = 0; rounds.length < (context.isQuick ? 1 : 3); tries++) {
        if (tries === maxTries) throw new Error('the load generator of the quiet organization was late too often')
        await refreshAll()
        const round = await measureRound(generators, loadsOf, pace)
        if (round === null) {
          log(`shared, ${name}: a round is repeated, because the load generator was late`)
          continue
        }
        rounds.push(round)
        const { two, four, beside, disturbedP99 } = round
        const ratios = [two, four, beside].map((ratio) => ratio.toFixed(2)).join(', ')
        log(`shared, ${name}: two, four, beside quiet: ${ratios}; quiet p99 ${disturbedP99.toFixed(1)} ms`)
      }
      rows.push(toRow(name, rounds))
    }
    const ratios = ['two together', 'four together', 'busy beside quiet']
    const quiet = ['quiet p50 ms alone', 'quiet p50 ms beside busy', 'quiet p99 ms alone', 'quiet p99 ms beside busy']
    return { columns: ['load', 'one alone', ...ratios, ...quiet, 'generator, % of CPU'], rows }
  },
}
