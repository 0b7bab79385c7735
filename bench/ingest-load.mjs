/** The readers: they send messages and wait until each is acknowledged. A process of its own, like the other load generator. */
import { atTimes, evenly } from './arrivals.mjs'
import { Client } from './client.mjs'
import { spread } from './figures.mjs'
import { Publisher } from './publisher.mjs'
import { ReadStream, toMessage } from './reads.mjs'

const connections = 8
/** Messages a reader has under way at once over MQTT; over HTTP it is one per connection. */
const underWay = { http: 4, mqtt: 4 }

let site
const streams = new Map()

function message(shape) {
  if (!streams.has(shape)) streams.set(shape, new ReadStream({ ...site, shape }))
  return toMessage(streams.get(shape).take(site.readsPerMessage))
}

async function openHttp() {
  const idle = await Promise.all(Array.from({ length: underWay.http }, () => Client.open(site.port)))
  const all = [...idle]
  return {
    async send(text) {
      const client = idle.pop() ?? all[all.push(await Client.open(site.port)) - 1]
      const head =
        `POST /ingest/v1/reads HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${site.token}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n`
      const status = await client.send(head + text)
      if (status !== 202 || JSON.parse(client.body).data.accepted !== site.readsPerMessage)
        throw new Error(`a message was answered ${status} ${client.body}`)
      idle.push(client)
    },
    close: () => all.forEach((client) => client.close()),
  }
}

const openMqtt = () => Publisher.open({ port: site.mqttPort, ...site.login })

const open = (way) => Promise.all(Array.from({ length: connections }, way === 'http' ? openHttp : openMqtt))

/** As much as the service takes: each reader sends its next message when one is acknowledged. */
async function flood({ way, shape, warmMs, measureMs }) {
  const readers = await open(way)
  const from = performance.now() + warmMs
  const until = from + measureMs
  let reads = 0
  const one = async (reader) => {
    while (performance.now() < until) {
      await reader.send(message(shape))
      const now = performance.now()
      if (now >= from && now <= until) reads += site.readsPerMessage
    }
  }
  await Promise.all(readers.flatMap((reader) => Array.from({ length: underWay[way] }, () => one(reader))))
  for (const reader of readers) reader.close()
  return { perSecond: (reads / measureMs) * 1000 }
}

/** Messages at fixed times, whatever became of the ones before; the lag counts from the time a message was due. */
async function atRate({ way, shape, readsPerSecond, warmMs, measureMs }) {
  const readers = await open(way)
  const times = evenly({ perSecond: readsPerSecond / site.readsPerMessage, forMs: warmMs + measureMs })
  const from = performance.now() + warmMs
  const lags = []
  let reads = 0
  await atTimes(times, async ({ index, time, dueAt }) => {
    await readers[index % readers.length].send(message(shape))
    const now = performance.now()
    if (time >= warmMs) lags.push(now - dueAt)
    if (now >= from && now <= from + measureMs) reads += site.readsPerMessage
  })
  for (const reader of readers) reader.close()
  return { perSecond: (reads / measureMs) * 1000, ...spread(lags) }
}

process.on('message', async ({ prepare, run }) => {
  try {
    if (prepare !== undefined) site = { readsPerMessage: 200, ...prepare }
    const result = run === undefined ? null : await (run.readsPerSecond === undefined ? flood(run) : atRate(run))
    process.send({ result })
  } catch (error) {
    process.send({ error: error.message })
  }
})
process.on('disconnect', () => process.exit())
