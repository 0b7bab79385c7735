/** Measures the same requests at organizations of different sizes. */
import { log } from '../environment.mjs'
import { allReads } from '../read-operations.mjs'
import { medianMs, startCaller } from '../single-caller.mjs'
import { compare } from '../statistics.mjs'
import { apiLoad, ingestLoad, measureLoad, startLoad, startTarget } from '../targets.mjs'

const minutesPerAsset = 100
const inFlight = 16
const max = 1.5
/** The p50 may grow by this factor. Some requests have no threshold, because they find more rows at a larger size. */
const maxGrowth = {
  'point read': max,
  'list of 50': max,
  'substring search': 5,
  create: undefined,
  'asset history': max,
  report: max,
  'report of one asset': max,
  'location history': undefined,
}
const shape = 'every read in a new minute'
/** The seeded history ends three hours ago, so these reads are newer. */
const readsStartAgoMs = 150 * 60_000

const withCallers = ([label, ...cells]) => [`${inFlight} callers: ${label}`, ...cells]

/** A list of a million assets is searched at least this often by 16 callers. */
const minSearchesPerSecond = 200

/** One row per read operation: the times of one caller. */
async function measureReads(sessions, callers, isQuick) {
  const pace = isQuick ? { rounds: 1, budgetMs: 500 } : { rounds: 9, budgetMs: 6_000 }
  const rows = []
  for (const { label, max, maxGrowth, ...request } of allReads()) {
    const times = []
    for (const { refresh } of sessions) await refresh()
    for (const measureOnce of callers) times.push(await medianMs(measureOnce, request, pace))
    log(`${label}: ${times.map((time) => time.toFixed?.(1) ?? time).join(', ')} ms`)
    const value = times.some((time) => typeof time === 'string') ? null : times[0] / times.at(-1)
    rows.push([
      `${label}, ms`,
      ...times.slice(1).reverse(),
      max === undefined ? times[0] : { value: times[0], max },
      maxGrowth === undefined ? value : { value, max: maxGrowth },
    ])
  }
  return rows
}

export const growth = {
  name: 'growth',
  title: 'Growth',
  async measure(context) {
    const { scope, isQuick } = context
    // Growth is the ratio of the largest size to the smallest, and compare() returns ratios to the last target.
    const sizes = (context.sizes ?? (isQuick ? [1_000, 10_000] : [10_000, 100_000])).toSorted((a, b) => b - a)
    const load = await startLoad(scope)
    const credentials = isQuick ? 500 : 2_500
    // Fails before anything is seeded when an operation has no request.
    allReads()
    const sessions = []
    const callers = []
    for (const assets of sizes) {
      // Readers see the same number of assets at every size.
      const target = { assets: sizes.at(-1), startMs: Date.now() - readsStartAgoMs }
      const options = { assets, credentials, minutesPerAsset, target, onTokens: (given) => (tokens = given) }
      let tokens
      const session = await startTarget({ ...context, load }, `growth_${assets}`, options)
      sessions.push(session)
      await session.refresh()
      const { url, organization, server } = session
      callers.push(await startCaller({ url, port: server.port, organization, tokens: () => tokens }))
    }
    const reads = await measureReads(sessions, callers, isQuick)
    const measureRow = async (label, loadOf, key, max) => {
      const measureMs = (isQuick ? 300 : 800) * (key === 'perSecond' ? 4 : 1)
      const pace = { warmUpMs: measureMs / 4, measureMs }
      for (const { refresh } of sessions) await refresh()
      const targets = sizes.map((size) => [`${size} assets`, () => measureLoad(load, loadOf(`growth_${size}`), pace)])
      const measured = Object.values(
        await compare(`growth, ${label}`, isQuick ? 3 : 9, Object.fromEntries(targets), key),
      )
      const value = key === 'p50Ms' ? measured[0].ratio : 1 / measured[0].ratio
      return [label, ...measured.map((result) => result[key]).reverse(), max === undefined ? value : { value, max }]
    }
    const searchLoad = (target) => apiLoad(target, ['substring search'], inFlight)
    const search = await measureRow('substring search, req/s', searchLoad, 'perSecond')
    const rows = [[...search.slice(0, -2), { value: search.at(-2), min: minSearchesPerSecond }, search.at(-1)]]
    for (const [name, max] of Object.entries(maxGrowth))
      rows.push(await measureRow(`${name}, p50 ms`, (target) => apiLoad(target, [name], inFlight), 'p50Ms', max))
    rows.push(await measureRow('ingest, reads/s', (target) => ingestLoad(target, 'http', shape, inFlight), 'perSecond'))
    const headings = sizes.map((size) => `${size.toLocaleString('en-US')} assets`).reverse()
    const label = `with ${minutesPerAsset} minutes of history per asset; in the rows of an operation, one caller`
    return { columns: [label, ...headings, 'growth'], rows: [...rows.map(withCallers), ...reads] }
  },
}
