import { beforeEach, describe, expect, it } from 'vitest'
import { quotasOf } from '../../../src/cli/org.ts'
import { addUserTo, createUserIn } from '../../../src/cli/user.ts'
import { render } from '../../../src/cli/output.ts'
import { mintCredentials } from '../../../src/auth/commands.ts'
import { createReader } from '../../../src/readers/commands.ts'
import { requestAs, newEmail, createSignedInUser, password, tokenFromLink } from '../../support/accounts.ts'
import { type TestOrg, useApp } from '../../support/app.ts'
import { expectApiError } from '../../support/error-response.ts'
import { ImportRun, errorPositions } from '../../support/imports.ts'
import { create } from '../../support/master-data.ts'
import type { Reply } from '../../support/client.ts'

const texts: string[] = []
const context = useApp({
  settings: {
    LASTSEEN_QUOTA_ASSETS: '3',
    LASTSEEN_QUOTA_LOCATIONS: '2',
    LASTSEEN_QUOTA_READERS: '2',
    LASTSEEN_QUOTA_MEMBERS: '3',
    LASTSEEN_QUOTA_API_KEYS: '4',
  },
  onStatement: (text) => texts.push(text),
})

let org: TestOrg
beforeEach(async () => {
  org = await context.app.newOrg(`Org ${Math.random()}`)
})

const expectReached = (reply: Reply, quota: string, limit: number, noun = quota): void => {
  expectApiError(reply, 'conflict')
  expect(reply.json.error.detail).toBe(`Quota ${quota} reached: the organization may have at most ${limit} ${noun}`)
}

