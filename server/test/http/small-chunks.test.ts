import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { IncomingMessage } from 'node:http'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FairQueue } from '../../src/admission/fair-queue.ts'
import { maxSmallChunks } from '../../src/http/incoming-request.ts'
import { boolean } from '../../src/http/validation/fields.ts'
import { type AnyRoute, ok, route } from '../../src/http/route.ts'
import { collectGarbage } from '../support/garbage.ts'
import { type MountedServer, mountRoutes, success, testRouteDefaults } from '../support/mount-routes.ts'
import { RawConnection } from '../support/raw-http.ts'

/** The memory of JavaScript objects and buffers. */
async function memoryInUse(): Promise<number> {
  await collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

const never = new Promise<never>(() => undefined)
const content = { 'application/json': { schema: {}, example: '' } }
const define = (id: string, method: 'GET' | 'POST', more: object): AnyRoute =>
  route({ ...testRouteDefaults, id, method, path: `/${id}`, success, handle: () => never, ...more } as never)

const body = { mediaType: 'application/json', name: 'Body', shape: { isFine: boolean }, example: {} }
const routes = [
  define('body', 'POST', { body }),
  define('upload', 'POST', { upload: { maxMebibytes: 1, content } }),
  define('none', 'GET', {}),
]

const mebibyte = 1024 * 1024
const connections = 8
const oneByteChunks = Buffer.from('1\r\n \r\n'.repeat(50_000))

let mounted: MountedServer
const requests: IncomingMessage[] = []
const wires: RawConnection[] = []
const onRequest = (message: unknown): unknown => requests.push((message as { request: IncomingMessage }).request)
beforeEach(() => subscribe('http.server.request.start', onRequest))
afterEach(async () => {
  unsubscribe('http.server.request.start', onRequest)
  for (const wire of wires.splice(0)) wire.close()
  requests.length = 0
  await mounted.close()
})

async function send(method: string, path: string): Promise<void> {
  for (let index = 0; index < connections; index++) {
    const wire = await RawConnection.open(mounted.url)
    wires.push(wire)
    wire.request(
      [
        ...[`${method} /api/v1/${path} HTTP/1.1`, 'Host: a', 'User-Agent: a', 'Authorization: Bearer t'],
        ...['Content-Type: application/json', 'Transfer-Encoding: chunked'],
      ],
      oneByteChunks,
    )
  }
}

describe('A body that arrives in chunks of one byte', () => {
  it.each([
    ['while the server reads it', 'POST', 'body'],
    ['while an upload waits for a slot', 'POST', 'upload'],
    ['when the route has no body', 'GET', 'none'],
  ])('takes little more memory than its bytes %s', async (_when, method, path) => {
    const downloadQueue = new FairQueue({ maxInFlight: 1 })
    await downloadQueue.acquire('another')
    mounted = await mountRoutes(routes, { downloadQueue })
    const before = await memoryInUse()
    await send(method, path)
    // A chunk with its length has six bytes.
    const received = (): number => requests.filter(({ socket }) => socket.bytesRead > 25_000).length
    await expect.poll(received, { timeout: 20_000 }).toBe(connections)
    expect(((await memoryInUse()) - before) / mebibyte).toBeLessThan(12)
  })

  it('is complete when an upload reads it after a wait, or part by part', async () => {
    const received: string[] = []
    const handle = async ({ upload: { chunks } }: { upload: { chunks: AsyncIterable<Buffer> } }) => {
      let text = ''
      for await (const chunk of chunks) text += chunk.toString()
      received.push(text)
      return ok({ data: text.length })
    }
    const downloadQueue = new FairQueue({ maxInFlight: 1 })
    await downloadQueue.acquire('another')
    mounted = await mountRoutes([define('upload', 'POST', { upload: { maxMebibytes: 1, content }, handle })], {
      downloadQueue,
    })
    const text = Array.from({ length: 4_800 }, (_, index) => String(index % 10)).join('')
    const chunks = [...text].map((one) => `1\r\n${one}\r\n`).join('')
    const wire = await RawConnection.open(mounted.url)
    wires.push(wire)
    wire.request(
      [
        ...['POST /api/v1/upload HTTP/1.1', 'Host: a', 'User-Agent: a', 'Authorization: Bearer t'],
        ...['Content-Type: application/json', 'Transfer-Encoding: chunked'],
      ],
      `${chunks}0\r\n\r\n`,
    )
    await expect.poll(() => requests[0]?.socket.bytesRead ?? 0, { timeout: 20_000 }).toBeGreaterThan(25_000)
    downloadQueue.release('another')
    const reply = await wire.readResponse()
    expect(reply?.status).toBe(200)
    expect(received).toEqual([text])
  })

  it.each([
    ['5,000 chunks is read', maxSmallChunks, 200],
    ['more chunks ends the connection', maxSmallChunks + 1, null],
  ])('of %s', async (_what, count, status) => {
    mounted = await mountRoutes([define('body', 'POST', { body, handle: async () => ok({ data: 1 }) })], {})
    const wire = await RawConnection.open(mounted.url)
    wires.push(wire)
    const head = ['POST /api/v1/body HTTP/1.1', 'Host: a', 'User-Agent: a', 'Authorization: Bearer t']
    const text = '{"isFine":true}'.padEnd(count)
    const chunks = [...text].map((one) => `1\r\n${one}\r\n`).join('')
    wire.request([...head, 'Content-Type: application/json', 'Transfer-Encoding: chunked'], `${chunks}0\r\n\r\n`)
    expect((await wire.readResponse())?.status ?? null).toBe(status)
  })
})
