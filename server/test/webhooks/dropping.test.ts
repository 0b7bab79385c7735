import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { webhookDeps } from '../../src/app/webhooks.ts'
import { recordOperatorSighting } from '../../src/tracking/recording/record-operator-sighting.ts'
import { lapseOrganization, reinstateOrganization } from '../../src/webhooks/commands.ts'
import { startApp } from '../support/app.ts'
import type { WebhookReceiver } from '../support/webhook-receiver.ts'
import { TestClock, database, eventually, instant } from '../support/tracking.ts'
import { WebhookOrg, urlOf, useWebhookNetwork } from '../support/webhooks.ts'

const clock = new TestClock(new Date().toISOString())
const network = useWebhookNetwork({ clock, delivery: { retryDelaysMs: [2000, 2000], sweepMs: 3_600_000 } })

const idsAt = (receiver: WebhookReceiver): (string | undefined)[] =>
  receiver.received.map((one) => one.headers['x-service-delivery']).sort()

/** Waits until every earlier event was handled: a later move of another organization has arrived. */
async function waitUntilHandled(): Promise<void> {
  const receiver = await network.receiver()
  const other = await WebhookOrg.with(network.app, urlOf(receiver))
  await other.move()
  await eventually(async () => expect(receiver.received).toHaveLength(1))
  await sleep(500)
}

const metric = async (reason: string): Promise<number> => {
  const { text } = await network.app.anonymous('GET', '/metrics')
  const line = new RegExp(`^lastseen_webhook_events_dropped_total\\{reason="${reason}"\\} (\\d+)$`, 'm').exec(text)
  return Number(line?.[1] ?? 0)
}

