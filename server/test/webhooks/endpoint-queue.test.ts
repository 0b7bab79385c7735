import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parseCidr } from '../../src/kernel/ip-range.ts'
import { now, systemClock } from '../../src/kernel/clock.ts'
import { instantFromMillis } from '../../src/kernel/instant.ts'
import { testMove } from '../../src/webhooks/payload.ts'
import { GuardedConnector } from '../../src/webhooks/ssrf-guard.ts'
import { EndpointQueue } from '../../src/webhooks/delivery/endpoint-queue.ts'
import { Authority } from '../support/certificates.ts'
import { WebhookReceiver, respondWith } from '../support/webhook-receiver.ts'
import { eventually } from '../support/tracking.ts'

const maxConcurrency = 16
const origin = { webhookId: 1, secret: `whsec_${Buffer.alloc(32, 7).toString('base64')}` }
let deliveries = 0

describe('the queue of an endpoint', () => {
  const authority = new Authority()
  let receiver: WebhookReceiver
  let queue: EndpointQueue
  let dropped: string[]

  beforeEach(async () => {
    receiver = await WebhookReceiver.open(authority.issue('IP:127.0.0.1'))
    dropped = []
    queue = open()
    queue.setTarget(url(), 1)
  })
  afterEach(async () => {
    await queue.close(0)
    await receiver.close()
  })
  afterAll(() => authority.remove())

  const url = (): string => `https://127.0.0.1:${receiver.port}/`

  function open(retryDelaysMs: number[] = []): EndpointQueue {
    const allowed = [parseCidr('127.0.0.1')!]
    const target = new GuardedConnector({ allowed, ca: authority.certificate, nameServers: [] })
    const limits = { timeoutMs: 20_000, retryDelaysMs, maxConcurrency }
    const onDropped = (reason: string): void => void dropped.push(reason)
    return new EndpointQueue({ clock: systemClock, target, ...limits, onAttempt: () => undefined, onDropped })
  }

  const deliver = (count: number, generation = 1): Promise<unknown> =>
    Promise.all(
      Array.from({ length: count }, () =>
        queue.deliver(
          { move: testMove(`delivery-${++deliveries}`, now(systemClock)), generation, traceparent: null },
          origin,
        ),
      ),
    )

  it('gains a slot with every success, up to the maximum', async () => {
    expect(queue.concurrency).toBe(4)
    await deliver(4)
    expect(queue.concurrency).toBe(8)
    await deliver(20)
    expect(queue.concurrency).toBe(maxConcurrency)
  })

  it('loses half of its slots with every failure, down to one [D33]', async () => {
    await deliver(12)
    receiver.behaviour = respondWith(500)
    const slots: number[] = []
    for (let failure = 0; failure < 6; failure++) {
      await deliver(1)
      slots.push(queue.concurrency)
    }
    expect(slots).toEqual([8, 4, 2, 1, 1, 1])
  })

  it('wants more events when half of its slots are free', async () => {
    const respond: (() => void)[] = []
    receiver.behaviour = (response) => void respond.push(() => response.writeHead(204).end())
    const three = deliver(3)
    expect([queue.inFlight, queue.claimable, queue.wantsMore]).toEqual([3, 1, false])
    await eventually(async () => expect(respond).toHaveLength(3))
    for (const one of respond) one()
    await three
    expect([queue.inFlight, queue.claimable, queue.wantsMore]).toEqual([0, 7, true])
  })

  it('takes twice as many events ahead when it has all its slots, and sends them when slots are free', async () => {
    await deliver(maxConcurrency)
    expect([queue.concurrency, queue.claimable]).toEqual([maxConcurrency, 3 * maxConcurrency])
    const respond: (() => void)[] = []
    receiver.behaviour = (response) => void respond.push(() => response.writeHead(204).end())
    const all = deliver(3 * maxConcurrency)
    expect([queue.inFlight, queue.claimable, queue.wantsMore]).toEqual([3 * maxConcurrency, 0, false])
    await eventually(async () => expect(respond).toHaveLength(maxConcurrency))
    for (const one of respond.splice(0)) one()
    await eventually(async () => expect(respond).toHaveLength(maxConcurrency))
    expect([queue.inFlight, queue.claimable]).toEqual([2 * maxConcurrency, maxConcurrency])
    for (const one of respond.splice(0)) one()
    await eventually(async () => expect(respond).toHaveLength(maxConcurrency))
    expect([queue.inFlight, queue.wantsMore]).toEqual([maxConcurrency, true])
    for (const one of respond) one()
    await all
  })

  it('drops an event that waited for a slot for more than ten minutes', async () => {
    const recorded = instantFromMillis(Date.now() - 11 * 60_000)
    await queue.deliver({ move: testMove('delivery-late', recorded), generation: 1, traceparent: null }, origin)
    expect([receiver.connections, dropped]).toEqual([0, ['late']])
  })

  it('starts no attempt while the webhook is reloaded, and sends to the URL that was read', async () => {
    const moved = await WebhookReceiver.open(authority.issue('IP:127.0.0.1'))
    let finish = (): void => undefined
    const reading = new Promise<void>((resolve) => (finish = resolve))
    const reload = queue.reload(async () => {
      await reading
      queue.setTarget(`https://127.0.0.1:${moved.port}/`, 1)
    })
    const delivered = deliver(2)
    await new Promise((resume) => setTimeout(resume, 100))
    expect(receiver.connections + moved.connections).toBe(0)
    finish()
    await Promise.all([reload, delivered])
    expect([receiver.received.length, moved.received.length]).toEqual([0, 2])
    await moved.close()
  })

  it('drops events of another generation without a request', async () => {
    await deliver(2, 2)
    expect([receiver.connections, dropped]).toEqual([0, ['switched_off', 'switched_off']])
  })

  it('drops events that wait for a retry when it is closed', async () => {
    queue = open([60_000])
    queue.setTarget(url(), 1)
    receiver.behaviour = respondWith(500)
    const delivered = deliver(3)
    await eventually(async () => expect(queue.concurrency).toBe(1))
    await queue.close(50)
    await delivered
    expect([receiver.received.length, dropped]).toEqual([3, ['stopped', 'stopped', 'stopped']])
  })
})
