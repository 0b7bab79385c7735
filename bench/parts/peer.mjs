/** Measures the same operations on the same assets in Parse Server. */
import { createDatabase } from '../environment.mjs'
import { compare } from '../statistics.mjs'
import { installParse, seedParse, startParse } from '../parse/server.mjs'
import { addTarget, apiLoad, measureLoad, startLoad, startTarget } from '../targets.mjs'

const inFlight = 16
const compared = ['point read', 'list of 50', 'filtered list', 'substring search', 'create', 'patch']
const minRatios = { create: 2 }

export const peer = {
  name: 'peer',
  title: 'Beside Parse Server',
  async measure(context) {
    const { scope, postgres, isQuick } = context
    const home = installParse(postgres.folder)
    const load = await startLoad(scope)
    const { organization, refresh } = await startTarget({ ...context, load }, 'peer', {
      credentials: isQuick ? 500 : 2_500,
    })
    const url = await createDatabase(postgres, 'bench_peer_parse', 'template1')
    const parse = await scope.use(startParse({ url, home }))
    const ids = await seedParse(url, organization.assets, organization.sample.numbers)
    const peerSample = { sample: { ...organization.sample, ids } }
    await addTarget(load, 'parse', parse.port, peerSample, [], { headers: parse.headers, protocol: 'parse' })
    const pace = { warmUpMs: 200, measureMs: isQuick ? 500 : 1_000 }
    const rows = []
    for (const operation of compared) {
      await refresh()
      const run = (target) => () => measureLoad(load, apiLoad(target, [operation], inFlight), pace)
      const measured = await compare(`peer, ${operation}`, isQuick ? 2 : 7, {
        server: run('peer'),
        parse: run('parse'),
      })
      const { server, parse } = measured
      const ratio = operation in minRatios ? { value: server.ratio, min: minRatios[operation] } : server.ratio
      rows.push([operation, server.perSecond, parse.perSecond, ratio, server.p50Ms, parse.p50Ms])
    }
    const columns = ['operation', 'Lastseen req/s', 'Parse Server req/s', 'ratio']
    return { columns: [...columns, 'Lastseen p50 ms', 'Parse Server p50 ms'], rows }
  },
}
