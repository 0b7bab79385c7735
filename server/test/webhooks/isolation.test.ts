import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startApp } from '../support/app.ts'
import type { Behaviour } from '../support/webhook-receiver.ts'
import { database, eventually } from '../support/tracking.ts'
import { WebhookNetwork, WebhookOrg, urlOf, useWebhookNetwork } from '../support/webhooks.ts'

describe('an endpoint that hangs', () => {
  const network = useWebhookNetwork({ delivery: { maxConcurrency: 8, maxInFlight: 12 } })

  it('gets fewer and fewer slots, and delays neither other organizations nor the API (D33)', async () => {
    const dead = await network.receiver()
    dead.behaviour = () => undefined
    const silent: WebhookOrg[] = []
    for (let index = 0; index < 6; index++) silent.push(await WebhookOrg.with(network.app, urlOf(dead, `/${index}`)))
    for (const one of silent) await one.move(6)
    // More events than the process may hold are now waiting for these endpoints.
    await eventually(async () => expect(dead.received.length).toBeGreaterThanOrEqual(12))
    expect(dead.received.length).toBeLessThanOrEqual(12 + silent.length)

    const good = await network.receiver()
    const lively = await WebhookOrg.with(network.app, urlOf(good))
    const delays: number[] = []
    for (let index = 0; index < 10; index++) {
      await lively.move()
      const startedAt = performance.now()
      await eventually(async () => expect(good.received).toHaveLength(index + 1))
      delays.push(performance.now() - startedAt)
    }
    expect(delays.sort((a, b) => a - b)[5]).toBeLessThan(3000)
    expect((await lively.site.api.get('/api/v1/assets')).status).toBe(200)
  })
})

describe('slots of the process that are freed', () => {
  const network = useWebhookNetwork({ delivery: { maxInFlight: 4, sweepMs: 3_600_000 } })

  it('go to an organization that found none free, also while its own delivery hangs', async () => {
    const responses: (() => void)[] = []
    const [first, second] = [await network.receiver(), await network.receiver()]
    first.behaviour = (response) => void responses.push(() => response.writeHead(204).end())
    second.behaviour = () => undefined
    const busy = await WebhookOrg.with(network.app, urlOf(first))
    const waiting = await WebhookOrg.with(network.app, urlOf(second))
    await busy.move(4)
    await eventually(async () => expect(first.received).toHaveLength(4))
    await waiting.move(4)
    await eventually(async () => expect(second.received).toHaveLength(1))
    await eventually(async () => expect(await waiting.outbox()).toEqual({ moves: 4, waiting: 3 }))
    for (const respond of responses) respond()
    await eventually(async () => expect(second.received).toHaveLength(4))
  })
})

describe('an endpoint', () => {
  const network = useWebhookNetwork({ delivery: { maxConcurrency: 6 } })

  it('gets no more concurrent requests than it has slots', async () => {
    const receiver = await network.receiver()
    let [running, most] = [0, 0]
    receiver.behaviour = (response) => {
      most = Math.max(most, ++running)
      setTimeout(() => {
        running--
        response.writeHead(204).end()
      }, 40)
    }
    const webhookOrg = await WebhookOrg.with(network.app, urlOf(receiver))
    await webhookOrg.move(60)
    await eventually(async () => expect(receiver.received).toHaveLength(60), 20_000)
    expect(most).toBeGreaterThan(1)
    expect(most).toBeLessThanOrEqual(6)
    expect(receiver.connections).toBeLessThanOrEqual(6)
  })

  it('that was down gets its waiting events when it is back', async () => {
    const receiver = await network.receiver()
    let isBack = false
    receiver.behaviour = (response) => response.writeHead(isBack ? 204 : 503).end()
    const webhookOrg = await WebhookOrg.with(network.app, urlOf(receiver))
    const ids = await webhookOrg.move(12)
    await eventually(async () => expect(receiver.received.length).toBeGreaterThan(5))
    isBack = true
    await eventually(async () => {
      const arrived = new Set(receiver.received.map((one) => one.headers['x-service-delivery']))
      expect([...arrived].sort()).toEqual(ids.sort())
    }, 20_000)
  })
})

