/** What much history costs: the same questions over a little and over a lot of it, in turns. */
import { setTimeout as sleep } from 'node:timers/promises'
import { copyDatabase, exchangeAll, makeCredentials, makeSite } from './database.mjs'
import { median, whole } from './figures.mjs'
import { assetsFor, fillHistory } from './growth/history.mjs'
import { growthRequests } from './growth/requests.mjs'
import { startLoad, startReaders, startService } from './processes.mjs'
import { shapes, usualShapes } from './reads.mjs'
import { longEnough } from './window.mjs'

const connections = 16
const settleMs = 3_000
const placeCount = 50
const taggedAssets = 10_000
const slowRounds = 3
const dayMs = 86_400_000
const minuteMs = 60_000
/** History ends three hours ago; the readers of both loads go on from there, one after the other. */
const beginMs = { steady: 150 * minuteMs, worst: 80 * minuteMs }

const time = (millis) => new Date(millis).toISOString()

/** The moments that are asked for, all of them well inside of what is there. */
function momentsOf({ from, end }) {
  const endMs = Date.parse(end)
  const middleMs = (Date.parse(from) + endMs) / 2
  return {
    at: time(middleMs),
    ...{ spanFrom: time(middleMs - 45 * dayMs), spanTo: time(middleMs + 45 * dayMs) },
    ...{ dayFrom: time(endMs - 30 * dayMs), dayTo: time(endMs - 29 * dayMs) },
    ...{ moveFrom: time(middleMs + 5 * dayMs), moveTo: time(middleMs + 6 * dayMs) },
  }
}

async function stage(started, postgres, load, site, minutes, { credentials, say }) {
  const name = `bench_growth_${minutes}`
  const url = await copyDatabase(postgres.url, site.name, name)
  const [watched] = site.sample.ids
  const filled = await fillHistory({ url, orgId: site.orgId, places: site.places, watched, minutes })
  say(
    `${whole(filled.rows)} minutes are in after ${whole(filled.seconds)} s, ` +
      `${(filled.bytes / 2 ** 30).toFixed(1)} GiB with ${whole(site.assets)} assets`,
  )
  const service = await started.add(startService({ url, folder: postgres.folder, name }))
  await sleep(settleMs)
  const tokens = await exchangeAll(service.port, credentials)
  const sample = { ids: filled.ids, watched, places: site.places, ...momentsOf(filled) }
  await load.prepare({ name, sample, tokens, dialect: 'growth' })
  const readers = await started.add(startReaders())
  const { tags, antennas, reader } = site
  await readers.prepare({ tags, antennas, token: reader.token, port: service.port, beginMs })
  const { rows, bytes, seconds } = filled
  return { minutes, name, port: service.port, readers, loaded: { minutes: rows, bytes, seconds } }
}

/** Each question to each size in turns; who goes first alternates. */
async function inTurns(stages, rounds, ask) {
  const results = new Map(stages.map(({ minutes }) => [minutes, []]))
  for (let round = 0; round < rounds; round++)
    for (const one of round % 2 === 0 ? stages : stages.toReversed()) results.get(one.minutes).push(await ask(one))
  return results
}

function linesOf({ operation, title, growthBar }, stages, results, slownessOf) {
  const [small, large] = [results.get(stages[0].minutes), results.get(stages.at(-1).minutes)]
  return stages.map(({ minutes }, index) => {
    const of = (key) => median(results.get(minutes).map((round) => round[key] ?? NaN))
    const isLast = index > 0 && index === stages.length - 1
    return {
      ...{ operation, title, minutes, perSecond: of('perSecond'), medianMs: of('medianMs'), p99Ms: of('p99Ms') },
      growth: isLast ? median(large.map((one, round) => slownessOf(one) / slownessOf(small[round]))) : null,
      growthBar,
      failures: results.get(minutes).flatMap(({ failures = {} }) => Object.keys(failures)),
    }
  })
}

async function measureQuestion(load, stages, operation, { rounds, compileMs, ...pace }) {
  const { title, growthBar, isSlow } = growthRequests[operation]
  const asked = ({ port, name }) => ({ port, dataset: name, operation })
  const look = async (one) => {
    const { status, ms } = await load.look(asked(one))
    return { medianMs: ms, perSecond: 1000 / ms, failures: status === 200 ? {} : { [status]: 1 } }
  }
  const windows = new Map()
  for (const one of isSlow ? [] : stages) {
    await load.run({ ...asked(one), connections, warmMs: compileMs, measureMs: 0 })
    windows.set(one, await longEnough(() => load.look(asked(one)), { connections, ...pace }))
  }
  const run = (one) => load.run({ ...asked(one), connections, ...windows.get(one) })
  const results = await inTurns(stages, isSlow ? slowRounds : rounds, isSlow ? look : run)
  return linesOf({ operation, title, growthBar }, stages, results, (one) => one.medianMs)
}