describe('while the webhook is disabled', () => {
  it('moves are dropped, and after enabling it only new moves are sent (D42)', async () => {
    const receiver = await network.receiver()
    const webhookOrg = await WebhookOrg.with(network.app, urlOf(receiver))
    const first = await webhookOrg.move()
    await eventually(async () => expect(receiver.received).toHaveLength(1))
    await webhookOrg.change({ enabled: false })
    await webhookOrg.move(2)
    expect(await webhookOrg.outbox()).toEqual({ moves: 3, waiting: 0 })
    await webhookOrg.change({ enabled: true })
    const last = await webhookOrg.move()
    await eventually(async () => expect(receiver.received).toHaveLength(2))
    await waitUntilHandled()
    expect(idsAt(receiver)).toEqual([...first, ...last].sort())
  })

  it('missed events can be recovered by polling the asset-locations report', async () => {
    const webhookOrg = await WebhookOrg.with(network.app, 'https://hooks.test/')
    await webhookOrg.change({ enabled: false })
    const pallet = await webhookOrg.site.createAsset('Pallet')
    await webhookOrg.moveAssets([pallet], webhookOrg.locations[1])
    expect(await webhookOrg.site.assetLocations()).toEqual({ PALLET: ['HALL', new Date(clock.millis()).toISOString()] })
  })

  it('waiting events are dropped when it is disabled, and never sent', async () => {
    const receiver = await network.receiver()
    const webhookOrg = await WebhookOrg.with(network.app, urlOf(receiver))
    const before = await metric('switched_off')
    await stalled(webhookOrg, 3)
    await webhookOrg.change({ enabled: false })
    expect(await webhookOrg.outbox()).toEqual({ moves: 3, waiting: 0 })
    expect(await metric('switched_off')).toBe(before + 3)
    await webhookOrg.change({ enabled: true })
    await waitUntilHandled()
    expect(receiver.received).toEqual([])
  })

  it('an event between two attempts is not retried', async () => {
    const receiver = await network.receiver()
    receiver.behaviour = (response) => response.writeHead(500).end()
    const webhookOrg = await WebhookOrg.with(network.app, urlOf(receiver))
    await webhookOrg.move()
    await eventually(async () => expect(receiver.received).toHaveLength(1))
    await webhookOrg.change({ enabled: false })
    await webhookOrg.change({ enabled: true })
    await sleep(2600)
    expect(receiver.received).toHaveLength(1)
  })

  it('an update with the same values or another URL drops nothing', async () => {
    const [old, fresh] = [await network.receiver(), await network.receiver()]
    const webhookOrg = await WebhookOrg.with(network.app, urlOf(old))
    await stalled(webhookOrg, 2)
    await webhookOrg.change({ enabled: true })
    await webhookOrg.change({ url: urlOf(fresh) })
    expect(await webhookOrg.outbox()).toEqual({ moves: 2, waiting: 2 })
    await network.app.context.pubsub.publish('moved', String(webhookOrg.orgId))
    await eventually(async () => expect(fresh.received).toHaveLength(2))
    expect(old.received).toEqual([])
  })

  it('an event goes to the new URL at its next attempt', async () => {
    const [old, fresh] = [await network.receiver(), await network.receiver()]
    old.behaviour = (response) => response.writeHead(500).end()
    const webhookOrg = await WebhookOrg.with(network.app, urlOf(old))
    const ids = await webhookOrg.move()
    await eventually(async () => expect(old.received).toHaveLength(1))
    await webhookOrg.change({ url: urlOf(fresh) })
    await eventually(async () => expect(fresh.received).toHaveLength(1))
    expect(idsAt(fresh)).toEqual(ids)
  })

  it('a move that was being recorded during the change is never sent later', async () => {
    const receiver = await network.receiver()
    const webhookOrg = await WebhookOrg.with(network.app, urlOf(receiver))
    const asset = await webhookOrg.site.createAsset('In between')
    const [dock] = webhookOrg.locations
    const at = instant(new Date(clock.millis()).toISOString())
    await network.app.context.db.withTenant(webhookOrg.orgId, async (tx) => {
      expect(await recordOperatorSighting(tx, webhookOrg.orgId, dock.id, [asset.id], at)).toHaveLength(1)
      await webhookOrg.change({ enabled: false })
      await webhookOrg.change({ enabled: true })
    })
    const [late] = await webhookOrg.move()
    await eventually(async () => expect(idsAt(receiver)).toEqual([late]))
    await waitUntilHandled()
    expect(idsAt(receiver)).toEqual([late])
    expect(await webhookOrg.outbox()).toEqual({ moves: 2, waiting: 1 })
    await webhookOrg.change({ enabled: false })
    expect(await webhookOrg.outbox()).toEqual({ moves: 2, waiting: 0 })
  })
})

