import { afterEach, describe, expect, it } from 'vitest'
import { FairQueue } from '../../src/admission/fair-queue.ts'
import { passwordQueueLimits } from '../../src/app/server.ts'
import { text } from '../../src/http/validation/fields.ts'
import { type AnyRoute, type ok, route } from '../../src/http/route.ts'
import { send } from '../support/client.ts'
import { expectApiError } from '../support/error-response.ts'
import { type MountedServer, mountRoutes, success } from '../support/mount-routes.ts'

let mounted: MountedServer | undefined
afterEach(async () => {
  await mounted?.close()
  mounted = undefined
})

/** A public operation that waits until the test releases it. */
function held(id: string, more: Partial<AnyRoute> = {}): { route: AnyRoute; end: () => void; started: () => number } {
  const ends: (() => void)[] = []
  const handle = (): Promise<ReturnType<typeof ok>> =>
    new Promise((resolve) => ends.push(() => resolve({ status: 200, body: { data: id } })))
  const common = { group: 'Tests', summary: 'Waits', access: 'public', scopes: [], method: 'POST', success } as const
  const body = { mediaType: 'application/json', name: 'Empty', shape: { a: text({ max: 9 }) }, example: {} } as const
  const blocked = route({ ...common, id, path: `/${id}`, body, handle, ...(more as object) })
  return { route: blocked, end: () => ends.splice(0).forEach((one) => one()), started: () => ends.length }
}

const post = (id: string, from: string) =>
  send(mounted!.url, 'POST', `/api/v1/${id}`, { json: { a: 'a' }, headers: { 'x-forwarded-for': from } })

describe('Operations that hash a password', () => {
  it('wait in their own queue, are 429 when it is full, and delay no other request', async () => {
    const hashing = held('hashing', { hashesPassword: true })
    const plain = held('plain')
    const [passwordQueue, anonymousQueue] = [
      new FairQueue({ maxInFlight: 1, maxWaitingPerTenant: 1 }),
      new FairQueue({ maxInFlight: 1, maxWaitingPerTenant: 1 }),
    ]
    mounted = await mountRoutes([hashing.route, plain.route], { passwordQueue, anonymousQueue, trustProxy: true })
    const first = [post('hashing', '192.0.2.1'), post('hashing', '192.0.2.1')]
    await expect.poll(() => passwordQueue.waiting).toBe(1)
    expectApiError(await post('hashing', '192.0.2.1'), 'rate_limited')
    const other = post('plain', '192.0.2.1')
    await expect.poll(plain.started).toBe(1)
    plain.end()
    expect((await other).status).toBe(200)
    await expect.poll(hashing.started).toBe(1)
    hashing.end()
    await expect.poll(hashing.started).toBe(1)
    hashing.end()
    for (const reply of await Promise.all(first)) expect(reply.status).toBe(200)
  })
})

describe('The queue of operations that hash a password', () => {
  it('runs 3 at a time, and 240 of one client address and 960 in total wait', async () => {
    const queue = new FairQueue(passwordQueueLimits)
    const add = (address: string, count: number): void => {
      for (let added = 0; added < count; added++) queue.acquire(address).catch(() => undefined)
    }
    const busy = { kind: 'rate_limited' }
    for (const address of ['a', 'b', 'c']) add(address, 1)
    expect([queue.inFlight, queue.waiting]).toEqual([3, 0])
    add('a', 240)
    expect(queue.waiting).toBe(240)
    await expect(queue.acquire('a')).rejects.toMatchObject(busy)
    for (const address of ['b', 'c', 'd']) add(address, 239)
    add('e', 3)
    expect([queue.inFlight, queue.waiting]).toEqual([3, 960])
    for (const address of ['b', 'e']) await expect(queue.acquire(address)).rejects.toMatchObject(busy)
    queue.close()
  })
})

describe('Anonymous requests', () => {
  it('start at once while authenticated requests hold every other slot', async () => {
    const plain = held('plain')
    const queue = new FairQueue({ maxInFlight: 1 })
    await queue.acquire(1)
    mounted = await mountRoutes([plain.route], { queue })
    const reply = post('plain', '192.0.2.1')
    await expect.poll(plain.started).toBe(1)
    plain.end()
    expect((await reply).status).toBe(200)
  })

  const settings = (anonymousQueue: FairQueue) => ({ anonymousQueue, trustProxy: true })

  it.each([
    ['an IPv4 address', '192.0.2.1', '192.0.2.1', '192.0.2.2'],
    ['the /64 network of an IPv6 address', '2001:db8:0:1::1', '2001:db8:0:1:ffff::2', '2001:db8:0:2::1'],
    ['an IPv4 address that is mapped into IPv6', '::ffff:192.0.2.1', '192.0.2.1', '::ffff:192.0.2.2'],
    ['an address whose port a proxy wrote behind it', '192.0.2.1:4711', '192.0.2.1:4712', '[2001:db8::1]:4711'],
  ])('share the capacity by %s', async (_what, one, same, another) => {
    const plain = held('plain')
    const queue = new FairQueue({ maxInFlight: 1, maxWaitingPerTenant: 1 })
    mounted = await mountRoutes([plain.route], settings(queue))
    const replies = [post('plain', one), post('plain', same)]
    await expect.poll(() => queue.waiting).toBe(1)
    expectApiError(await post('plain', one), 'rate_limited')
    replies.push(post('plain', another))
    await expect.poll(() => queue.waiting).toBe(2)
    for (let left = 3; left > 0; left--) {
      await expect.poll(plain.started).toBe(1)
      plain.end()
    }
    for (const reply of await Promise.all(replies)) expect(reply.status).toBe(200)
  })
})
