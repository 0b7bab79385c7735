/** An HTTPS endpoint that counts what it gets. `/hang/…` never answers, `/slow/…` after a second. A process of its own. */
import { createServer } from 'node:https'

const seen = { count: 0, delays: [], target: Infinity, reached: null }

const answerLater = (response) => setTimeout(() => response.writeHead(204).end(), 1_000)

process.once('message', ({ key, cert }) => {
  const server = createServer({ key, cert, keepAliveTimeout: 65_000 }, (request, response) => {
    if (request.url.startsWith('/hang/')) return request.resume()
    if (request.url.startsWith('/slow/')) return request.resume().on('end', () => answerLater(response))
    const chunks = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => {
      const now = Date.now()
      const { occurred_at: occurredAt } = JSON.parse(Buffer.concat(chunks))
      seen.delays.push(now - Date.parse(occurredAt))
      if (++seen.count === seen.target) seen.reached?.()
      response.writeHead(204).end()
    })
  })
  server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }))
})

/** `await`: counts from nothing and answers once so many have come. */
process.on('message', async ({ expect, reset }) => {
  if (reset) {
    Object.assign(seen, { count: 0, delays: [], target: Infinity, reached: null })
    process.send({ reset: true })
  }
  if (expect === undefined) return
  if (seen.count < expect) await new Promise((resolve) => Object.assign(seen, { target: expect, reached: resolve }))
  const delays = seen.delays.sort((a, b) => a - b)
  process.send({
    count: seen.count,
    medianMs: delays[Math.floor(delays.length / 2)],
    p99Ms: delays[Math.floor(delays.length * 0.99)],
  })
})
process.on('disconnect', () => process.exit())