describe('an organization', () => {
  it('without a webhook has no waiting events', async () => {
    const webhookOrg = await WebhookOrg.open(network.app)
    await webhookOrg.move(2)
    expect(await webhookOrg.outbox()).toEqual({ moves: 2, waiting: 0 })
  })

  it('is sent nothing that was recorded before its webhook was registered', async () => {
    const receiver = await network.receiver()
    const webhookOrg = await WebhookOrg.open(network.app)
    await webhookOrg.move(2)
    await webhookOrg.register(urlOf(receiver))
    const ids = await webhookOrg.move()
    await eventually(async () => expect(idsAt(receiver)).toEqual(ids))
    await waitUntilHandled()
    expect(idsAt(receiver)).toEqual(ids)
  })

  it('that deletes its webhook drops waiting events, and a new webhook starts with new moves', async () => {
    const receiver = await network.receiver()
    const webhookOrg = await WebhookOrg.with(network.app, urlOf(receiver))
    await stalled(webhookOrg, 2)
    await webhookOrg.remove()
    await webhookOrg.move()
    expect(await webhookOrg.outbox()).toEqual({ moves: 3, waiting: 0 })
    await webhookOrg.register(urlOf(receiver))
    const ids = await webhookOrg.move()
    await eventually(async () => expect(idsAt(receiver)).toEqual(ids))
    await waitUntilHandled()
    expect(idsAt(receiver)).toEqual(ids)
  })

  it('that lapses is sent nothing, and once reinstated only new moves (D42)', async () => {
    const receiver = await network.receiver()
    const webhookOrg = await WebhookOrg.with(network.app, urlOf(receiver))
    const deps = webhookDeps(network.app.context)
    await stalled(webhookOrg, 2)
    await lapseOrganization(deps, webhookOrg.orgId)
    await webhookOrg.move()
    expect((await webhookOrg.site.api.get('/api/v1/assets')).status).toBe(200)
    expect(await webhookOrg.outbox()).toEqual({ moves: 3, waiting: 0 })
    await reinstateOrganization(deps, webhookOrg.orgId)
    const ids = await webhookOrg.move()
    await eventually(async () => expect(idsAt(receiver)).toEqual(ids))
    await waitUntilHandled()
    expect(idsAt(receiver)).toEqual(ids)
  })

  it('that lapsed is sent nothing when its webhook is enabled or created again, until it is reinstated', async () => {
    const receiver = await network.receiver()
    const webhookOrg = await WebhookOrg.with(network.app, urlOf(receiver))
    const deps = webhookDeps(network.app.context)
    await lapseOrganization(deps, webhookOrg.orgId)
    await webhookOrg.change({ enabled: false })
    await webhookOrg.change({ enabled: true })
    await webhookOrg.move()
    await webhookOrg.remove()
    await webhookOrg.register(urlOf(receiver))
    await webhookOrg.move()
    expect(await webhookOrg.outbox()).toEqual({ moves: 2, waiting: 0 })
    await reinstateOrganization(deps, webhookOrg.orgId)
    const ids = await webhookOrg.move()
    await eventually(async () => expect(idsAt(receiver)).toEqual(ids))
  })

  it('that is reinstated with a disabled webhook is sent nothing', async () => {
    const receiver = await network.receiver()
    const webhookOrg = await WebhookOrg.with(network.app, urlOf(receiver))
    const deps = webhookDeps(network.app.context)
    await webhookOrg.change({ enabled: false })
    await lapseOrganization(deps, webhookOrg.orgId)
    await reinstateOrganization(deps, webhookOrg.orgId)
    await webhookOrg.move()
    expect(await webhookOrg.outbox()).toEqual({ moves: 1, waiting: 0 })
  })
})

describe('a move that no process claimed', () => {
  it('for 10 minutes is dropped and counted, and an event that waited less is sent (D33)', async () => {
    const receiver = await network.receiver()
    const webhookOrg = await WebhookOrg.with(network.app, urlOf(receiver))
    const sql = database(network.app)
    const age = async (deliveries: string[], ageMs: number) => {
      const at = new Date(clock.millis() - ageMs).toISOString()
      await sql`update moves set recorded_at = ${at} where delivery_id = any(${deliveries})`
      await sql`update webhook_outbox set recorded_at = ${at} where delivery_id = any(${deliveries})`
    }
    const old = await stalled(webhookOrg, 2)
    const young = await stalled(webhookOrg, 1)
    await age(old, 600_001)
    await age(young, 595_000)
    const second = await startApp({ sharesDatabaseWith: network.app, clock, settings: network.settings })
    await eventually(async () => expect(await webhookOrg.outbox()).toEqual({ moves: 3, waiting: 0 }))
    await eventually(async () => expect(idsAt(receiver)).toEqual(young))
    const { text } = await second.anonymous('GET', '/metrics')
    expect(text).toContain('lastseen_webhook_events_dropped_total{reason="late"} 2\n')
    await second.stop()
  })
})

/** Moves that are recorded without an event, so that no process has found them yet. */
function stalled(webhookOrg: WebhookOrg, count: number): Promise<string[]> {
  return webhookOrg.move(count, { isPublished: false })
}
