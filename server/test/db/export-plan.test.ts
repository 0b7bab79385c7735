import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { type AppContext, openAppContext } from '../../src/app/context.ts'
import { assetRows } from '../../src/bulk/exports.ts'
import { readConfig } from '../../src/config/config.ts'
import { inSnapshot } from '../../src/db/snapshot.ts'
import { sql } from '../../src/db/sql.ts'
import { createOrganization } from '../../src/organizations/commands.ts'
import { insertAssets } from '../support/insert-assets.ts'
import { type TestDatabase, cloneDatabase } from '../support/database.ts'

const assets = 100_000
const batches = 20
let database: TestDatabase
let admin: postgres.Sql
let context: AppContext
let orgId: number

beforeAll(async () => {
  database = await cloneDatabase()
  admin = postgres(database.url, { max: 1, onnotice: () => undefined })
  context = await openAppContext({ config: readConfig({ DATABASE_URL: database.url }), url: database.url })
  orgId = (await createOrganization(context, 'Largest')).orgId
  await insertAssets(admin, admin`${orgId}::bigint`, assets)
  await admin`vacuum analyze assets, tags`
})
afterAll(async () => {
  await context.close()
  await admin.end({ timeout: 5 })
  await database.drop()
})

async function tagsRead(): Promise<number> {
  await admin`select pg_stat_force_next_flush()`
  const [row] = await admin`
    select (seq_tup_read + coalesce(idx_tup_fetch, 0))::int as reads from pg_stat_user_tables where relname = 'tags'`
  return row!['reads'] as number
}

// On Citus every statement is planned again.
describe.skipIf(inject('isCitus'))('An export of a large organization', () => {
  it('reads only the tags of each batch', async () => {
    const before = await tagsRead()
    let exported = 0
    const some = inSnapshot(context.db, orgId, async function* (tx) {
      let count = 0
      for await (const rows of assetRows(tx, orgId)) {
        yield rows
        if (++count === batches) break
      }
      await tx.query(sql`select pg_stat_force_next_flush()`)
    })
    for await (const rows of some) exported += rows.length
    await expect.poll(async () => (await tagsRead()) - before).toBeGreaterThanOrEqual(exported)
    // Twice: for the size of the batch, and for its rows.
    expect((await tagsRead()) - before).toBeLessThanOrEqual(2 * exported)
  })
})
