/** An HTTPS endpoint that counts deliveries and measures their rate from the first to the last, in its own process. */
import { createServer } from 'node:https'
import { expose } from './expose.mjs'

let seen = { count: 0 }

async function start({ key, cert }) {
  const server = createServer({ key, cert, keepAliveTimeout: 65_000 }, (request, response) => {
    request.resume().on('end', () => {
      response.writeHead(204).end()
      seen.firstAt ??= performance.now()
      seen.lastAt = performance.now()
      if (++seen.count === seen.expected) seen.done()
    })
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { port: server.address().port }
}

/** Counts anew. */
function expectDeliveries(expected) {
  const complete = new Promise((resolve) => (seen = { count: 0, expected, done: resolve }))
  seen.complete = complete
}

async function rate() {
  await seen.complete
  return { perSecond: ((seen.count - 1) * 1000) / (seen.lastAt - seen.firstAt) }
}

expose({ start, expectDeliveries, rate })
