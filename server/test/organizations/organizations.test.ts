import postgres from 'postgres'
import { expect, it } from 'vitest'
import { webhookDeps } from '../../src/app/webhooks.ts'
import {
  allOrganizations,
  findOrganizationsByName,
  hasOrganizations,
} from '../../src/organizations/organizations.sql.ts'
import { lapseOrganization, reinstateOrganization } from '../../src/webhooks/commands.ts'
import { useApp } from '../support/app.ts'

const context = useApp()

it('organizations can be counted, listed and found by a shared name', async () => {
  const { db } = context.app.context
  expect(await hasOrganizations(db.read)).toBe(false)
  const [first, second, other] = [
    await context.app.newOrg('Twin'),
    await context.app.newOrg('Twin'),
    await context.app.newOrg('Other'),
  ]
  const ascending = (ids: number[]): number[] => ids.sort((a, b) => a - b)
  expect(await hasOrganizations(db.read)).toBe(true)
  expect(await allOrganizations(db.read)).toEqual(ascending([first.orgId, second.orgId, other.orgId]))
  const twins = await findOrganizationsByName(db.read, 'Twin')
  expect(twins.map((one) => one.orgId)).toEqual(ascending([first.orgId, second.orgId]))
  expect(await findOrganizationsByName(db.read, 'twin')).toEqual([])
})

it('lapsing and reinstating one organization does not affect the others', async () => {
  const org = await context.app.newOrg()
  const other = await context.app.newOrg()
  const sql = postgres(context.app.databaseUrl, { max: 1 })
  const lapsed = async (orgId: number): Promise<boolean> =>
    (await sql`select lapsed_at from organizations where org_id = ${orgId}`)[0]?.['lapsed_at'] !== null
  await lapseOrganization(webhookDeps(context.app.context), org.orgId)
  expect([await lapsed(org.orgId), await lapsed(other.orgId)]).toEqual([true, false])
  expect((await org.full.get('/api/v1/assets')).status).toBe(200)
  await reinstateOrganization(webhookDeps(context.app.context), org.orgId)
  expect(await lapsed(org.orgId)).toBe(false)
  await sql.end({ timeout: 5 })
})
