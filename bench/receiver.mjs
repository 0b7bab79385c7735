/** An HTTPS endpoint that counts deliveries and measures their rate from the first to the last, in its own process. */
import { createServer } from 'node:https'
import { expose } from './expose.mjs'

let deliveries = { count: 0 }

async function start({ key, cert }) {
  const server = createServer({ key, cert, keepAliveTimeout: 65_000 }, (request, response) => {
    request.resume().on('end', () => {
      response.writeHead(204).end()
      deliveries.firstAt ??= performance.now()
      deliveries.lastAt = performance.now()
      if (++deliveries.count === deliveries.expected) deliveries.done()
    })
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { port: server.address().port }
}

/** Resets the count and sets the expected number of deliveries. */
function expectDeliveries(expected) {
  const complete = new Promise((resolve) => (deliveries = { count: 0, expected, done: resolve }))
  deliveries.complete = complete
}

async function rate() {
  await deliveries.complete
  return { perSecond: ((deliveries.count - 1) * 1000) / (deliveries.lastAt - deliveries.firstAt) }
}

expose({ start, expectDeliveries, rate })
