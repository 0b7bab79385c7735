/** Side by side with Parse Server, what a developer might otherwise take for the register, on the same PostgreSQL. */
import { setTimeout as sleep } from 'node:timers/promises'
import { exchangeAll, makeDatabase, makeDataset } from './database.mjs'
import { median, whole } from './figures.mjs'
import { operations } from './operations.mjs'
import { copyAssets } from './parse/data.mjs'
import { compared } from './parse/requests.mjs'
import { installParse, startParse } from './parse/server.mjs'
import { startLoad, startService } from './processes.mjs'
import { longEnough } from './window.mjs'

const connections = 16
const settleMs = 2_000

/** The same assets in a database of ours and in one of Parse Server's. */
async function stage(started, postgres, load, home, { size, credentials, say }) {
  const began = performance.now()
  const ours = await makeDataset(postgres.url, size, credentials, `bench_parse_ours_${size}`)
  const url = await makeDatabase(postgres.url, `bench_parse_theirs_${size}`)
  const parse = await started.add(startParse({ url, home, name: `parse-${size}` }))
  const sample = await copyAssets({ from: ours.url, to: url, orgId: ours.orgId, sample: ours.sample })
  const service = await started.add(startService({ url: ours.url, folder: postgres.folder, name: ours.name }))
  await sleep(settleMs)
  const tokens = await exchangeAll(service.port, ours.credentials)
  const names = { service: ours.name, parse: `parse_${size}` }
  await load.prepare({ name: names.service, sample: ours.sample, tokens })
  await load.prepare({ name: names.parse, sample, tokens: parse.logins, dialect: 'parse' })
  await checkAnswers(load, { size, service, parse, names })
  say(`parse: ${whole(size)} assets are in both after ${Math.round((performance.now() - began) / 1000)} s`)
  return { size, service, parse, names }
}

/** Refuses to compare answers that do not hold the same things. */
async function checkAnswers(load, { size, service, parse, names }) {
  for (const operation of compared) {
    const seen = {}
    for (const [who, { port }] of Object.entries({ service, parse }))
      seen[who] = await load.look({ port, dataset: names[who], operation })
    const one = JSON.parse(seen.service.body)
    const other = JSON.parse(seen.parse.body)
    const isSame = Array.isArray(one.data)
      ? one.total_count === other.count && `${one.data.map(keyOf)}` === `${other.results.map(keyOf)}`
      : seen.parse.status < 300 && (operation !== 'point-read' || one.data.name === other.name)
    if (!isSame)
      throw new Error(`${operation} at ${size}: Parse Server answers otherwise: ${seen.parse.body.slice(0, 300)}`)
  }
}

const keyOf = (asset) => asset.external_key

async function compare(load, { size, service, parse, names }, operation, { rounds, compileMs, ...pace }) {
  const targets = { service, parse }
  const asked = (who) => ({ port: targets[who].port, dataset: names[who], operation })
  const run = (who, window) => load.run({ ...asked(who), connections, ...window })
  const windows = {}
  for (const who of ['service', 'parse']) {
    await run(who, { warmMs: compileMs, measureMs: 0 })
    windows[who] = await longEnough(() => load.look(asked(who)), { connections, ...pace })
  }
  const results = { service: [], parse: [] }
  for (let round = 0; round < rounds; round++)
    for (const who of round % 2 === 0 ? ['service', 'parse'] : ['parse', 'service'])
      results[who].push(await run(who, windows[who]))
  const of = (who, key) => median(results[who].map((one) => one[key]))
  return {
    ...{ operation, size },
    ...{ perSecond: of('service', 'perSecond'), parsePerSecond: of('parse', 'perSecond') },
    ...{ medianMs: of('service', 'medianMs'), parseMedianMs: of('parse', 'medianMs') },
    ratio: median(results.service.map((one, round) => one.perSecond / results.parse[round].perSecond)),
    failures: [...results.service, ...results.parse].flatMap(({ failures }) => Object.keys(failures)),
  }
}

/** Register operations of both in turns, in an organization of each size. */
async function measureParse(started, postgres, { sizes, say, credentials, ...pace }) {
  const home = await installParse(started, postgres.folder)
  const load = await started.add(startLoad())
  const lines = []
  for (const size of sizes) {
    const both = await stage(started, postgres, load, home, { size, credentials, say })
    for (const operation of compared) {
      const line = await compare(load, both, operation, pace)
      lines.push(line)
      say(`parse, ${operation} at ${whole(size)}: ${line.ratio.toFixed(1)} times`)
    }
  }
  return lines
}

function renderParse(lines) {
  const row = (line) =>
    `| ${operations[line.operation].title} | ${whole(line.size)} | ${whole(line.perSecond)} | ` +
    `${whole(line.parsePerSecond)} | ${line.ratio.toFixed(1)} | ${line.medianMs.toFixed(2)} | ${line.parseMedianMs.toFixed(2)} |`
  return [
    '| operation | assets | Lastseen req/s | Parse Server req/s | ratio | Lastseen median ms | Parse Server median ms |',
    '|---|--:|--:|--:|--:|--:|--:|',
    ...lines.map(row),
  ].join('\n')
}

/** There is no bar against another program; a request that failed makes the comparison void. */
const parseMisses = (lines) =>
  lines
    .filter((line) => line.failures.length > 0)
    .map(
      ({ operation, size, failures }) =>
        `${operation} beside Parse Server at ${size}: answers ${[...new Set(failures)].join(', ')}`,
    )

export const parse = {
  name: 'parse',
  title: 'The register, Lastseen and Parse Server',
  /** It gets Parse Server from the package registry, so it is measured when it is asked for. */
  isExtra: true,
  pace: {
    full: {
      ...{ minutes: 15, sizes: [10_000, 1_000_000], credentials: 5_000 },
      ...{ rounds: 7, warmMs: 200, measureMs: 800, compileMs: 2_000 },
    },
    quick: {
      ...{ minutes: 5, sizes: [10_000], credentials: 2_500 },
      ...{ rounds: 5, warmMs: 150, measureMs: 400, compileMs: 1_500 },
    },
  },
  measure: measureParse,
  render: renderParse,
  misses: parseMisses,
}
