import { afterAll, beforeAll, expect, it } from 'vitest'
import postgres from 'postgres'
import { memoryParameters } from '../../src/db/client.ts'
import { type Sql, render } from '../../src/db/sql.ts'
import { instantFromMillis } from '../../src/kernel/instant.ts'
import { listLocationsWithPath } from '../../src/locations/paths.sql.ts'
import { type TestDatabase, cloneDatabase } from '../support/database.ts'

const orgId = 1
const chains = 100
const levels = 64

let database: TestDatabase
let client: postgres.Sql

beforeAll(async () => {
  database = await cloneDatabase()
  client = postgres(database.url, { max: 1, connection: memoryParameters })
  await client`insert into organizations (org_id, created_at) values (${orgId}, now())`
  await client`
    insert into locations (org_id, id, external_key, name, parent_id, is_active, valid_from, created_at, updated_at, search_text)
    select ${orgId}, n, 'LOC-' || n, 'Location', case when (n - 1) % ${levels} > 0 then n - 1 end, true, now(), now(), now(),
      'location'
    from generate_series(1, ${chains * levels}::int) n`
  await client`analyze locations`
})
afterAll(async () => {
  await client.end()
  await database.drop()
})

interface Plan {
  'Node Type': string
  'Actual Rows': number
  'Temp Written Blocks': number
  Plans?: Plan[]
}

const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)]

it('A list by path that a filter narrows visits each location of a deep tree once and writes no temporary files', async () => {
  let statement: Sql | undefined
  const db = {
    async query(sent: Sql) {
      statement = sent
      return []
    },
  }
  const now = instantFromMillis(Date.now() + 60_000)
  const sort = [{ field: 'path', descending: true }] as const
  await listLocationsWithPath(db, orgId, { limit: 50, offset: 0, filter: { q: 'location' }, sort, now }, {})
  const { text, values } = render(statement!)
  const rows = await client.unsafe(text, values as never[])
  expect(rows[0]).toMatchObject({ total: String(chains * levels) })
  const [explained] = await client.unsafe(`explain (analyze, buffers, format json) ${text}`, values as never[])
  const { Plan: plan } = (explained!['QUERY PLAN'] as [{ Plan: Plan }])[0]
  expect(plan['Temp Written Blocks']).toBe(0)
  const recursions = nodesOf(plan).filter((node) => node['Node Type'] === 'Recursive Union')
  // The ids of the locations above the matches, and their paths; the third shows the parents of the page.
  for (const node of recursions) expect(node['Actual Rows']).toBeLessThanOrEqual(chains * levels)
})
