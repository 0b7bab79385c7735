import { once } from 'node:events'
import { connect } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { route } from '../../src/http/route.ts'
import { type MountedServer, mountRoutes } from '../support/mount-routes.ts'

let mounted: MountedServer
afterEach(() => mounted.close())

describe('A streaming response', () => {
  it('is not started for a client that has disconnected, so that it holds no resources', async () => {
    let begun = 0
    let arrived = (): void => undefined
    const requestArrived = new Promise<void>((resolve) => (arrived = resolve))
    let goOn = (): void => undefined
    const held = new Promise<void>((resolve) => (goOn = resolve))
    const success = { status: 200, description: '' } as const
    const common = { id: 'live', method: 'GET', path: '/live', group: '', summary: '', scopes: [] } as const
    const handle = async () => {
      arrived()
      await held
      return {
        status: 200,
        stream: () => {
          begun++
        },
      }
    }
    mounted = await mountRoutes([route({ ...common, access: 'public', success, handle })])
    const { hostname, port } = new URL(mounted.url)
    const socket = connect(Number(port), hostname)
    socket.write('GET /api/v1/live HTTP/1.1\r\nHost: x\r\nUser-Agent: x\r\n\r\n')
    await requestArrived
    socket.destroy()
    await once(socket, 'close')
    // A later request is answered only after the server has noticed the disconnect.
    for (let after = 0; after < 3; after++) await fetch(`${mounted.url}/api/v1/elsewhere`)
    goOn()
    await held
    for (let after = 0; after < 3; after++) await fetch(`${mounted.url}/api/v1/elsewhere`)
    expect(begun).toBe(0)
  })
})
