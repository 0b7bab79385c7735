import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { type AppContext, openAppContext } from '../../src/app/context.ts'
import { webhookDeps } from '../../src/app/webhooks.ts'
import { createAsset } from '../../src/assets/commands.ts'
import { readConfig } from '../../src/config/config.ts'
import { now } from '../../src/kernel/clock.ts'
import { createLocation } from '../../src/locations/commands.ts'
import { createOrganization } from '../../src/organizations/commands.ts'
import { recordOperatorSighting } from '../../src/tracking/recording/record-operator-sighting.ts'
import { createWebhook } from '../../src/webhooks/commands.ts'
import { type TestDatabase, cloneDatabase } from '../support/database.ts'
import { serve, usePrograms } from '../support/process.ts'
import { type WebhookReceiver } from '../support/webhook-receiver.ts'
import { isFull } from '../support/rounds.ts'
import { eventually } from '../support/tracking.ts'
import { WebhookNetwork, urlOf } from '../support/webhooks.ts'

/** Every round kills all processes. */
const rounds = isFull ? 7 : 1
const processes = isFull ? 4 : 3

// Counted by a trigger, which Citus does not support.
describe.skipIf(inject('isCitus'))('when servers are killed while they deliver', () => {
  usePrograms()
  const network = new WebhookNetwork()
  let database: TestDatabase
  let sql: postgres.Sql
  let context: AppContext
  let receiver: WebhookReceiver
  let orgId: number

  beforeAll(async () => {
    await network.prepare()
    database = await cloneDatabase()
    sql = postgres(database.url, { max: 2, onnotice: () => undefined })
    // Every claim inserts a row that the service cannot overwrite.
    await sql.unsafe(`
      create table claims (delivery_id uuid not null);
      create function mark_claim() returns trigger language plpgsql security definer as $$
        begin insert into claims values (old.delivery_id); return null; end $$;
      create trigger mark_claim after delete on webhook_outbox for each row execute function mark_claim();`)
    context = await openAppContext({ config: readConfig({ DATABASE_URL: database.url }), url: database.url })
    receiver = await network.receiver()
    receiver.behaviour = (response) => setTimeout(() => response.writeHead(204).end(), 30)
    orgId = (await createOrganization(context, 'Crashing')).orgId
    await createWebhook(webhookDeps(context), orgId, { url: urlOf(receiver), isEnabled: true })
  })
  afterAll(async () => {
    await context.close()
    await sql.end({ timeout: 5 })
    await database.drop()
    await network.stop()
  })

  it('no move is claimed twice or sent under two delivery ids, through every crash (D33)', async () => {
    const draft = { description: null, isActive: true, validTo: null, tags: [] }
    const dock = await createLocation(context, orgId, { ...draft, name: 'Dock', parent: {} })
    const hall = await createLocation(context, orgId, { ...draft, name: 'Hall', parent: {} })
    let turn = 0
    const assets: number[] = []
    for (let index = 0; index < 20; index++)
      assets.push((await createAsset(context, orgId, { ...draft, name: `Thing ${index}`, metadata: {} })).id)
    const recorded = new Map<string, string>()
    /** The pair of asset and instant identifies a move, whatever its delivery id. */
    const record = async (): Promise<void> => {
      const at = now(context.clock)
      const location = turn++ % 2 === 0 ? dock : hall
      const made = await context.db.withTenant(orgId, (tx) =>
        recordOperatorSighting(tx, orgId, location.id, assets, at),
      )
      for (const move of made) recorded.set(`${move.assetId} ${move.occurredAt.slice(0, 23)}Z`, move.deliveryId)
      await context.pubsub.publish('moved', String(orgId))
    }

    let isOver = false
    const recording = (async () => {
      while (!isOver) {
        await record()
        await sleep(60)
      }
    })()
    const settings = { ...network.settings, DATABASE_URL: database.url, LASTSEEN_LOG_LEVEL: 'silent' }
    const start = () => Promise.all(Array.from({ length: processes }, () => serve(settings)))
    let crashes = 0
    for (let round = 0; round < rounds; round++) {
      const running = await start()
      const before = receiver.received.length
      while (receiver.received.length < before + 10) await sleep(5)
      await sleep(Math.random() * 100)
      for (const { signal } of await Promise.all(running.map(({ program }) => program.stop('SIGKILL'))))
        if (signal === 'SIGKILL') crashes++
    }
    isOver = true
    await recording
    await start()
    await record()
    const waiting = async () => Number((await sql`select count(*) from webhook_outbox`)[0]!['count'])
    await eventually(async () => expect(await waiting()).toBe(0), 60_000)
    await sleep(500)

    expect(crashes).toBe(rounds * processes)
    const claims = await sql<{ delivery_id: string }[]>`select delivery_id from claims`
    expect(new Set(claims.map((row) => row.delivery_id)).size).toBe(claims.length)
    expect(claims).toHaveLength(recorded.size)
    const sent = receiver.received.map((one) => JSON.parse(one.body.toString()))
    expect(sent.length).toBeGreaterThan(rounds * 10)
    expect(new Set(sent.map((body) => body.delivery_id)).size).toBe(sent.length)
    for (const body of sent) expect(recorded.get(`${body.data.asset.id} ${body.occurred_at}`)).toBe(body.delivery_id)
  }, 300_000)
})
