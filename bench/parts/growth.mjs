/** Measures the same requests at organizations of different sizes. */
import { compare } from '../statistics.mjs'
import { apiLoad, ingestLoad, measureLoad, startLoad, startTarget } from '../targets.mjs'

const minutesPerAsset = 100
const inFlight = 16
const max = 1.5
/** The p50 may grow by this factor. Some requests have no threshold, because they find more rows at a larger size. */
const maxGrowth = {
  'point read': max,
  'list of 50': max,
  'substring search': undefined,
  create: undefined,
  'asset history': max,
  report: max,
  'report of one asset': max,
  'location history': undefined,
}
const shape = 'every read in a new minute'
/** The seeded history ends three hours ago, so these reads are newer. */
const readsStartAgoMs = 150 * 60_000

export const growth = {
  name: 'growth',
  title: 'Growth',
  async measure(context) {
    const { scope, isQuick } = context
    // Growth is the ratio of the largest size to the smallest, and compare() returns ratios to the last target.
    const sizes = (context.sizes ?? (isQuick ? [1_000, 10_000] : [10_000, 100_000])).toSorted((a, b) => b - a)
    const load = await startLoad(scope)
    const credentials = isQuick ? 500 : 2_500
    const sessions = []
    for (const assets of sizes) {
      // Readers see the same number of assets at every size.
      const target = { assets: sizes.at(-1), startMs: Date.now() - readsStartAgoMs }
      const options = { assets, credentials, minutesPerAsset, target }
      sessions.push(await startTarget({ ...context, load }, `growth_${assets}`, options))
    }
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
    const rows = []
    for (const [name, max] of Object.entries(maxGrowth))
      rows.push(await measureRow(`${name}, p50 ms`, (target) => apiLoad(target, [name], inFlight), 'p50Ms', max))
    rows.push(await measureRow('ingest, reads/s', (target) => ingestLoad(target, 'http', shape, inFlight), 'perSecond'))
    const headings = sizes.map((size) => `${size.toLocaleString('en-US')} assets`).reverse()
    return { columns: [`with ${minutesPerAsset} minutes of history per asset`, ...headings, 'growth'], rows }
  },
}
