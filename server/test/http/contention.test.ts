import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { FairQueue } from '../../src/admission/fair-queue.ts'
import { ok } from '../../src/http/route.ts'
import { type Reply, send } from '../support/client.ts'
import { type MountedServer, mountRoutes, testRoute } from '../support/mount-routes.ts'
import { RawConnection } from '../support/raw-http.ts'

let mounted: MountedServer | undefined

afterEach(async () => {
  await mounted?.close()
  mounted = undefined
})

const fine = testRoute('fine', async () => ok({ data: 1 }))

/** The organization is the token's number; a request for `held` ends when the test releases it. One tenant gets 3 of 4 slots. */
async function blockedRoutes() {
  const ends: (() => void)[] = []
  const held = testRoute('held', async () => {
    await new Promise<void>((resume) => ends.push(resume))
    return ok({ data: 1 })
  })
  const queue = new FairQueue({ maxInFlight: 4, timeoutMs: 8000 })
  const principal = {
    kind: 'session',
    subject: 'a',
    sessionId: 'a',
    namedScopes: ['ok'],
    scopes: new Set(['ok']),
    expiresAtMs: Infinity,
    kid: '',
    credentialExpiresAtMs: Infinity,
  } as const
  const authenticator = { authenticate: async (token: string) => ({ ...principal, orgId: Number(token) }) }
  mounted = await mountRoutes([held, fine], { queue, authenticator })
  const { url } = mounted
  const ask = (path: string, token: string): Promise<Reply> => send(url, 'GET', `/api/v1/${path}`, { token })
  /** Completes the units one after the other as they start; returns the maximum number in flight. */
  const endAll = async (count: number): Promise<number> => {
    let most = 0
    for (let ended = 0; ended < count; ended++) {
      await expect.poll(() => ends.length, { timeout: 10_000 }).toBeGreaterThan(0)
      ends.shift()!()
      most = Math.max(most, queue.inFlight)
    }
    return most
  }
  return { url, queue, ends, ask, endAll }
}

describe('An organization that sends too many requests', () => {
  it('has its own requests queued while another organization is served, and all of them are answered in the end', async () => {
    const { queue, ends, ask, endAll } = await blockedRoutes()
    expect((await ask('fine', '2')).status).toBe(200)
    const heldRequests = Array.from({ length: 20 }, () => ask('held', '1'))
    await expect.poll(() => queue.waiting, { timeout: 10_000 }).toBe(17)
    expect(ends).toHaveLength(3)
    for (let count = 0; count < 5; count++) expect((await ask('fine', '2')).status).toBe(200)
    expect([queue.inFlight, queue.waiting, ends.length]).toEqual([3, 17, 3])
    expect(await endAll(20)).toBeLessThanOrEqual(3)
    expect((await Promise.all(heldRequests)).map((reply) => reply.status)).toEqual(Array(20).fill(200))
    expect([queue.inFlight, queue.waiting]).toEqual([0, 0])
  })

  it('loses its queued request when the client disconnects, and no work is done for it', async () => {
    const { url, queue, ask, endAll } = await blockedRoutes()
    await ask('fine', '2')
    const first = [ask('held', '1'), ask('held', '1'), ask('held', '1')]
    await expect.poll(() => queue.inFlight, { timeout: 10_000 }).toBe(3)
    const wire = await RawConnection.open(url)
    wire.request(['GET /api/v1/held HTTP/1.1', 'Host: a', 'Authorization: Bearer 1'])
    await expect.poll(() => queue.waiting, { timeout: 10_000 }).toBe(1)
    const behind = ask('held', '1')
    await expect.poll(() => queue.waiting, { timeout: 10_000 }).toBe(2)
    wire.close()
    await sleep(300)
    await endAll(4)
    expect((await Promise.all([...first, behind])).map((reply) => reply.status)).toEqual([200, 200, 200, 200])
    await expect.poll(() => [queue.inFlight, queue.waiting], { timeout: 10_000 }).toEqual([0, 0])
    expect(mounted!.bugs).toEqual([])
  })

  it('gets complete responses when the process stops meanwhile', async () => {
    const { queue, ask, endAll } = await blockedRoutes()
    await ask('fine', '2')
    const heldRequests = Array.from({ length: 6 }, () => ask('held', '1'))
    await expect.poll(() => queue.waiting, { timeout: 10_000 }).toBe(3)
    const closed = mounted!.close(10_000)
    await endAll(6)
    expect((await Promise.all(heldRequests)).map((reply) => reply.status)).toEqual(Array(6).fill(200))
    await closed
    mounted = undefined
  })
})
