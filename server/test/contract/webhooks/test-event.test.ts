import { describe, expect, it } from 'vitest'
import { deleteAttemptsBefore } from '../../../src/webhooks/attempts.sql.ts'
import { keepRetention } from '../../../src/jobs/retention.ts'
import { instantFromMillis } from '../../../src/kernel/instant.ts'
import { expectApiError } from '../../support/error-response.ts'
import { respondWith } from '../../support/webhook-receiver.ts'
import { database, eventually } from '../../support/tracking.ts'
import { WebhookOrg, urlOf, useWebhookNetwork } from '../../support/webhooks.ts'

const network = useWebhookNetwork({
  delivery: { retryDelaysMs: [50, 50] },
  singleServerReason: 'each process sends four test events of an organization at once',
})

const test = (webhookOrg: WebhookOrg) => webhookOrg.send('POST', `/${webhookOrg.webhookId}/test`)

describe('POST /api/v1/webhooks/{webhook_id}/test', () => {
  it('sends an asset.moved with fixed identifiers once and reports the status', async () => {
    const receiver = await network.receiver()
    const webhookOrg = await WebhookOrg.with(network.app, urlOf(receiver))
    for (const round of [1, 2]) {
      const reply = await test(webhookOrg)
      expect(reply.status).toBe(200)
      expect(reply.json).toEqual({ data: { status: 204, error: null, duration_ms: expect.any(Number) } })
      expect(receiver.received).toHaveLength(round)
    }
    const bodies = receiver.received.map((one) => JSON.parse(one.body.toString()))
    for (const [index, body] of bodies.entries())
      expect(body).toEqual({
        event: 'asset.moved',
        delivery_id: receiver.received[index]!.headers['x-service-delivery'],
        occurred_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        data: {
          asset: { id: 1, external_key: 'TEST-ASSET', name: 'Test asset' },
          from_location: { id: 2, name: 'Test origin' },
          to_location: { id: 3, name: 'Test destination' },
        },
      })
    expect(bodies[0].delivery_id).not.toBe(bodies[1].delivery_id)
    expect(await webhookOrg.outbox()).toEqual({ moves: 0, waiting: 0 })
  })

  it('reports a failure and does not retry', async () => {
    const receiver = await network.receiver()
    receiver.behaviour = respondWith(503)
    const webhookOrg = await WebhookOrg.with(network.app, urlOf(receiver))
    expect((await test(webhookOrg)).json.data).toMatchObject({ status: 503, error: null })
    await webhookOrg.change({ url: 'https://169.254.169.254/latest/meta-data' })
    const refused = 'the host resolves to an address that is not allowed'
    expect((await test(webhookOrg)).json.data).toMatchObject({ status: null, error: refused })
    expect(receiver.received).toHaveLength(1)
  })

  it('sends while the webhook is disabled', async () => {
    const receiver = await network.receiver()
    const webhookOrg = await WebhookOrg.with(network.app, urlOf(receiver))
    await webhookOrg.change({ enabled: false })
    expect((await test(webhookOrg)).json.data.status).toBe(204)
  })

  it('answers 429 while four tests are in flight', async () => {
    const receiver = await network.receiver()
    const held: (() => void)[] = []
    receiver.behaviour = (response) => held.push(() => response.writeHead(204).end())
    const webhookOrg = await WebhookOrg.with(network.app, urlOf(receiver))
    const running = [test(webhookOrg), test(webhookOrg), test(webhookOrg), test(webhookOrg)]
    await eventually(async () => expect(held).toHaveLength(4))
    expectApiError(await test(webhookOrg), 'rate_limited', { detail: 'Rate limit exceeded; retry after 5 seconds' })
    for (const answer of held) answer()
    for (const reply of await Promise.all(running)) expect(reply.json.data.status).toBe(204)
    receiver.behaviour = respondWith(200)
    expect((await test(webhookOrg)).json.data.status).toBe(200)
  })
})