async function measureReads(stages, shape, { ingestRounds, ingestMs }) {
  const run = { way: 'http', shape, warmMs: 500, measureMs: ingestMs }
  const results = await inTurns(stages, ingestRounds, ({ readers }) => readers.run(run))
  const title = `ingest over HTTP, ${shapes[shape].title}`
  return linesOf({ operation: 'ingest', title, growthBar: null }, stages, results, (one) => 1 / one.perSecond)
}

async function measureGrowth(started, postgres, { history, credentialCount, say, ...pace }) {
  const assets = assetsFor(Math.max(...history))
  const made = await makeSite(postgres.url, 'bench_growth', assets, { sampleSize: taggedAssets, placeCount })
  const site = { ...made, assets }
  const credentials = makeCredentials(site.url, 'Benchmark', credentialCount)
  const load = await started.add(startLoad())
  const stages = []
  for (const minutes of history.toSorted((a, b) => a - b))
    stages.push(await stage(started, postgres, load, site, minutes, { credentials, say }))
  const lines = []
  const tell = (found) => {
    lines.push(...found)
    say(`${found[0].title}: ${(found.at(-1).growth ?? NaN).toFixed(2)} times`)
  }
  for (const operation of Object.keys(growthRequests)) tell(await measureQuestion(load, stages, operation, pace))
  for (const shape of usualShapes) tell(await measureReads(stages, shape, pace))
  return { lines, assets, loaded: stages.map(({ loaded }) => loaded) }
}

const fixed = (value, digits) => (Number.isFinite(value) ? value.toFixed(digits) : '–')
const rate = (value) => (value < 10 ? fixed(value, 2) : whole(value))
const isTooMuch = ({ growth, growthBar }) => growth !== null && growthBar !== null && growth > growthBar

function verdictOf(line) {
  if (line.failures.length > 0) return `answers ${[...new Set(line.failures)].join(', ')} ✗`
  return line.growth === null ? '' : `${fixed(line.growth, 2)}${isTooMuch(line) ? ' ✗' : ''}`
}

function renderGrowth({ lines, assets, loaded }) {
  const row = (line) =>
    `| ${line.title} | ${whole(line.minutes)} | ${rate(line.perSecond)} | ${fixed(line.medianMs, 2)} | ` +
    `${fixed(line.p99Ms, 2)} | ${verdictOf(line)} | ${fixed(line.growthBar, 1)} |`
  const size = ({ minutes, bytes, seconds }) =>
    `${whole(minutes)} minutes of ${whole(assets)} assets: ${(bytes / 2 ** 30).toFixed(1)} GiB, in after ${whole(seconds)} s.  `
  return [
    '| question | minutes of history | per second | median ms | p99 ms | growth | bar |',
    '|---|--:|--:|--:|--:|--:|--:|',
    ...lines.map(row),
    '',
    ...loaded.map(size),
  ].join('\n')
}

const growthMisses = ({ lines }) => [
  ...lines.filter(isTooMuch).map(({ title, minutes }) => `${title} at ${whole(minutes)} minutes: growth`),
  ...lines
    .filter(({ failures }) => failures.length > 0)
    .map(
      ({ title, minutes, failures }) =>
        `${title} at ${whole(minutes)} minutes: answers ${[...new Set(failures)].join(', ')}`,
    ),
]

export const growth = {
  name: 'growth',
  title: 'Growth of history',
  /** A hundred million rows take their time and 20 GB of disk, so it is measured when it is asked for. */
  isExtra: true,
  pace: {
    full: {
      ...{ minutes: 35, history: [1_000_000, 100_000_000], credentialCount: 2_500 },
      ...{ rounds: 7, warmMs: 200, measureMs: 800, compileMs: 2_000, ingestRounds: 5, ingestMs: 3_000 },
    },
    quick: {
      ...{ minutes: 8, history: [1_000_000, 5_000_000], credentialCount: 1_000 },
      ...{ rounds: 5, warmMs: 150, measureMs: 400, compileMs: 1_000, ingestRounds: 3, ingestMs: 2_000 },
    },
  },
  measure: measureGrowth,
  render: renderGrowth,
  misses: growthMisses,
}
