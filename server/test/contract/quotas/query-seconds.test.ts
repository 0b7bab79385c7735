import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { quotasOf } from '../../../src/cli/org.ts'
import { sql } from '../../../src/db/sql.ts'
import { requestAs, createSignedInUser } from '../../support/accounts.ts'
import { type TestOrg, useApp } from '../../support/app.ts'
import type { Reply } from '../../support/client.ts'
import { lockWaits } from '../../support/database.ts'
import { expectApiError } from '../../support/error-response.ts'
import { create } from '../../support/master-data.ts'
import { closeDatabase, database, eventually } from '../../support/tracking.ts'

const context = useApp({
  settings: { LASTSEEN_QUOTA_QUERY_SECONDS: '1' },
  singleServerReason: 'Each process measures the query time itself.',
})
afterAll(() => closeDatabase(context.app))

let org: TestOrg
beforeEach(async () => {
  org = await context.app.newOrg(`Org ${Math.random()}`)
})

const use = (orgId: number, ms: number) => context.app.context.quotas.queryTime.measure(orgId, () => sleep(ms))
const expectReached = (reply: Reply): void => {
  expectApiError(reply, 'rate_limited')
  const seconds = Number(reply.headers['retry-after'])
  expect(seconds).toBeGreaterThan(50)
  expect(seconds).toBeLessThanOrEqual(60)
  expect(reply.json.error.detail).toBe(
    `Quota query_seconds reached: searches, reports and long lists of the organization may use 1 seconds of database time a minute; retry after ${seconds} seconds`,
  )
}