describe('two processes', () => {
  const network = new WebhookNetwork()
  const delivery = { retryDelaysMs: [2500, 2500] }
  let second: Awaited<ReturnType<typeof startApp>>
  beforeAll(async () => {
    await network.start({ delivery })
    second = await startApp({ sharesDatabaseWith: network.app, settings: network.settings, delivery })
  })
  afterAll(async () => {
    await second.stop()
    await network.stop()
  })

  it('share the work, and every move is claimed and sent once', async () => {
    const receiver = await network.receiver()
    receiver.behaviour = (response) => setTimeout(() => response.writeHead(204).end(), 20)
    const webhookOrg = await WebhookOrg.with(network.app, urlOf(receiver))
    const ids = (await Promise.all([webhookOrg.move(60), webhookOrg.move(60)])).flat()
    await eventually(async () => expect(receiver.received.length).toBeGreaterThanOrEqual(120), 20_000)
    await sleep(300)
    expect(receiver.received.map((one) => one.headers['x-service-delivery']).sort()).toEqual(ids.sort())
    expect(await webhookOrg.outbox()).toEqual({ moves: 120, waiting: 0 })
  })

  it('both stop sending when one of them disables the webhook', async () => {
    const receiver = await network.receiver()
    receiver.behaviour = (response) => response.writeHead(500).end()
    const webhookOrg = await WebhookOrg.with(network.app, urlOf(receiver))
    await webhookOrg.move(6)
    await eventually(async () => expect(receiver.received.length).toBeGreaterThanOrEqual(2))
    await webhookOrg.change({ enabled: false })
    await sleep(1000)
    const before = receiver.received.length
    await sleep(2500)
    expect(receiver.received).toHaveLength(before)
  })
})

describe('a process that stops', () => {
  const network = new WebhookNetwork()
  beforeAll(() => network.start({ delivery: { sweepMs: 3_600_000 } }))
  afterAll(() => network.stop())

  /** A move that only the second process, which finds it when it starts, delivers. */
  async function deliveredBySecond(answer: Behaviour) {
    const receiver = await network.receiver()
    receiver.behaviour = answer
    const webhookOrg = await WebhookOrg.with(network.app, urlOf(receiver))
    const [id] = await webhookOrg.move(1, { isPublished: false })
    const second = await startApp({ sharesDatabaseWith: network.app, settings: network.settings })
    await eventually(async () => expect(receiver.received).toHaveLength(1))
    return { receiver, webhookOrg, second, id: id! }
  }

  const attemptsOf = async (id: string) => [
    ...(await database(network.app)`select status, error from webhook_attempts where delivery_id = ${id}`),
  ]

  it('completes the attempts in flight, claims nothing more, and records every attempt', async () => {
    const answer: Behaviour = (response) => setTimeout(() => response.writeHead(204).end(), 500)
    const { receiver, webhookOrg, second, id } = await deliveredBySecond(answer)
    const stopped = second.stop()
    await webhookOrg.move(1, { isPublished: false })
    await stopped
    expect(await attemptsOf(id)).toEqual([{ status: 204, error: null }])
    expect(receiver.received).toHaveLength(1)
    expect(await webhookOrg.outbox()).toEqual({ moves: 2, waiting: 1 })
  })

  it('does not wait for an endpoint that hangs', async () => {
    const { receiver, second, id } = await deliveredBySecond(() => undefined)
    const startedAt = performance.now()
    await second.stop()
    expect(performance.now() - startedAt).toBeLessThan(4000)
    expect(await attemptsOf(id)).toEqual([{ status: null, error: 'the server was stopped' }])
    expect(receiver.received).toHaveLength(1)
  })
})