describe('A quota', () => {
  it('limits assets; deleting one frees capacity', async () => {
    const api = org.full
    const [first] = [await create(api, 'assets', { name: 'a' }), await create(api, 'assets', { name: 'b' })]
    await create(api, 'assets', { name: 'c', is_active: false })
    expectReached(await api.post('/api/v1/assets', { name: 'd' }), 'assets', 3)
    expect((await api.delete(`/api/v1/assets/${first.id}`)).status).toBe(204)
    await create(api, 'assets', { name: 'd' })
    expectReached(await api.post('/api/v1/assets', { name: 'e' }), 'assets', 3)
  })

  it('limits assets that are created by natural keys', async () => {
    const api = org.full
    for (const name of ['a', 'b', 'c']) await create(api, 'assets', { name })
    expectReached(await api.post('/natural/api/v1/assets', { identifier: 'N', name: 'd' }), 'assets', 3)
  })

  it('limits locations, and errors in the body are reported first [D6]', async () => {
    const api = org.full
    for (const name of ['a', 'b']) await create(api, 'locations', { name })
    expectReached(await api.post('/api/v1/locations', { name: 'c' }), 'locations', 2)
    expectApiError(await api.post('/api/v1/locations', { name: 'c', parent_id: 1 }), 'validation_error')
  })

  it('limits what an import creates: the check reports it, and a run changes nothing', async () => {
    const token = (await org.signIn('manager')).accessToken
    await create(org.full, 'assets', { external_key: 'A', name: 'a' })
    const run = await new ImportRun(context.app, token).open('assets')
    await run.rows(['A', 'B', 'C', 'D'].map((external_key) => ({ external_key, name: 'x' })))
    const checked = await run.check()
    expect(errorPositions(checked)).toEqual([[0, '']])
    expect(checked.errors[0]!.message).toBe('Quota assets reached: the organization may have at most 3 assets')
    expect(await run.run(true)).toMatchObject({ state: 'failed', errors: [{ message: checked.errors[0]!.message }] })
    expect((await org.full.get('/api/v1/assets')).json.total_count).toBe(1)

    const tree = await new ImportRun(context.app, token).open('locations')
    await tree.rows(['A', 'B', 'C'].map((external_key) => ({ external_key, name: 'x' })))
    expect(errorPositions(await tree.check())).toEqual([[0, '']])
    const fits = await new ImportRun(context.app, token).open('assets')
    await fits.rows(['A', 'B', 'C'].map((external_key) => ({ external_key, name: 'x' })))
    await fits.check()
    expect((await fits.run()).state).toBe('done')
  })

  it('limits readers, including those that the operator creates', async () => {
    const manager = await createSignedInUser(org, 'manager')
    const reader = { name: 'Gate', format: 'auto', clock: 'reader', scan_points: [] }
    const post = () => requestAs(context.app, manager, 'POST', '/readers', { json: reader })
    expect((await post()).status).toBe(201)
    await createReader(context.app.context, org.orgId, { ...reader, scanPoints: [] })
    expectReached(await post(), 'readers', 2)
    await expect(createReader(context.app.context, org.orgId, { ...reader, scanPoints: [] })).rejects.toThrow(
      'Quota readers reached',
    )
  })

  it('limits API keys that are not revoked', async () => {
    const admin = await createSignedInUser(org, 'admin')
    const path = `/orgs/${org.orgId}/api-keys`
    const post = () => requestAs(context.app, admin, 'POST', path, { json: { name: 'k', scopes: ['assets:read'] } })
    const made = await post()
    expect(made.status).toBe(201)
    const draft = { name: 'k', scopes: ['assets:read'], expiresAt: null, createdBy: null }
    await expect(mintCredentials(context.app.context, org.orgId, draft, 4)).rejects.toThrow('Quota api_keys reached')
    await mintCredentials(context.app.context, org.orgId, draft, 3)
    expectReached(await post(), 'api_keys', 4, 'API keys')
    expect((await requestAs(context.app, admin, 'DELETE', `${path}/${made.json.data.id}`)).status).toBe(204)
    expect((await post()).status).toBe(201)
  })

  it('limits members: no further user can be invited or join', async () => {
    const { app } = context
    const admin = await createSignedInUser(org, 'admin')
    await createSignedInUser(org, 'viewer')
    const invite = () => requestAs(app, admin, 'POST', '/invitations', { json: { email: newEmail(), role: 'viewer' } })
    const invited = await invite()
    expect(invited.status).toBe(201)
    await createUserIn(app.context, { org: org.name, email: newEmail(), role: 'viewer', password })
    expectReached(await invite(), 'members', 3)
    const token = tokenFromLink(invited.json.data.link)
    expectReached(
      await app.anonymous('POST', '/api/v1/auth/invitations/accept', { json: { token, password } }),
      'members',
      3,
    )
    const other = await createSignedInUser(await app.newOrg(), 'admin')
    await expect(addUserTo(app.context, { org: org.name, email: other.email, role: 'viewer' })).rejects.toThrow(
      'Quota members reached',
    )
  })

  it('is set for one organization by the operator, and shown with what is used', async () => {
    const { context: appContext } = context.app
    const api = org.full
    for (const name of ['a', 'b', 'c']) await create(api, 'assets', { name })
    const listed = await quotasOf(appContext, { org: org.name, set: { assets: 5, readers: 0 } })
    expect(JSON.parse(render(listed, true))[0]).toEqual({
      ...{ org_id: org.orgId, quota: 'assets', used: 3, limit: 5, source: 'organization' },
    })
    expect(render(listed, false).split('\n')[0]).toMatch(/^QUOTA +USED +LIMIT +SOURCE$/)
    await create(api, 'assets', { name: 'd' })
    const viewer = await createSignedInUser(org, 'viewer')
    const { data } = (await requestAs(context.app, viewer, 'GET', '/quotas')).json
    expect(data).toEqual([
      { quota: 'assets', used: 4, limit: 5 },
      { quota: 'locations', used: 0, limit: 2 },
      { quota: 'readers', used: 0, limit: 0 },
      { quota: 'members', used: 1, limit: 3 },
      { quota: 'api_keys', used: 1, limit: 4 },
      { quota: 'imports', used: 0, limit: 20 },
      { quota: 'stored_bytes', used: 0, limit: 100_000_000_000 },
      { quota: 'live_streams', used: 0, limit: 100 },
      { quota: 'query_seconds', used: 0, limit: 600 },
    ])
    await quotasOf(appContext, { org: org.name, set: { assets: null } })
    expectReached(await api.post('/api/v1/assets', { name: 'e' }), 'assets', 3)
  })

  it('is read once for many creates while it is far from exhausted', async () => {
    const { context: appContext } = context.app
    await appContext.quotas.set(org.orgId, { assets: 1000 })
    texts.length = 0
    const api = org.full
    for (let made = 0; made < 20; made++) await create(api, 'assets', { name: 'n' })
    const readings = texts.filter((text) => text.includes('record_counts') && text.includes('sum('))
    expect(readings.length).toBe(1)
  })
})