describe('The quota query_seconds', () => {
  it('rejects searches and reports when their database time of the minute is used up, and nothing else', async () => {
    const api = org.full
    const asset = await create(api, 'assets', { name: 'a' })
    await use(org.orgId, 500)
    expect((await api.get('/api/v1/assets?q=abc')).status).toBe(200)
    await use(org.orgId, 550)
    for (const path of [
      '/api/v1/assets?q=abc',
      '/api/v1/reports/asset-locations',
      `/api/v1/assets/${asset.id}/history`,
      '/natural/api/v1/locations/current',
    ])
      expectReached(await api.get(path))
    expect((await api.get(`/api/v1/assets/${asset.id}`)).status).toBe(200)
    expect((await api.get('/api/v1/assets')).status).toBe(200)
    expect((await api.patch(`/api/v1/assets/${asset.id}`, { name: 'b' })).status).toBe(200)
    const other = await context.app.newOrg()
    expect((await other.full.get('/api/v1/assets?q=abc')).status).toBe(200)
  })

  it('counts every list that may read or sort all records, and no ordinary page', async () => {
    const api = org.full
    const dock = await create(api, 'locations', { name: 'Dock', external_key: 'DOCK' })
    const viewer = await createSignedInUser(org, 'viewer')
    const admin = await createSignedInUser(org, 'admin')
    const webhook = await requestAs(context.app, admin, 'POST', '/webhooks', {
      json: { url: 'https://hooks.example/moves' },
    })
    await use(org.orgId, 1050)
    expectReached(await requestAs(context.app, admin, 'GET', `/webhooks/${webhook.json.data.id}/attempts`))
    for (const path of [
      '/api/v1/assets?offset=10001',
      '/api/v1/assets?sort=name,created_at',
      '/api/v1/assets?is_active=true',
      '/api/v1/assets?is_active=false',
      '/api/v1/assets?include_deleted=true&sort=name',
      '/api/v1/assets?include_deleted=true&sort=external_key,name',
      '/api/v1/locations?q=abc',
      '/api/v1/locations?offset=10001',
      '/api/v1/locations?sort=-updated_at,name',
      '/api/v1/locations?is_active=false',
      `/api/v1/locations?parent_id=${dock.id}`,
      '/api/v1/locations?parent_external_key=DOCK',
      `/api/v1/locations/${dock.id}/children`,
      `/api/v1/locations/${dock.id}/descendants`,
      '/natural/api/v1/assets?q=abc',
      '/natural/api/v1/assets?offset=10001',
      '/natural/api/v1/assets?location=DOCK',
      '/natural/api/v1/assets?type=person',
      '/natural/api/v1/assets?is_active=false',
      '/natural/api/v1/assets?sort=name,created_at',
      '/natural/api/v1/locations?q=abc',
      '/natural/api/v1/locations?offset=10001',
      '/natural/api/v1/locations?sort=-path',
      '/natural/api/v1/locations?sort=path,name',
      '/natural/api/v1/locations?sort=identifier,path',
      '/natural/api/v1/locations?parent=DOCK',
      '/natural/api/v1/locations?is_active=false',
      '/natural/api/v1/locations/DOCK/children',
    ])
      expectReached(await api.get(path))
    for (const path of [
      '/search?q=abc',
      '/unseen-assets',
      '/never-seen-assets',
      `/assets-at-location?location_id=${dock.id}`,
      '/assets-by-last-seen?q=abc',
      '/assets-by-last-seen?is_active=false',
      '/assets-by-last-seen?is_active=true',
      '/assets-by-last-seen?offset=10001',
      `/assets-by-last-seen?location_id=${dock.id}`,
    ])
      expectReached(await requestAs(context.app, viewer, 'GET', path))
    for (const path of [
      '/api/v1/assets?offset=10000&sort=name',
      '/api/v1/assets?sort=-external_key,name',
      '/api/v1/assets?sort=name,created_at&is_active=true&external_key=a&external_key=b',
      '/api/v1/assets?sort=-updated_at',
      '/api/v1/assets?include_deleted=true',
      '/api/v1/locations?offset=10000',
      '/api/v1/locations?sort=created_at',
      `/api/v1/locations/${dock.id}/ancestors`,
      '/natural/api/v1/assets?offset=10000',
      '/natural/api/v1/assets?sort=name',
      '/natural/api/v1/locations?sort=name',
      '/natural/api/v1/locations?offset=10000',
    ])
      expect((await api.get(path)).status, path).toBe(200)
    expect((await requestAs(context.app, viewer, 'GET', '/assets-by-last-seen?offset=10000')).status).toBe(200)
  })

  it('measures the statements themselves', async () => {
    const api = org.full
    await api.token()
    const lock = await database(context.app).reserve()
    await lock`begin`
    await lock`lock table assets`
    const search = api.get('/api/v1/assets?q=abc')
    await eventually(async () => expect(await lockWaits(context.app.databaseUrl)).toBe(1))
    await sleep(1100)
    await lock`rollback`
    lock.release()
    expect((await search).status).toBe(200)
    expectReached(await org.full.get('/api/v1/assets?q=abc'))
  })

  it('lets a request that has begun finish', async () => {
    const one = sql`select org_id from organizations where org_id = ${org.orgId}`
    const begun = context.app.context.db.replica(org.orgId)
    await begun.query(one)
    await use(org.orgId, 1050)
    expect(await begun.query(one)).toEqual([{ org_id: org.orgId }])
    await expect(context.app.context.db.replica(org.orgId).query(one)).rejects.toThrow('Quota query_seconds reached')
  })

  it('is set for one organization, and shown by the process that measures it', async () => {
    await use(org.orgId, 1050)
    expectReached(await org.full.get('/api/v1/assets?q=abc'))
    const listed = await quotasOf(context.app.context, { org: org.name, set: { query_seconds: 50 } })
    expect(listed.rows.find(({ quota }) => quota === 'query_seconds')).toEqual({
      ...{ org_id: org.orgId, quota: 'query_seconds', used: null, limit: 50, source: 'organization' },
    })
    expect((await org.full.get('/api/v1/assets?q=abc')).status).toBe(200)
    const viewer = await createSignedInUser(org, 'viewer')
    const { data } = (await requestAs(context.app, viewer, 'GET', '/quotas')).json
    expect(data).toContainEqual({ quota: 'query_seconds', used: 1, limit: 50 })
  })
})
