import { once } from 'node:events'
import { type Socket, connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { route } from '../../src/http/route.ts'
import { type MountedServer, mountRoutes, success, testRouteDefaults } from '../support/mount-routes.ts'

const upload = route({
  ...testRouteDefaults,
  id: 'upload',
  method: 'POST',
  path: '/upload',
  upload: { maxMebibytes: 1, content: { 'text/csv': { schema: { type: 'string' }, example: '' } } },
  success,
  async handle({ upload: { chunks } }: { upload: { chunks: AsyncIterable<Buffer> } }) {
    let bytes = 0
    for await (const chunk of chunks) bytes += chunk.length
    return { status: 200, body: { data: bytes } }
  },
} as never)

let mounted: MountedServer
let socket: Socket
afterEach(async () => {
  socket.destroy()
  await mounted.close()
})

/** Sends the head of an upload of 100 bytes; returns everything that the server sends until it closes the connection. */
async function begin(bodyTimeouts: object): Promise<{ response: Promise<string> }> {
  mounted = await mountRoutes([upload], { bodyTimeouts })
  const { hostname, port } = new URL(mounted.url)
  socket = connect({ port: Number(port), host: hostname })
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  let text = ''
  socket.on('data', (data) => (text += data.toString()))
  const head = 'Host: a\r\nUser-Agent: a\r\nAuthorization: Bearer t\r\nContent-Type: text/csv\r\nConnection: close'
  socket.write(`POST /api/v1/upload HTTP/1.1\r\n${head}\r\nContent-Length: 100\r\n\r\n`)
  return { response: once(socket, 'end').then(() => text) }
}

describe('An upload', () => {
  it('may take longer than another request while its body arrives', async () => {
    const { response } = await begin({ requestMs: 500, uploadStalledMs: 5000, uploadMs: 60_000 })
    for (let sent = 0; sent < 100; sent += 10) {
      await sleep(200)
      socket.write('x'.repeat(10))
    }
    const text = await response
    expect(text).toContain('HTTP/1.1 200')
    expect(text).toContain('{"data":100}')
  })

  it.each([
    ['sends nothing for longer than the limit', { requestMs: 60_000, uploadStalledMs: 300 }],
    ['does not send everything within the total limit', { requestMs: 200, uploadStalledMs: 60_000, uploadMs: 600 }],
  ])('is answered 400 when its client %s', async (_what, timeouts) => {
    const { response } = await begin(timeouts)
    socket.write('x'.repeat(50))
    const text = await response
    expect(text).toContain('HTTP/1.1 400')
    expect(text).toContain('The request did not arrive in time')
  })
})
