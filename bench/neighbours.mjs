/** A quiet organization beside one that floods: what the quiet one notices of it. */
import { makeNeighbours, signingIn } from './database.mjs'
import { startFloods, subscribe } from './flood.mjs'
import { median, whole } from './figures.mjs'
import { freePort, startLoad, startReaders, startReceiver, startService } from './processes.mjs'
import { patiently } from './surroundings.mjs'
import { makeCertificate } from './webhooks.mjs'

const bar = 1.5
const assets = 10_000
const quietly = {
  operation: ['point-read', 'list', 'point-read', 'create'],
  perSecond: 100,
  connections: 32,
  messagesPerSecond: 20,
  readsPerMessage: 20,
}
/** The flood is under way before the quiet one is looked at. */
const aheadMs = 1_000
const kinds = {
  api: { title: 'the API', floods: ['api'] },
  ingest: { title: 'ingest, HTTP and MQTT', floods: ['ingest'] },
  webhooks: { title: 'webhooks to a slow receiver', floods: ['webhooks'] },
  all: { title: 'all of it at once', floods: ['api', 'ingest', 'webhooks'] },
}

async function startNeighbours(started, postgres, { credentials, profileDir }) {
  const name = 'bench_neighbours'
  const { url, sites } = await makeNeighbours(postgres.url, name, { assets, credentials })
  const certificate = makeCertificate(postgres.folder)
  const receiver = await started.add(startReceiver(certificate))
  await subscribe(url, sites.noisy.orgId, receiver)
  const mqttPort = await freePort()
  const environment = { LASTSEEN_WEBHOOK_ALLOW: '127.0.0.1', LASTSEEN_WEBHOOK_CA_FILE: certificate.path }
  const service = await started.add(
    startService({ url, folder: postgres.folder, name, mqttPort, environment, profileDir }),
  )
  const { port } = service
  const reading = ({ tags, antennas, reader: { token, mqtt } }) => {
    const login = { username: mqtt.username, password: token, topic: mqtt.topic }
    return { tags, antennas, token, login, port, mqttPort }
  }
  const noisy = { ...sites.noisy, ...reading(sites.noisy) }
  const flooders = await startFloods(started, { port, site: noisy })
  const load = await started.add(startLoad())
  const readers = await started.add(startReaders())
  await readers.prepare({ ...reading(sites.quiet), readsPerMessage: quietly.readsPerMessage })
  const callers = { load, readers, port, dataset: name }
  const signIns = [
    signingIn(port, sites.noisy.credentials, flooders.signIn),
    signingIn(port, sites.quiet.credentials, (tokens) => load.prepare({ name, sample: sites.quiet.sample, tokens })),
  ]
  return {
    floods: flooders.floods,
    async signIn() {
      for (const signIn of signIns) await signIn()
    },
    quiet: (pace) => askQuietly(callers, pace),
    warm: (measureMs) => askMuch(callers, measureMs),
  }
}

/** What the quiet one does, as fast as it goes: until the code is compiled, a latency tells of the compiler. */
async function askMuch({ load, readers, port, dataset }, measureMs) {
  const { operation, connections } = quietly
  await load.run({ port, dataset, operation, connections, warmMs: 0, measureMs })
  await readers.run({ way: 'http', shape: 'steady', warmMs: 0, measureMs })
}

/** A little of everything, at times fixed beforehand. */
async function askQuietly({ load, readers, port, dataset }, { warmMs, measureMs }) {
  const { operation, perSecond, connections, messagesPerSecond, readsPerMessage } = quietly
  const [asked, read] = await Promise.all([
    load.run({ port, dataset, operation, perSecond, connections, warmMs, measureMs }),
    readers.run({
      ...{ way: 'http', shape: 'steady', readsPerSecond: messagesPerSecond * readsPerMessage, warmMs, measureMs },
    }),
  ])
  if (Object.keys(asked.failures).length > 0)
    throw new Error(`the quiet organization was refused: ${JSON.stringify(asked.failures)}`)
  return { all: asked.p99Ms, median: asked.medianMs, ...p99sOf(asked.byOperation), ingest: read.p99Ms }
}

