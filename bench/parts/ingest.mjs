/** Measures reads per second over HTTP and MQTT, and a script that writes the same rows. */
import { createDatabase, freePort, startHelper } from '../environment.mjs'
import { compare } from '../statistics.mjs'
import { shapes } from '../reads.mjs'
import { createOrganization } from '../seed.mjs'
import { ingestLoad, measureLoad, startLoad, startTarget } from '../targets.mjs'

const inFlight = 32
const min = 0.7
const protocols = { http: 'HTTP', mqtt: 'MQTT, QoS 1' }

export const ingest = {
  name: 'ingest',
  title: 'Ingest',
  isDefault: true,
  async measure(context) {
    const { scope, postgres, isQuick } = context
    const load = await startLoad(scope)
    const mqttPort = await freePort()
    const settings = { LASTSEEN_MQTT_PORT: String(mqttPort) }
    const target = await startTarget({ ...context, load }, 'ingest', { settings, target: { mqttPort } })
    await target.refresh()
    const url = await createDatabase(postgres, 'bench_ingest_baseline')
    const { assets, orgId, antennaCount, sample } = await createOrganization({ url, assets: 10_000, credentials: 1 })
    const baseline = await scope.use(startHelper('./ingest-baseline.mjs'))
    await baseline.call('start', { url, orgId, assets, antennaCount, locationIds: sample.locationIds })
    const pace = { warmUpMs: 500, measureMs: isQuick ? 1_000 : 3_000 }
    const rows = []
    for (const shape of Object.keys(shapes)) {
      const send = (kind) => () => measureLoad(load, ingestLoad('ingest', kind, shape, inFlight), pace)
      const write = () => baseline.call('run', { shape, ...pace })
      const targets = { http: send('http'), mqtt: send('mqtt'), baseline: write }
      const measured = await compare(`ingest, ${shape}`, isQuick ? 1 : 5, targets)
      for (const [kind, protocol] of Object.entries(protocols)) {
        const { perSecond, ratio, p99Ms } = measured[kind]
        rows.push([`${protocol}, ${shape}`, perSecond, measured.baseline.perSecond, { value: ratio, min }, p99Ms])
      }
    }
    return { columns: ['protocol and load', 'server reads/s', 'baseline reads/s', 'ratio', 'p99 ms'], rows }
  },
}
