import { once } from 'node:events'
import { type Socket, connect } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { ok } from '../../src/http/route.ts'
import { type MountedServer, mountRoutes, testRoute } from '../support/mount-routes.ts'
import { eventually } from '../support/tracking.ts'

let mounted: MountedServer
const sockets: Socket[] = []
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await mounted.close()
})

/** A client that keeps its own side of the connection open after the server has ended its side. */
async function open(): Promise<Socket> {
  const { hostname, port } = new URL(mounted.url)
  const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true })
  socket.on('error', () => undefined)
  sockets.push(socket)
  await once(socket, 'connect')
  return socket
}

const closed = (socket: Socket): Promise<void> => new Promise((resolve) => socket.once('close', () => resolve()))

/** Connections that this process reads from, as client or as server. */
const openSockets = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'TCPSocketWrap').length

describe('A client that keeps its side of the connection open after the server has ended its own', () => {
  it.each([
    ['bytes that are not HTTP', 'nonsense\r\n\r\n'],
    ['headers that are too large', `GET / HTTP/1.1\r\nX-A: ${'a'.repeat(20_000)}\r\n\r\n`],
  ])('is disconnected a second later: %s', async (_what, bytes) => {
    mounted = await mountRoutes([testRoute('here', async () => ok({}))])
    const socket = await open()
    const ended = once(socket.resume(), 'end')
    socket.write(bytes)
    await ended
    const before = openSockets()
    await eventually(async () => expect(openSockets()).toBeLessThan(before), 3000)
    expect(socket.closed).toBe(false)
  })

  it('is disconnected a second later: CONNECT', async () => {
    mounted = await mountRoutes([testRoute('here', async () => ok({}))])
    const socket = await open()
    const [ended, isClosed] = [once(socket.resume(), 'end'), closed(socket)]
    socket.write('CONNECT example.com:443 HTTP/1.1\r\nHost: a\r\n\r\n')
    await ended
    const writing = setInterval(() => socket.write('x'), 100)
    await isClosed
    clearInterval(writing)
  })

  it('is disconnected a second after its request timed out, and its body is freed', async () => {
    let isOver = false
    const handle = async () => ok({})
    const slow = testRoute('slow', handle, {
      method: 'POST',
      body: { mediaType: 'application/json', name: 'Slow', shape: {}, example: {} },
    })
    mounted = await mountRoutes([slow], {
      bodyTimeouts: { requestMs: 200 },
      onResponse: () => {
        isOver = true
      },
    })
    const socket = await open()
    const ended = once(socket.resume(), 'end')
    const head = 'Host: a\r\nAuthorization: Bearer t\r\nContent-Type: application/json\r\nContent-Length: 1000000'
    socket.write(`POST /api/v1/slow HTTP/1.1\r\n${head}\r\n\r\n{"a":"`)
    await ended
    expect(isOver).toBe(false)
    await eventually(async () => expect(isOver).toBe(true), 3000)
  })

  it('cannot crash the process by a connection reset', async () => {
    mounted = await mountRoutes([testRoute('here', async () => ok({}))])
    for (let count = 0; count < 20; count++) {
      const socket = await open()
      socket.write('CONNECT example.com:443 HTTP/1.1\r\nHost: a\r\n\r\n')
      socket.resetAndDestroy()
    }
    const response = await fetch(`${mounted.url}/api/v1/here`, { headers: { authorization: 'Bearer t' } })
    expect(response.status).toBe(200)
  })
})
