import { once } from 'node:events'
import { type Socket, connect } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { ConnectionLimits } from '../../src/admission/connection-limits.ts'
import { FairQueue } from '../../src/admission/fair-queue.ts'
import { flushTimeouts } from '../../src/http/response.ts'
import { ok } from '../../src/http/route.ts'
import { type MountedServer, mountRoutes, testRoute } from '../support/mount-routes.ts'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean()
})

/** More than the buffers of both ends of a loopback connection hold. */
const large = 'x'.repeat(32 * 1024 * 1024)

/** A client that sends and never reads. */
async function silentClient(url: string, text: string): Promise<Socket> {
  const { hostname, port } = new URL(url)
  const socket = connect({ port: Number(port), host: hostname })
  socket.on('error', () => undefined)
  socket.pause()
  await once(socket, 'connect')
  socket.write(text)
  cleanups.push(() => socket.destroy())
  return socket
}

const request = (path: string, token = 'a'): string =>
  `GET /api/v1/${path} HTTP/1.1\r\nHost: x\r\nUser-Agent: x\r\nAuthorization: Bearer ${token}\r\n\r\n`

async function mount(queue: FairQueue): Promise<MountedServer> {
  const mounted = await mountRoutes(
    [testRoute('large', async () => ok({ data: large })), testRoute('small', async () => ok({ data: 'small' }))],
    { queue },
  )
  cleanups.push(() => mounted.close())
  return mounted
}

describe('A client that does not read its responses', () => {
  it.each([
    ['on connections of their own', false],
    ['on one connection', true],
  ])('holds the slots of its organization until it reads them or leaves, %s', async (_how, isPipelined) => {
    const queue = new FairQueue({ maxInFlight: 8, timeoutMs: 8000 })
    const { url, responses } = await mount(queue)
    const clients = isPipelined
      ? [await silentClient(url, request('large').repeat(10))]
      : await Promise.all(Array.from({ length: 10 }, () => silentClient(url, request('large'))))
    // Two of eight slots are reserved for organizations that have nothing in flight.
    await expect.poll(() => [queue.inFlight, queue.waiting], { timeout: 15_000 }).toEqual([6, 4])
    await new Promise((resume) => setTimeout(resume, 200))
    expect(responses).toHaveLength(6)
    for (const client of clients) client.destroy()
    await expect.poll(() => [queue.inFlight, queue.waiting], { timeout: 5000 }).toEqual([0, 0])
  })

  it('holds the memory of its large pages: further ones are 429 until it reads them or leaves', async () => {
    const page = { data: Array<string>(33).fill('x'.repeat(2 ** 20)) }
    const mounted = await mountRoutes([testRoute('page', async () => ok(page))])
    cleanups.push(() => mounted.close())
    const get = async (): Promise<[status: number, retryAfter: string | null]> => {
      const reply = await fetch(`${mounted.url}/api/v1/page`, { headers: { Authorization: 'Bearer a' } })
      await reply.arrayBuffer()
      return [reply.status, reply.headers.get('Retry-After')]
    }
    const client = await silentClient(mounted.url, request('page'))
    await expect.poll(() => mounted.responses.length, { timeout: 15_000 }).toBe(1)
    expect(await get()).toEqual([429, '1'])
    client.destroy()
    await expect.poll(get, { timeout: 15_000 }).toEqual([200, null])
  })

  it('releases its slot as soon as it has read the response', async () => {
    const queue = new FairQueue({ maxInFlight: 8 })
    const { url } = await mount(queue)
    const client = await silentClient(url, request('large'))
    await expect.poll(() => queue.inFlight, { timeout: 15_000 }).toBe(1)
    let bytes = 0
    client.on('data', (chunk: Buffer) => (bytes += chunk.length))
    client.resume()
    await expect.poll(() => queue.inFlight, { timeout: 10_000 }).toBe(0)
    await expect.poll(() => bytes, { timeout: 10_000 }).toBeGreaterThan(large.length)
    client.write(request('small'))
    const before = bytes
    await expect.poll(() => bytes).toBeGreaterThan(before)
  })

  const stalled = { stalledMs: 200, totalMs: 60_000 }
  const total = { stalledMs: 60_000, totalMs: 400 }

  it.each([
    ['when it takes nothing of a response for a while', request('large'), stalled],
    ['when it has not read the whole response in time', request('large'), total],
    ['when it does not read a page of the web app', request('page'), stalled],
    ['when it has not read a page of the web app in time', request('page'), total],
    ['when it does not read error responses', request('missing').repeat(20_000), stalled],
  ])('is disconnected %s', async (_when, text, limits) => {
    const { stalledMs, totalMs } = flushTimeouts
    cleanups.push(() => Object.assign(flushTimeouts, { stalledMs, totalMs }))
    Object.assign(flushTimeouts, limits)
    const mounted = await mountRoutes(
      [testRoute('large', async () => ok({ data: large })), testRoute('small', async () => ok({ data: 'small' }))],
      {
        limits: new ConnectionLimits(1, 1),
        rawRoutes: [{ path: '/page', render: async () => ({ status: 200, type: 'text/html', text: large }) }],
      },
    )
    cleanups.push(() => mounted.close())
    await silentClient(mounted.url, text.replace('/api/v1/page', '/page'))
    const headers = { 'user-agent': 'x', authorization: 'Bearer a', connection: 'close' }
    // The server accepts one connection at a time.
    const another = (): Promise<number | null> =>
      fetch(`${mounted.url}/api/v1/small`, { headers }).then(
        ({ status }) => status,
        () => null,
      )
    await expect.poll(another, { timeout: 20_000 }).toBe(200)
  })
})
