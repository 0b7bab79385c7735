import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { type AppContext, openAppContext } from '../../src/app/context.ts'
import { webhookDeps } from '../../src/app/webhooks.ts'
import { readConfig } from '../../src/config/config.ts'
import { instantFromMillis } from '../../src/kernel/instant.ts'
import { createOrganization } from '../../src/organizations/commands.ts'
import { createWebhook } from '../../src/webhooks/commands.ts'
import { claimMoves, deleteExpired } from '../../src/webhooks/outbox.sql.ts'
import { type TestDatabase, cloneDatabase } from '../support/database.ts'
import { countRowsRead } from '../support/count-rows-read.ts'

const waiting = 20_000
/** Each reads only a few index entries in addition to its rows. */
const fewSteps = 50
let database: TestDatabase
let admin: postgres.Sql
let context: AppContext
let orgId: number

beforeAll(async () => {
  database = await cloneDatabase()
  admin = postgres(database.url, { max: 1, onnotice: () => undefined })
  context = await openAppContext({ config: readConfig({ DATABASE_URL: database.url }), url: database.url })
  orgId = (await createOrganization(context, 'Far behind')).orgId
  await createWebhook(webhookDeps(context), orgId, { url: 'https://example.com/', isEnabled: true })
  // The database now plans for empty tables.
  for (let times = 0; times < 10; times++) {
    expect(await claimTen()).toBeNull()
    expect(await dropLate()).toMatchObject({ late: 0 })
  }
  await admin`
    with recorded as (
      insert into moves (org_id, delivery_id, asset_id, asset_external_key, asset_name, from_location_id,
        from_location_name, to_location_id, to_location_name, occurred_at, recorded_at)
      select ${orgId}, gen_random_uuid(), 1, 'A', 'A', 1, 'Location 1', 2, 'Location 2', now(), clock_timestamp()
      from generate_series(1, ${waiting})
      returning recorded_at, delivery_id
    )
    insert into webhook_outbox (org_id, generation, recorded_at, delivery_id)
    select w.org_id, w.generation, r.recorded_at, r.delivery_id from recorded r, webhooks w where w.org_id = ${orgId}`
})
afterAll(async () => {
  await context.close()
  await admin.end({ timeout: 5 })
  await database.drop()
})

const claimTen = () => claimMoves(context.db, orgId, { limit: 10, notBefore: instantFromMillis(0) })
const dropLate = () => {
  const notBefore = instantFromMillis(Date.now() + 60_000)
  return context.db.withTenant(orgId, (tx) => deleteExpired(tx, orgId, notBefore))
}

const reads = (work: () => Promise<unknown>) =>
  countRowsRead({ admin, db: context.db, orgId }, ['webhook_outbox', 'moves'], work)

// On Citus the rows are read on other nodes, and every statement is planned again.
describe.skipIf(inject('isCitus'))('With any number of waiting events', () => {
  it('a claim reads only the rows it claims', async () => {
    const read = await reads(async () => expect((await claimTen())?.claimed).toHaveLength(10))
    expect(read).toBeGreaterThanOrEqual(10)
    expect(read).toBeLessThan(10 + fewSteps)
  })

  it('expiring events reads a thousand rows at a time', async () => {
    const read = await reads(async () => expect(await dropLate()).toMatchObject({ late: 1000, isMore: true }))
    expect(read).toBeGreaterThanOrEqual(1000)
    expect(read).toBeLessThan(1000 + fewSteps)
  })
})
