import { once } from 'node:events'
import { type Socket, connect } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { ConnectionLimits } from '../../src/admission/connection-limits.ts'
import { ok } from '../../src/http/route.ts'
import { type MountedServer, mountRoutes, testRoute } from '../support/mount-routes.ts'

let mounted: MountedServer
const sockets: Socket[] = []

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await mounted.close()
})

async function open(): Promise<Socket> {
  const socket = connect({ port: Number(new URL(mounted.url).port), host: '127.0.0.1' })
  socket.on('error', () => undefined)
  sockets.push(socket)
  await once(socket, 'connect')
  return socket
}

/** The status line of the response to a request on the connection, or null when the server closed it. */
async function answerOn(socket: Socket): Promise<string | null> {
  const first = Promise.race([once(socket, 'data'), once(socket, 'close')])
  socket.write('GET /api/v1/fine HTTP/1.1\r\nHost: x\r\nUser-Agent: x\r\nAuthorization: Bearer a\r\n\r\n')
  const [chunk] = (await first) as [unknown]
  return Buffer.isBuffer(chunk) ? chunk.toString().split('\r\n')[0]! : null
}

const fine = 'HTTP/1.1 200 OK'

describe('HTTP connections', () => {
  it.each([
    ['in total', new ConnectionLimits(3, Infinity), '3 connections'],
    ['of one address', new ConnectionLimits(Infinity, 3), '3 connections from one address'],
  ])(
    '%s are served up to the limit, and a further connection is closed until one of them ends',
    async (_what, limits, limit) => {
      mounted = await mountRoutes([testRoute('fine', async () => ok({}))], { limits })
      const held = [await open(), await open(), await open()]
      for (const socket of held) expect(await answerOn(socket)).toBe(fine)
      expect(await answerOn(await open())).toBeNull()
      expect(mounted.limited).toEqual([limit])
      for (const socket of held) expect(await answerOn(socket)).toBe(fine)

      held[0]!.destroy()
      await expect.poll(async () => answerOn(await open()), { timeout: 5000 }).toBe(fine)
    },
  )
})
