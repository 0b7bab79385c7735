import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { type Core, openCore } from '../../src/app/core.ts'
import { webhookNeeds } from '../../src/app/webhooks.ts'
import { readConfig } from '../../src/config/config.ts'
import { type Sql, render } from '../../src/db/sql.ts'
import { instantFromMillis } from '../../src/kernel/instant.ts'
import { createOrganization } from '../../src/organizations/commands.ts'
import { createWebhook } from '../../src/webhooks/commands.ts'
import { claimMoves, dropUndue } from '../../src/webhooks/outbox.sql.ts'
import { type TestDatabase, cloneDatabase } from '../support/database.ts'

const waiting = 20_000
const statements: Sql[] = []
let database: TestDatabase
let admin: postgres.Sql
let core: Core
let orgId: number

beforeAll(async () => {
  database = await cloneDatabase()
  admin = postgres(database.url, { max: 1, onnotice: () => undefined })
  const onStatement = (statement: Sql): void => void statements.push(statement)
  core = await openCore({ config: readConfig({ DATABASE_URL: database.url }), url: database.url, onStatement })
  orgId = (await createOrganization(core, 'Far behind')).orgId
  await createWebhook(webhookNeeds(core), orgId, { url: 'https://example.com/', isEnabled: true })
  await admin`
    with recorded as (
      insert into moves (org_id, delivery_id, asset_id, asset_external_key, asset_name, from_location_id,
        from_location_name, to_location_id, to_location_name, occurred_at, recorded_at)
      select ${orgId}, gen_random_uuid(), 1, 'A', 'A', 1, 'Place 1', 2, 'Place 2', now(), clock_timestamp()
      from generate_series(1, ${waiting})
      returning recorded_at, delivery_id
    )
    insert into due_moves (org_id, period, recorded_at, delivery_id)
    select w.org_id, w.period, r.recorded_at, r.delivery_id from recorded r, webhooks w where w.org_id = ${orgId}`
  await admin`analyze due_moves`
})
afterAll(async () => {
  await core.close()
  await admin.end({ timeout: 5 })
  await database.drop()
})

/** Rows of the list that each step of the last statement reads, planned for any values as a server does before long. */
async function rowsRead(): Promise<number[]> {
  const { text, values } = render(statements.at(-1)!)
  const lines = await admin.begin(async (tx) => {
    await tx.unsafe(`set local plan_cache_mode = force_generic_plan; set local app.org_id = '${orgId}'`)
    await tx.unsafe(`prepare asked as ${text}`)
    const given = values.map((value) => `'${String(value)}'`).join(', ')
    const plan = await tx.unsafe(`explain (analyze, timing off, costs off) execute asked(${given})`)
    await tx.unsafe('deallocate asked')
    return plan.map((row) => String(row['QUERY PLAN']))
  })
  return lines
    .map((line) => /Scan.* on due_moves.*actual rows=([\d.]+) loops=(\d+)/.exec(line))
    .flatMap((match) => (match === null ? [] : [Number(match[1]) * Number(match[2])]))
}

// Citus tells of the plans of its nodes in other words.
describe.skipIf(inject('isCitus'))('However much waits', () => {
  it('a claim reads what it takes', async () => {
    const claim = await claimMoves(core.db, orgId, { limit: 10, notBefore: instantFromMillis(0) })
    expect(claim?.claimed).toHaveLength(10)
    expect(await rowsRead()).toEqual([10, 10])
  })

  it('giving up what is late reads a thousand at a time', async () => {
    const notBefore = instantFromMillis(Date.now() + 60_000)
    const { late, isMore } = await core.db.inOrganization(orgId, (tx) => dropUndue(tx, orgId, notBefore))
    expect([late, isMore]).toEqual([1000, true])
    expect(await rowsRead()).toEqual([1000, 1000])
  })
})
