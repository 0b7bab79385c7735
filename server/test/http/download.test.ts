import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { request } from 'undici'
import { afterEach, describe, expect, it } from 'vitest'
import { FairQueue } from '../../src/admission/fair-queue.ts'
import { maxDownloads } from '../../src/app/server.ts'
import type { DispatcherDeps } from '../../src/http/dispatcher-deps.ts'
import { createRequestContext } from '../../src/http/request-context.ts'
import { sendDownload } from '../../src/http/streamed-response.ts'
import { fullBucket } from '../../src/http/rate-limit.ts'
import { type Reply, route } from '../../src/http/route.ts'
import { type MountedServer, mountRoutes } from '../support/mount-routes.ts'

let mounted: MountedServer
afterEach(() => mounted?.close())

async function mount(chunks: () => AsyncIterable<string>, more: Partial<DispatcherDeps> = {}): Promise<void> {
  const handle = async (): Promise<Reply> => ({
    status: 200,
    download: { type: 'text/csv', fileName: 'a.csv', chunks: chunks() },
  })
  const success = { status: 200, description: '' } as const
  const common = { id: 'file', method: 'GET', path: '/file', group: '', summary: '', scopes: [] } as const
  mounted = await mountRoutes([route({ ...common, access: 'public', success, handle })], more)
}

const ask = (method: 'GET' | 'HEAD' = 'GET') =>
  request(`${mounted.url}/api/v1/file`, { method, headers: { 'x-request-id': 'é' } })

describe('A download that is generated while it is sent', () => {
  it('arrives complete', async () => {
    await mount(async function* () {
      yield 'ä'
      yield 'b'
    })
    const reply = await ask()
    expect([reply.statusCode, reply.headers['content-type'], await reply.body.text()]).toEqual([200, 'text/csv', 'äb'])
    await expect.poll(() => mounted.responses).toEqual([{ operation: 'file', status: 200 }])
  })

  it('that fails before its first byte is an ordinary error response', async () => {
    // eslint-disable-next-line require-yield
    await mount(async function* () {
      throw new Error('no database')
    })
    const reply = await ask()
    expect(reply.statusCode).toBe(500)
    expect(await reply.body.json()).toMatchObject({ error: { type: 'internal_error' } })
  })

  it('that fails midway closes the connection, so that the client sees that it is incomplete', async () => {
    await mount(async function* () {
      yield 'half'
      throw new Error('lost')
    })
    await expect(ask().then((reply) => reply.body.text())).rejects.toThrow()
    await expect.poll(() => mounted.bugs.map(String)).toEqual(['Error: lost'])
  })

  it('is generated no faster than the client reads, and not at all once the client has left', async () => {
    let made = 0
    let isOver = false
    await mount(async function* () {
      try {
        for (; made < 10_000; made++) yield 'x'.repeat(64 * 1024)
      } finally {
        isOver = true
      }
    })
    const reply = await ask()
    let before = -1
    // The socket buffers hold a few megabytes; then the generation pauses.
    await expect.poll(() => [made === before, (before = made)][0], { interval: 200, timeout: 15_000 }).toBe(true)
    expect(made).toBeLessThan(1000)
    reply.body.destroy()
    reply.body.on('error', () => undefined)
    await expect.poll(() => isOver).toBe(true)
    expect(made).toBeLessThan(1000)
  })

  it('is limited in number, and a further one is 429 when none of them ends in time', async () => {
    let end = (): void => undefined
    const ended = new Promise<void>((resolve) => (end = resolve))
    const chunks = async function* () {
      yield 'a'
      await ended
    }
    const downloadQueue = new FairQueue({ maxInFlight: 1, timeoutMs: 200 })
    await mount(chunks, { downloadQueue })
    const first = await ask()
    const second = await ask()
    expect([first.statusCode, second.statusCode]).toEqual([200, 429])
    await second.body.dump()
    end()
    expect(await first.body.text()).toBe('a')
    await expect.poll(() => downloadQueue.inFlight).toBe(0)
    expect((await ask()).statusCode).toBe(200)
  })

  it('is ended after the maximum duration of a download', async () => {
    let isOver = false
    const chunks = async function* () {
      try {
        for (;;) {
          yield 'a'
          await new Promise((resume) => setTimeout(resume, 20))
        }
      } finally {
        isOver = true
      }
    }
    const server = createServer((message, response) => {
      void sendDownload(createRequestContext(message, response, fullBucket(0), 0), {
        type: 'text/csv',
        fileName: '',
        chunks: chunks(),
        maxMs: 300,
      })
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const reply = await request(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
    await expect(reply.body.text()).rejects.toThrow()
    await expect.poll(() => isOver).toBe(true)
    server.close()
  })

  it('is answered with headers and no body to HEAD', async () => {
    await mount(async function* () {
      yield 'a'
    })
    const reply = await ask('HEAD')
    expect([reply.statusCode, reply.headers['content-disposition'], await reply.body.text()]).toEqual([
      200,
      'attachment; filename="a.csv"',
      '',
    ])
  })
})

describe('Downloads', () => {
  it('are 16 at a time, of which one organization has at most 12; further ones wait', async () => {
    expect(maxDownloads).toBe(16)
    const queue = new FairQueue({ maxInFlight: maxDownloads })
    const begin = (orgId: number) => void queue.acquire(orgId)
    for (let count = 0; count < 13; count++) begin(1)
    expect([queue.inFlight, queue.waiting]).toEqual([12, 1])
    for (let orgId = 2; orgId <= 6; orgId++) begin(orgId)
    expect([queue.inFlight, queue.waiting]).toEqual([16, 2])
    queue.release(2)
    await expect.poll(() => [queue.inFlight, queue.waiting]).toEqual([16, 1])
  })
})
