import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { listAssets, listAssetsWithLocation } from '../../src/assets/assets.sql.ts'
import { type AppContext, openAppContext } from '../../src/app/context.ts'
import { readConfig } from '../../src/config/config.ts'
import { type Connection, createDatabase } from '../../src/db/create-database.ts'
import { type Sql, render, sql } from '../../src/db/sql.ts'
import { instantFromMillis } from '../../src/kernel/instant.ts'
import type { ListRequest } from '../../src/records/list.sql.ts'
import { createOrganization } from '../../src/organizations/commands.ts'
import { assetHistory } from '../../src/tracking/history/history.sql.ts'
import { type TestDatabase, cloneDatabase } from '../support/database.ts'
import { insertAssets } from '../support/insert-assets.ts'

const assets = 5_000
const statements: Sql[] = []
let database: TestDatabase
let admin: postgres.Sql
let context: AppContext
let db: Connection
let orgId: number

beforeAll(async () => {
  database = await cloneDatabase()
  admin = postgres(database.url, { max: 1, onnotice: () => undefined })
  context = await openAppContext({ config: readConfig({ DATABASE_URL: database.url }), url: database.url })
  orgId = (await createOrganization(context, 'Well planned')).orgId
  await insertAssets(admin, admin`${orgId}::bigint`, assets)
  await admin`
    insert into asset_positions (org_id, asset_id, last_seen_at, last_minute, minutes)
    select ${orgId}, n, now(), date_trunc('minute', now()), 40 from generate_series(1, ${assets}) n`
  // Asset 1 was seen in four thousand minutes, the others in forty each.
  await admin`
    insert into asset_minutes (org_id, asset_id, minute, observed_at, source)
    select ${orgId}, n, at.minute, at.minute, 'reader' from generate_series(1, 1000) n
    cross join generate_series(1, case when n = 1 then 4000 else 40 end) k,
    lateral (select date_trunc('minute', now()) - make_interval(mins => k) as minute) at`
  await admin`analyze`
  db = createDatabase({ url: database.url, poolSize: 1, onStatement: (statement) => void statements.push(statement) })
})
afterAll(async () => {
  await db.close()
  await context.close()
  await admin.end({ timeout: 5 })
  await database.drop()
})

const page = { limit: 50, offset: 0 }
const byKey: ListRequest['sort'] = [{ field: 'external_key', descending: false }]
const ofFilter = (filter: ListRequest['filter']): ListRequest => ({
  ...page,
  filter,
  sort: byKey,
  now: instantFromMillis(Date.now() + 60_000),
})
const list = (filter: ListRequest['filter']) => listAssets(db.read, orgId, ofFilter(filter))

// Citus plans every statement for its values, which determine the shard.
describe.skipIf(inject('isCitus'))('PostgreSQL plans once', () => {
  it('the statements of a transaction, from the first execution', async () => {
    const setting = sql`select current_setting('plan_cache_mode') as mode`
    const expected = [{ mode: 'force_generic_plan' }]
    expect(await db.withTenant(orgId, (tx) => tx.query(setting))).toEqual(expected)
    expect(await db.withTenantPipelined(orgId, (tx) => tx.query(setting))).toEqual(expected)
  })

  it('a page so that it reads the tags of its own records and no others', async () => {
    await list({})
    const nodes = nodesOf(await planOfLast())
    const whole = nodes.filter((node) => node['Node Type'] === 'Seq Scan' && node['Relation Name'] === 'tags')
    expect(whole).toEqual([])
  })

  it.each<ListRequest['sort'][number]>([
    { field: 'external_key', descending: true },
    { field: 'name', descending: false },
    { field: 'created_at', descending: true },
    { field: 'updated_at', descending: false },
  ])('a page in the order of one field so that it reads no other records: $field', async (term) => {
    await listAssets(db.read, orgId, { ...ofFilter({}), sort: [term] })
    const nodes = nodesOf(await planOfLast())
    expect(Math.max(...nodes.map((node) => node['Actual Rows']))).toBe(page.limit)
  })

  it('a page with deleted records in the order of the key so that it reads no other records', async () => {
    await admin`update assets set deleted_at = now() where org_id = ${orgId} and id % 2 = 0`
    await list({ includeDeleted: true })
    const nodes = nodesOf(await planOfLast())
    await admin`update assets set deleted_at = null where org_id = ${orgId}`
    expect(Math.max(...nodes.map((node) => node['Actual Rows']))).toBe(page.limit)
  })

  it.each([1, 37, 50])('a page of %i assets so that it looks up the position of each', async (limit) => {
    await listAssetsWithLocation(db.read, orgId, { ...ofFilter({}), limit }, {})
    const nodes = nodesOf(await planOfLast())
    const positions = nodes.filter((node) => node['Relation Name'] === 'asset_positions')
    expect(positions.map((node) => node['Node Type'])).toEqual([expect.stringContaining('Index')])
  })

  it('a page of history so that it reads no more of an asset that was seen far more often than others', async () => {
    await assetHistory(db.read, orgId, 1, { ...page, descending: true })
    const nodes = nodesOf(await planOfLast())
    const read = nodesOf(nodes.find((node) => node['Subplan Name'] === 'CTE page')!)
    expect(Math.max(...read.map((node) => node['Actual Rows']))).toBe(page.limit)
  })
})

interface PlanNode {
  'Node Type': string
  'Relation Name'?: string
  'Subplan Name'?: string
  'Actual Rows': number
  Plans?: PlanNode[]
}

const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)]

/** The plan of the latest statement with its cached generic plan. */
async function planOfLast(): Promise<PlanNode> {
  const { text, values } = render(statements.at(-1)!)
  const given = values.map((value) => `'${String(value)}'`).join(', ')
  const cost = await settingOf('random_page_cost')
  const [row] = await admin.begin(async (tx) => {
    await tx.unsafe(`set local random_page_cost = '${cost}'; set local plan_cache_mode = force_generic_plan`)
    await tx.unsafe(`prepare latest as ${text}`)
    const explained = await tx.unsafe(`explain (analyze, format json) execute latest (${given})`)
    await tx.unsafe('deallocate latest')
    return explained
  })
  return (row!['QUERY PLAN'] as { Plan: PlanNode }[])[0]!.Plan
}

async function settingOf(name: string): Promise<string> {
  const [row] = await db.read.query<{ value: string }>(sql`select current_setting(${name}) as value`)
  return row!.value
}
