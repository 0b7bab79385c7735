import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, type Socket, connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { FairQueue } from '../../src/admission/fair-queue.ts'
import { readChunks } from '../../src/http/body.ts'
import { TransferTimeout } from '../../src/http/transfer-timeout.ts'
import { fullBucket } from '../../src/http/rate-limit.ts'
import { type RequestContext, createRequestContext } from '../../src/http/request-context.ts'
import { sendDownload } from '../../src/http/streamed-response.ts'
import { noContent, route } from '../../src/http/route.ts'
import { mountRoutes, success, testRouteDefaults } from '../support/mount-routes.ts'
import { RawConnection } from '../support/raw-http.ts'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean()
})

async function serve(handle: (context: RequestContext) => Promise<void>): Promise<Socket> {
  const server = createServer((request, response) => {
    void handle(createRequestContext(request, response, fullBucket(0), 0))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.on('error', () => undefined)
  cleanups.push(
    () => server.close(),
    () => socket.destroy(),
  )
  return socket
}

const mebibyte = 1024 * 1024

describe('The timeout of a transfer', () => {
  it('is used up by all waits together', async () => {
    let ends = 0
    const transferTimeout = new TransferTimeout(300, () => ends++)
    await transferTimeout.wait(sleep(100))
    await transferTimeout.wait(sleep(100))
    expect(ends).toBe(0)
    await expect(transferTimeout.wait(sleep(5000))).rejects.toThrow('The client is slower than 64 KiB a second')
    expect(ends).toBe(1)
  })

  it('lasts a second longer for each 64 KiB', async () => {
    const transferTimeout = new TransferTimeout(100, () => undefined)
    transferTimeout.addTransferred(64 * 1024)
    await transferTimeout.wait(sleep(600))
    await expect(transferTimeout.wait(sleep(5000))).rejects.toThrow()
  })
})

describe('A download', () => {
  it('ends when its client reads a little now and then, but less than 64 KiB a second', async () => {
    let isOver = false
    const chunks = async function* () {
      for (let made = 0; made < 10_000; made++) yield 'x'.repeat(mebibyte / 16)
    }
    // The buffers of the connection take a few megabytes at once, which count as transferred.
    const graceMs = -120_000
    const socket = await serve((context) =>
      sendDownload(context, { type: 'text/csv', chunks: chunks() }, graceMs).catch(() => void (isOver = true)),
    )
    socket.pause().write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    const reading = setInterval(() => socket.read(1000), 50)
    cleanups.push(() => clearInterval(reading))
    await expect.poll(() => isOver, { timeout: 15_000 }).toBe(true)
  })

  it('goes on however long the server takes', async () => {
    const chunks = async function* () {
      for (let made = 0; made < 10; made++) {
        await sleep(50)
        yield 'x'
      }
    }
    let received = ''
    const socket = await serve((context) => sendDownload(context, { type: 'text/csv', chunks: chunks() }, 100))
    socket.on('data', (chunk) => (received += chunk.toString()))
    socket.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
    await once(socket, 'end')
    expect(received.match(/\nx\r/g)).toHaveLength(10)
  })
})

describe('An upload', () => {
  const upload = { maxMebibytes: 1, content: {} }

  it('ends when its client sends a little now and then, but less than 64 KiB a second', async () => {
    let outcome: unknown
    const socket = await serve(async (context) => {
      let bytes = 0
      try {
        for await (const chunk of readChunks(context, 1, 300)) bytes += chunk.length
      } catch (error) {
        outcome = [bytes < 100, (error as Error).message]
      }
      context.response.end()
    })
    socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n')
    const sending = setInterval(() => socket.write('x'), 20)
    cleanups.push(() => clearInterval(sending))
    await expect.poll(() => outcome, { timeout: 5000 }).toEqual([true, 'The client is slower than 64 KiB a second'])
  })

  it('goes on however long the server takes', async () => {
    let outcome = 0
    const socket = await serve(async (context) => {
      let bytes = 0
      for await (const chunk of readChunks(context, 1, 300)) {
        bytes += chunk.length
        await sleep(100)
      }
      outcome = bytes
      context.response.end()
    })
    socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 400000\r\n\r\n')
    socket.write('x'.repeat(400_000))
    await expect.poll(() => outcome, { timeout: 5000 }).toBe(400_000)
  })

  it('that is rejected gives its slot back before the rest of it has arrived', async () => {
    const downloadQueue = new FairQueue({ maxInFlight: 4 })
    let isStarted = false
    const rejecting = route({
      ...{ ...testRouteDefaults, id: 'up', method: 'POST', path: '/up', success },
      upload: { ...upload, content: { 'text/csv': { schema: {}, example: '' } } },
      handle: async ({ upload: body }) => {
        isStarted = true
        for await (const chunk of body!.chunks) throw new Error(`unexpected ${chunk.length}`)
        return noContent
      },
    })
    const mounted = await mountRoutes([rejecting], { downloadQueue })
    cleanups.push(() => mounted.close())
    const wire = await RawConnection.open(mounted.url)
    cleanups.push(() => wire.close())
    const head = ['POST /api/v1/up HTTP/1.1', 'Host: a', 'Authorization: Bearer a', 'Content-Type: text/csv']
    // The consumer gets at least 16 KiB at a time.
    wire.request([...head, 'Content-Length: 20000'], 'x'.repeat(16 * 1024))
    await expect.poll(() => isStarted).toBe(true)
    await expect.poll(() => downloadQueue.inFlight).toBe(0)
    expect(mounted.responses).toEqual([])
    wire.write('x'.repeat(20_000 - 16 * 1024))
    expect((await wire.readResponse())?.status).toBe(500)
  })
})
