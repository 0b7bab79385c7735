import { getEventListeners } from 'node:events'
import { type Server, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type SimulationOptions, runLive } from '../../src/simulator/simulation.ts'
import { buildSite } from '../../src/simulator/site.ts'

let ingest: Server
beforeAll(async () => {
  ingest = createServer((request, response) => request.resume().on('end', () => response.writeHead(202).end('{}')))
  await new Promise<void>((resolve) => ingest.listen(0, '127.0.0.1', resolve))
})
afterAll(() => void ingest.close())

it('A simulation keeps no listeners of finished messages and pauses, so it may run for days without warnings', async () => {
  const site = buildSite(1, 10, true)
  const end = new AbortController()
  const listeners: number[] = []
  let sent = 0
  const options: SimulationOptions = {
    site,
    tokens: new Map(site.points.map((point) => [point.reader, 'lsd_token'])),
    ingestUrl: `http://127.0.0.1:${(ingest.address() as AddressInfo).port}/`,
    format: 'generic',
    seed: 1,
    signal: end.signal,
    millis: () => Date.now(),
    onSent: (reads) => {
      listeners.push(getEventListeners(end.signal, 'abort').length)
      if ((sent += reads) >= 60) end.abort()
    },
  }
  await runLive(options, new Map(), 20)
  expect(listeners.length).toBeGreaterThan(3)
  expect(Math.max(...listeners)).toBeLessThanOrEqual(1)
  expect(getEventListeners(end.signal, 'abort')).toEqual([])
})
