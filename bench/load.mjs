/** The load generator, a process of its own so that it takes no time from what it measures. */
import { Client } from './client.mjs'
import { spread } from './figures.mjs'
import { openRound } from './open-load.mjs'
import { operations, toHttp } from './operations.mjs'
import { growthRequests } from './growth/requests.mjs'
import { parseRequests, toParse } from './parse/requests.mjs'
import { newRandom } from './random.mjs'

/** How to ask what is measured: the service and the floor are asked alike. */
const dialects = {
  lastseen: { requests: operations, toBytes: toHttp },
  growth: { requests: growthRequests, toBytes: toHttp },
  parse: { requests: parseRequests, toBytes: toParse },
}

const datasets = new Map()
const random = newRandom(7)

/** Each caller sends one request after the other, and takes the next token each time, so that no bucket runs dry. */
async function closedRound(given, { port, operation, connections, warmMs, measureMs }) {
  const { sample, tokens, next, dialect = 'lastseen' } = given
  const { requests, toBytes } = dialects[dialect]
  const asked = [operation].flat().map((name) => requests[name].ask)
  const clients = await Promise.all(Array.from({ length: connections }, () => Client.open(port)))
  const latencies = []
  const failures = {}
  const from = performance.now() + warmMs
  const until = from + measureMs
  await Promise.all(
    clients.map(async (client) => {
      for (let sentAt = performance.now(); sentAt < until;) {
        const ask = asked[next.token % asked.length]
        const bytes = toBytes(ask(sample, random), tokens[next.token++ % tokens.length])
        sentAt = performance.now()
        const status = await client.send(bytes)
        const answeredAt = performance.now()
        if (status < 200 || status > 299) failures[status] = (failures[status] ?? 0) + 1
        else if (answeredAt >= from && answeredAt <= until) latencies.push(answeredAt - sentAt)
        sentAt = answeredAt
      }
    }),
  )
  for (const client of clients) client.close()
  return { perSecond: (latencies.length / measureMs) * 1000, ...spread(latencies), failures }
}

/** With `perSecond` the requests come at their own times, without it each caller waits for its answer first. */
function round({ dataset, ...run }) {
  const given = datasets.get(dataset)
  return run.perSecond === undefined ? closedRound(given, run) : openRound(given, random, run)
}

/** One answer to look at. Every target is asked about the same thing. */
async function look({ port, dataset, operation }) {
  const { sample, tokens, dialect = 'lastseen' } = datasets.get(dataset)
  const { requests, toBytes } = dialects[dialect]
  const client = await Client.open(port)
  const bytes = toBytes(requests[operation].ask(sample, newRandom(1)), tokens[0])
  const sentAt = performance.now()
  const status = await client.send(bytes)
  const ms = performance.now() - sentAt
  const { body } = client
  client.close()
  return { status, body, ms }
}

process.on('message', async ({ prepare, run, look: looked }) => {
  try {
    if (prepare !== undefined) datasets.set(prepare.name, { ...prepare, next: { token: 0 } })
    const result = run !== undefined ? await round(run) : looked !== undefined ? await look(looked) : null
    process.send({ result })
  } catch (error) {
    process.send({ error: error.message })
  }
})
process.on('disconnect', () => process.exit())
