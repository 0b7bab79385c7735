import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { assetRepository, listAssets } from '../../src/assets/assets.sql.ts'
import { type AppContext, openAppContext } from '../../src/app/context.ts'
import { readConfig } from '../../src/config/config.ts'
import { type Connection, createDatabase } from '../../src/db/create-database.ts'
import { withGenericPlan } from '../../src/db/plan-cache.ts'
import { type Sql, render, sql } from '../../src/db/sql.ts'
import { instantFromMillis } from '../../src/kernel/instant.ts'
import { createLocation } from '../../src/locations/commands.ts'
import { createOrganization } from '../../src/organizations/commands.ts'
import { recordReads } from '../../src/tracking/recording/record-reads.ts'
import { createReader } from '../../src/readers/commands.ts'
import { assetLocations } from '../../src/tracking/report/report.sql.ts'
import { type TestDatabase, cloneDatabase } from '../support/database.ts'
import { insertAssets } from '../support/insert-assets.ts'
import { countRowsRead } from '../support/count-rows-read.ts'

const assets = 20_000
/** Organizations with one asset each. */
const others = 5_000
const statements: Sql[] = []
let database: TestDatabase
let admin: postgres.Sql
let context: AppContext
let db: Connection
let orgId: number
let readerId: number

beforeAll(async () => {
  database = await cloneDatabase()
  admin = postgres(database.url, { max: 1, onnotice: () => undefined })
  context = await openAppContext({ config: readConfig({ DATABASE_URL: database.url }), url: database.url })
  orgId = (await createOrganization(context, 'Largest')).orgId
  await admin`insert into organizations (org_id, created_at) select n, now() from generate_series(1, ${others}) n`
  for (const [owner, count] of [
    [admin`${orgId}::bigint`, assets],
    [admin`n`, others],
  ] as const) {
    await insertAssets(admin, owner, count)
    await admin`
      insert into asset_positions (org_id, asset_id, last_seen_at, last_minute)
      select ${owner}, n, now() - interval '1 day', date_trunc('minute', now() - interval '1 day')
      from generate_series(1, ${count}) n`
    await admin`
      insert into locations (org_id, id, external_key, name, is_active, valid_from, created_at, updated_at, search_text)
      select ${owner}, n, 'K' || n, 'N' || n, true, now(), now(), now(), 'k' || n from generate_series(1, ${count}) n`
  }
  const scanPoints: { antenna: number; locationId: number }[] = []
  for (const antenna of [1, 2]) {
    const draft = {
      name: `Location ${antenna}`,
      description: null,
      isActive: true,
      validTo: null,
      tags: [],
      parent: {},
    }
    scanPoints.push({ antenna, locationId: (await createLocation(context, orgId, draft)).id })
  }
  const reader = { name: 'Gate', format: 'auto', clock: 'reader', smoothing: null, scanPoints }
  readerId = (await createReader(context, orgId, reader)).reader.id
  await admin`analyze`
  db = createDatabase({ url: database.url, poolSize: 1, onStatement: (statement) => void statements.push(statement) })
})
afterAll(async () => {
  await db.close()
  await context.close()
  await admin.end({ timeout: 5 })
  await database.drop()
})

/** Reads the first tags at one of the antennas in a minute. */
function pass(count: number, antenna: number, minute: number): Promise<{ moves: number }> {
  const observedAt = instantFromMillis(Date.now() - 3_600_000 + minute * 60_000)
  const reads = Array.from({ length: count }, (_, index) => ({
    ...{
      identities: [{ type: 'barcode' as const, value: `T${index + 1}` }],
      readerId,
      antenna,
      rssiDbm: null,
      observedAt,
    },
  }))
  return recordReads({ db, clock: context.clock }, orgId, reads)
}

const page = { limit: 50, offset: 0 }
const list = (of: number, externalKeys?: string[]) =>
  listAssets(db.read, of, {
    ...page,
    filter: externalKeys === undefined ? {} : { externalKeys },
    sort: [{ field: 'external_key', descending: false }],
    now: instantFromMillis(Date.now() + 60_000),
  })
const report = (of: number, assetIds?: number[]) =>
  assetLocations(db.read, of, {
    ...page,
    sort: [{ field: 'asset_last_seen', descending: true }],
    now: instantFromMillis(Date.now() + 60_000),
    ...(assetIds === undefined ? {} : { assetIds }),
  })

// On Citus the rows are read on other nodes, and every statement is planned for its organization.
describe.skipIf(inject('isCitus'))('A large organization among many small ones', () => {
  it.each(['assets', 'tags', 'locations', 'asset_positions'])(
    'reads no more %s for a batch than the batch concerns',
    async (table) => {
      await pass(20, 1, 0)
      for (const [index, count] of [1, 20, 200].entries()) {
        const read = await countRowsRead({ admin, db, orgId }, [table], () => pass(count, 2 - (index % 2), index + 1))
        expect(read, `${table} for ${count}`).toBeLessThanOrEqual(4 * count)
      }
    },
  )

  // A page of assets, of their tags, and of where they are.
  it.each<[string, (of: number) => Promise<unknown>, number]>([
    ['one asset', (of) => assetRepository.load(db.read, of, 7), 20],
    ['a page', (of) => list(of), 3 * page.limit],
    ['assets by their keys', (of) => list(of, ['K7']), 20],
    ['the first page of the report', (of) => report(of), 3 * page.limit],
    ['the report of one asset', (of) => report(of, [7]), 20],
  ])('reads as few rows for %s, without replanning', async (_what, ask, most) => {
    for (const of of [orgId, 7]) {
      statements.length = 0
      for (let times = 0; times < 8; times++) await ask(of)
      const { text } = render(statements.at(-1)!)
      const [plans] = await db.read.query<{ custom_plans: number }>(
        withGenericPlan(sql`select custom_plans from pg_prepared_statements where statement = ${text}`),
      )
      expect(plans).toEqual({ custom_plans: 0 })
      expect(
        await countRowsRead({ admin, db, orgId }, ['assets', 'tags', 'asset_positions'], () => ask(of)),
      ).toBeLessThan(most)
    }
  })
})
