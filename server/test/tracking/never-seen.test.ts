import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAsset } from '../../src/assets/commands.ts'
import { type Sql, render, sql } from '../../src/db/sql.ts'
import { createOrganization } from '../../src/organizations/commands.ts'
import { incrementScanned } from '../../src/records/counts.sql.ts'
import { listNeverSeenAssets } from '../../src/tracking/report/unseen-assets.sql.ts'
import { useApp } from '../support/app.ts'
import { closeDatabase, database } from '../support/tracking.ts'

const context = useApp()
afterAll(() => closeDatabase(context.app))

let orgId: number

const createNamed = (externalKey: string) => {
  const draft = { ...{ externalKey, name: 'a', description: null }, isActive: true, validTo: null, tags: [] }
  return createAsset(context.app.context, orgId, { ...draft, type: 'asset', metadata: {} })
}

/** Records a sighting of the asset, as a statement of the recording does. */
async function see(id: number): Promise<void> {
  await context.app.context.db.withTenant(orgId, async (tx) => {
    await tx.query(sql`
      insert into asset_positions (org_id, asset_id, last_seen_at) values (${orgId}, ${id}, now())`)
    await incrementScanned(tx, orgId, { live: 1, deleted: 0 })
  })
}

const listed = async (limit: number, offset: number) => {
  const { rows, total } = await listNeverSeenAssets(context.app.context.db.read, orgId, { limit, offset })
  return [total, rows.map((row) => row.externalKey)]
}

/** The plan of a page, with what was executed. */
async function executedPlan(): Promise<string> {
  let sent: Sql | undefined
  const capturing = {
    query: async <Row extends object>(statement: Sql): Promise<Row[]> => {
      sent = statement
      return []
    },
  }
  await listNeverSeenAssets(capturing, orgId, { limit: 50, offset: 0 })
  const { text, values } = render(sent!)
  const rows = await database(context.app).unsafe(`explain (analyze, costs off) ${text}`, values as never[])
  return rows.map((row) => row['QUERY PLAN'] as string).join('\n')
}

beforeAll(async () => {
  orgId = (await createOrganization(context.app.context, 'Never seen')).orgId
})

describe('The list of assets that were never seen', () => {
  it('pages through them in the order of their keys, with the exact total', async () => {
    const made = []
    for (const key of ['E', 'D', 'C', 'B', 'A']) made.push(await createNamed(key))
    await see(made[2]!.id)
    expect(await listed(50, 0)).toEqual([4, ['A', 'B', 'D', 'E']])
    expect(await listed(2, 1)).toEqual([4, ['B', 'D']])
    expect(await listed(2, 3)).toEqual([4, ['E']])
    expect(await listed(2, 4)).toEqual([4, []])
    expect(await executedPlan()).not.toMatch(/ on assets a .*never executed/)
    for (const asset of made) if (asset !== made[2]) await see(asset.id)
  })

  it('reads no asset when every asset has been seen', async () => {
    expect(await listed(50, 0)).toEqual([0, []])
    expect(await executedPlan()).toMatch(/ on assets a .*never executed/)
  })
})