const p99sOf = (byOperation) =>
  Object.fromEntries(Object.entries(byOperation).map(([name, { p99Ms }]) => [name, p99Ms]))

async function besides({ floods, quiet }, kind, pace) {
  const flooding = kinds[kind].floods.flatMap((name) => floods[name])
  const forMs = { measureMs: aheadMs + pace.warmMs + pace.measureMs }
  const [seen, ...taken] = await Promise.all([
    quiet({ ...pace, warmMs: aheadMs + pace.warmMs }),
    ...flooding.map((flood) => flood(forMs)),
  ])
  return { seen, taken }
}

/** What is undisturbed is measured before every flood, and is the same for all kinds of them. */
async function measureNeighbours(started, postgres, { rounds, again, measureMs, say, ...options }) {
  const neighbours = await startNeighbours(started, postgres, options)
  const pace = { warmMs: 500, measureMs }
  const quiet = []
  const results = Object.fromEntries(Object.keys(kinds).map((kind) => [kind, { flooded: [], taken: [] }]))
  const undisturbed = patiently(again, neighbours.signIn)
  await neighbours.signIn()
  await neighbours.warm(measureMs)
  await besides(neighbours, 'all', pace)
  for (let round = 0; round < rounds; round++)
    for (const [kind, result] of Object.entries(results)) {
      const { alone, seen, taken } = await undisturbed(async () => ({
        alone: await neighbours.quiet(pace),
        ...(await besides(neighbours, kind, pace)),
      }))
      quiet.push(alone)
      result.flooded.push(seen)
      result.taken.push(taken)
      say(`beside a flood of ${kind}, round ${round + 1}: p99 ${whole(seen.all)} ms, ${whole(alone.all)} without`)
    }
  return Object.entries(results).map(([kind, result]) => summarize(kind, quiet, result))
}

const columns = ['point-read', 'list', 'create', 'ingest']

function summarize(kind, quiet, { flooded, taken }) {
  const of = (rounds, key) => median(rounds.map((round) => round[key]))
  const ratioOf = (key) => of(flooded, key) / of(quiet, key)
  return {
    kind,
    quietP99Ms: of(quiet, 'all'),
    floodedP99Ms: of(flooded, 'all'),
    ratio: ratioOf('all'),
    medianRatio: ratioOf('median'),
    ratios: Object.fromEntries(columns.map((key) => [key, ratioOf(key)])),
    floods: taken[0].map((_, index) => ({
      took: median(taken.map((round) => round[index].took)),
      refused: median(taken.map((round) => round[index].refused)),
    })),
  }
}

/** Few credentials and many are one flood of the API. */
const floodText = (floods) =>
  floods.map(({ took, refused }) => whole(took) + (refused > 0 ? ` (${whole(refused)} refused)` : '')).join(' + ')

function renderNeighbours(lines) {
  const row = (line) =>
    `| ${kinds[line.kind].title} | ${floodText(line.floods)} | ${line.quietP99Ms.toFixed(1)} | ` +
    `${line.floodedP99Ms.toFixed(1)} | ${line.ratio.toFixed(2)}${line.ratio > bar ? ' ✗' : ''} | ${bar} | ` +
    `${line.medianRatio.toFixed(2)} | ${columns.map((key) => line.ratios[key].toFixed(2)).join(' | ')} |`
  return [
    '| another organization floods | taken of it per second | quiet p99 ms | beside it | ratio | bar | of the median | point read | list | create | ingest |',
    '|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|',
    ...lines.map(row),
  ].join('\n')
}

const neighbourMisses = (lines) =>
  lines.filter(({ ratio }) => ratio > bar).map(({ kind }) => `quiet organization beside a flood of ${kind}: p99`)

export const neighbours = {
  name: 'neighbours',
  title: 'A quiet organization beside one that floods',
  pace: {
    full: { minutes: 40, rounds: 13, again: 40, measureMs: 5_000, credentials: { quiet: 600, noisy: 2_500 } },
    quick: { minutes: 10, rounds: 3, again: 6, measureMs: 4_000, credentials: { quiet: 300, noisy: 1_500 } },
  },
  measure: measureNeighbours,
  render: renderNeighbours,
  misses: neighbourMisses,
}