describe('Test events of one webhook', () => {
  it('are limited to ten a minute', async () => {
    const receiver = await network.receiver()
    const [webhookOrg, other] = [
      await WebhookOrg.with(network.app, urlOf(receiver)),
      await WebhookOrg.with(network.app, urlOf(receiver)),
    ]
    for (let turn = 0; turn < 10; turn++) expect((await test(webhookOrg)).json.data.status).toBe(204)
    expectApiError(await test(webhookOrg), 'rate_limited')
    expect(receiver.received).toHaveLength(10)
    expect((await test(other)).json.data.status).toBe(204)
  })
})

describe('GET /api/v1/webhooks/{webhook_id}/attempts', () => {
  it('lists tests and deliveries, the latest first, with exactly these fields', async () => {
    const receiver = await network.receiver()
    receiver.behaviour = (response, _received, number) => response.writeHead(number === 1 ? 500 : 200).end()
    const webhookOrg = await WebhookOrg.with(network.app, urlOf(receiver))
    const [id] = await webhookOrg.move()
    await eventually(async () => expect(await webhookOrg.attempts()).toHaveLength(2))
    await test(webhookOrg)
    const reply = await webhookOrg.send('GET', `/${webhookOrg.webhookId}/attempts`)
    const instant = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    const common = { attempted_at: instant, error: null, duration_ms: expect.any(Number) }
    expect(reply.json).toEqual({
      data: [
        { ...common, delivery_id: expect.any(String), event: 'test', attempt: 1, status: 200 },
        { ...common, delivery_id: id, event: 'asset.moved', attempt: 2, status: 200 },
        { ...common, delivery_id: id, event: 'asset.moved', attempt: 1, status: 500 },
      ],
      limit: 50,
      offset: 0,
      total_count: 3,
    })
    const second = await webhookOrg.send('GET', `/${webhookOrg.webhookId}/attempts`, { query: 'limit=1&offset=1' })
    expect(second.json).toEqual({ data: [reply.json.data[1]], limit: 1, offset: 1, total_count: 3 })
    const beyond = await webhookOrg.send('GET', `/${webhookOrg.webhookId}/attempts`, { query: 'offset=9' })
    expect(beyond.json).toEqual({ data: [], limit: 50, offset: 9, total_count: 3 })
  })

  it('covers seven days, and older attempts are deleted', async () => {
    const webhookOrg = await WebhookOrg.with(network.app, 'https://hooks.test/')
    const days = 86_400_000
    for (const [index, age] of [1, 6.99, 7.01, 30].entries())
      await database(network.app)`
        insert into webhook_attempts (org_id, attempted_at, delivery_id, attempt, webhook_id, event, status, duration_ms)
        values (${webhookOrg.orgId}, ${new Date(Date.now() - age * days).toISOString()},
          ${`00000000-0000-4000-8000-00000000000${index}`}, 1, ${webhookOrg.webhookId}, 'asset.moved', 200, 5)`
    expect(await webhookOrg.attempts()).toHaveLength(2)
    const { context } = network.app
    const twentyDays = instantFromMillis(Date.now() - 20 * days)
    const more = await context.db.withTenant(webhookOrg.orgId, (tx) =>
      deleteAttemptsBefore(tx, webhookOrg.orgId, twentyDays),
    )
    expect(more).toBe(false)
    const left = () => database(network.app)`select from webhook_attempts where org_id = ${webhookOrg.orgId}`
    expect(await left()).toHaveLength(3)
    await keepRetention(context, network.app.databaseUrl)
    expect(await left()).toHaveLength(2)
  })

  it('shows no attempts of a former webhook', async () => {
    const receiver = await network.receiver()
    const webhookOrg = await WebhookOrg.with(network.app, urlOf(receiver))
    await test(webhookOrg)
    expect(await webhookOrg.attempts()).toHaveLength(1)
    await webhookOrg.remove()
    await webhookOrg.register(urlOf(receiver))
    expect(await webhookOrg.attempts()).toEqual([])
  })
})
