/** The load generator, a process of its own so that it takes no time from what it measures. */
import { Client } from './client.mjs'
import { spread } from './figures.mjs'
import { openRound } from './open-load.mjs'
import { operations, toHttp } from './operations.mjs'
import { newRandom } from './random.mjs'

const datasets = new Map()
const random = newRandom(7)

/** Each caller sends one request after the other, and takes the next token each time, so that no bucket runs dry. */
async function closedRound({ sample, tokens, next }, { port, operation, connections, warmMs, measureMs }) {
  const asked = [operation].flat().map((name) => operations[name].ask)
  const clients = await Promise.all(Array.from({ length: connections }, () => Client.open(port)))
  const latencies = []
  const failures = {}
  const from = performance.now() + warmMs
  const until = from + measureMs
  await Promise.all(
    clients.map(async (client) => {
      for (let sentAt = performance.now(); sentAt < until;) {
        const ask = asked[next.token % asked.length]
        const bytes = toHttp(ask(sample, random), tokens[next.token++ % tokens.length])
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

process.on('message', async ({ prepare, run }) => {
  try {
    if (prepare !== undefined) datasets.set(prepare.name, { ...prepare, next: { token: 0 } })
    process.send({ result: run === undefined ? null : await round(run) })
  } catch (error) {
    process.send({ error: error.message })
  }
})
process.on('disconnect', () => process.exit())
