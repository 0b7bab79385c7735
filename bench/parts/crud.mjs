/** Measures operations on assets through the API, and a baseline on the same database. */
import { isDeepStrictEqual } from 'node:util'
import { startHelper } from '../environment.mjs'
import { compare } from '../statistics.mjs'
import { basePath, operations } from '../requests.mjs'
import { addTarget, apiLoad, measureLoad, startLoad, startTarget } from '../targets.mjs'

const minRatios = {
  'point read': 0.8,
  'list of 50': 0.7,
  'filtered list': 0.7,
  'substring search': 0.7,
  create: 0.65,
}
const inFlight = 16

/** Throws when the baseline's responses differ from the server's, because the comparison would be invalid. */
async function assertSameResponses(ports, sample, token) {
  const headers = { Authorization: `Bearer ${token}` }
  for (const name of Object.keys(minRatios).filter((operation) => operation !== 'create')) {
    const { path } = operations[name](sample)
    const responses = ports.map((port) => fetch(`http://127.0.0.1:${port}${basePath}${path}`, { headers }))
    const [server, baseline] = await Promise.all(responses.map(async (response) => (await response).json()))
    if (isDeepStrictEqual(server, baseline)) continue
    throw new Error(`${name}: the baseline responds differently:\n${JSON.stringify({ server, baseline }, null, 1)}`)
  }
}

async function measureSize(context, assets) {
  const { scope, isQuick } = context
  const load = await startLoad(scope)
  const baseline = await scope.use(startHelper('./baseline.mjs'))
  let tokens
  const onTokens = (issued) => (tokens = issued)
  const options = { assets, credentials: isQuick ? 500 : 2_500, onTokens }
  const { url, organization, server, refresh } = await startTarget({ ...context, load }, `crud_${assets}`, options)
  const { port } = await baseline.call('start', { url, orgId: organization.orgId })
  const pace = { warmUpMs: 100, measureMs: isQuick ? 300 : 500 }
  const rows = []
  for (const [operation, min] of Object.entries(minRatios)) {
    await refresh()
    await baseline.call('setTokens', tokens)
    await addTarget(load, 'baseline', port, organization, tokens)
    if (rows.length === 0) await assertSameResponses([server.port, port], organization.sample, tokens[0])
    const run = (target) => () => measureLoad(load, apiLoad(target, [operation], inFlight), pace)
    const targets = { server: run(`crud_${assets}`), baseline: run('baseline') }
    const measured = await compare(`crud, ${operation}`, isQuick ? 5 : 15, targets)
    const { perSecond, ratio, p50Ms, p99Ms } = measured.server
    rows.push([operation, assets, perSecond, measured.baseline.perSecond, { value: ratio, min }, p50Ms, p99Ms])
  }
  return rows
}

export const crud = {
  name: 'crud',
  title: 'Operations on assets',
  isDefault: true,
  async measure(context) {
    const rows = []
    for (const assets of context.sizes ?? [10_000]) rows.push(...(await measureSize(context, assets)))
    return { columns: ['operation', 'assets', 'server req/s', 'baseline req/s', 'ratio', 'p50 ms', 'p99 ms'], rows }
  },
}
