import { makeSite } from './database.mjs'
import { median, whole } from './figures.mjs'
import { freePort, startIngestFloor, startReaders, startService } from './processes.mjs'
import { shapes, usualShapes } from './reads.mjs'

const assets = 10_000
const bar = 0.7
const warmMs = 500

/** Reads stored per second over HTTP and MQTT beside the same statements driven from a script, and the lag at half of that. */
async function measureIngest(started, postgres, { rounds, measureMs, say }) {
  const [ours, theirs] = [
    await makeSite(postgres.url, 'bench_ingest_service', assets),
    await makeSite(postgres.url, 'bench_ingest_floor', assets),
  ]
  const mqttPort = await freePort()
  const service = await started.add(startService({ ...ours, folder: postgres.folder, mqttPort }))
  const readers = await started.add(startReaders())
  const floor = await started.add(startIngestFloor())
  const { token, mqtt } = ours.reader
  const login = { username: mqtt.username, password: token, topic: mqtt.topic }
  await readers.prepare({ tags: ours.tags, antennas: ours.antennas, token, login, port: service.port, mqttPort })
  await floor.prepare(theirs)

  const lines = []
  for (const shape of usualShapes) {
    const run = { shape, warmMs, measureMs }
    const results = { http: [], mqtt: [], floor: [] }
    for (let round = 0; round < rounds; round++) {
      const turns = ['floor', 'http', 'mqtt']
      for (const who of round % 2 === 0 ? turns : turns.reverse())
        results[who].push(await (who === 'floor' ? floor.run(run) : readers.run({ ...run, way: who })))
    }
    for (const way of ['http', 'mqtt']) {
      const perSecond = median(results[way].map((one) => one.perSecond))
      const lag = await readers.run({ ...run, way, readsPerSecond: perSecond / 2 })
      const ratio = median(results[way].map((one, round) => one.perSecond / results.floor[round].perSecond))
      const floorPerSecond = median(results.floor.map((one) => one.perSecond))
      lines.push({ way, shape, perSecond, floorPerSecond, ratio, bar, lag })
      say(`ingest over ${way}, ${shapes[shape].title}: ${ratio.toFixed(2)}`)
    }
  }
  return lines
}

const names = { http: 'HTTP', mqtt: 'MQTT, QoS 1' }

function renderIngest(lines) {
  const row = ({ way, shape, perSecond, floorPerSecond, ratio, lag }) =>
    `| ${names[way]} | ${shapes[shape].title} | ${whole(perSecond)} | ${whole(floorPerSecond)} | ` +
    `${ratio.toFixed(2)}${ratio < bar ? ' ✗' : ''} | ${bar.toFixed(2)} | ${lag.medianMs.toFixed(1)} | ${lag.p99Ms.toFixed(1)} |`
  return [
    '| way | load | service reads/s | floor reads/s | ratio | bar | median lag ms | p99 lag ms |',
    '|---|---|--:|--:|--:|--:|--:|--:|',
    ...lines.map(row),
  ].join('\n')
}

const ingestMisses = (lines) =>
  lines.filter((line) => line.ratio < line.bar).map(({ way, shape }) => `ingest over ${way}, ${shape}: ratio`)

export const ingest = {
  name: 'ingest',
  title: 'Ingest, beside the floor',
  pace: { full: { minutes: 4, rounds: 5, measureMs: 3_000 }, quick: { minutes: 1.5, rounds: 3, measureMs: 1_000 } },
  measure: measureIngest,
  render: renderIngest,
  misses: ingestMisses,
}
