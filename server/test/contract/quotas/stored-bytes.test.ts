import { pino } from 'pino'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { quotasOf } from '../../../src/cli/org.ts'
import { estimateStorage } from '../../../src/jobs/storage.ts'
import { createReader } from '../../../src/readers/commands.ts'
import { type TestOrg, useApp } from '../../support/app.ts'
import { expectApiError } from '../../support/error-response.ts'
import { ImportRun } from '../../support/imports.ts'
import { create } from '../../support/master-data.ts'
import type { Reply } from '../../support/client.ts'
import { Site, closeDatabase, database } from '../../support/tracking.ts'

const context = useApp({ singleServerReason: 'Every process applies a new quota within ten seconds.' })
afterAll(() => closeDatabase(context.app))

let org: TestOrg
beforeEach(async () => {
  org = await context.app.newOrg(`Org ${Math.random()}`)
})

const log = pino({ level: 'silent' })
const estimate = () => estimateStorage(context.app.context, context.app.databaseUrl, log)
const stored = async (orgId: number): Promise<number> =>
  (await context.app.context.quotas.list(orgId)).find(({ name }) => name === 'stored_bytes')!.used!
const setStored = (bytes: number) => database(context.app)`
  update organizations set stored_bytes = ${bytes} where org_id = ${org.orgId}`

const expectReached = (reply: Reply): void => {
  expectApiError(reply, 'conflict')
  expect(reply.json.error.detail).toBe(
    'Quota stored_bytes reached: the organization may have at most 5000 bytes of stored data',
  )
}

describe('The quota stored_bytes', () => {
  /** What the estimate has grown by since the last one. */
  const grownBy = async (work: () => Promise<unknown>, orgId = org.orgId): Promise<number> => {
    const before = await stored(orgId)
    await work()
    expect(await stored(orgId)).toBe(before)
    await estimate()
    return (await stored(orgId)) - before
  }

  it('counts records with their metadata and descriptions, in the estimate of the hourly job', async () => {
    const api = org.full
    await estimate()
    expect(await stored(org.orgId)).toBe(0)
    // The first request exchanges the credential for a token.
    expect(await grownBy(() => create(api, 'locations', { name: 'l' }))).toBe(894 + 224)
    const asset = await create(api, 'assets', { name: 'a' })
    await estimate()

    const bytes = await grownBy(() => create(api, 'assets', { name: 'b', metadata: { text: randomText(50_000) } }))
    expect(bytes).toBeGreaterThan(30_000)
    expect(bytes).toBeLessThan(60_000)

    const description = 'é'.repeat(500)
    expect(await grownBy(() => create(api, 'locations', { name: 'm', description }))).toBe(894 + 5 * 1000)

    // The row of a deleted asset stays.
    expect(await grownBy(() => api.delete(`/api/v1/assets/${asset.id}`))).toBe(0)
  })

  it('counts tags beyond one of each record', async () => {
    const api = org.full
    await create(api, 'locations', { name: 'l' })
    await estimate()
    const tags = Array.from({ length: 11 }, (_, index) => ({ tag_type: 'rfid', value: `T${index}` }))
    const plain = await grownBy(() => create(api, 'assets', { name: 'a' }))
    expect(await grownBy(() => create(api, 'assets', { name: 'b', tags }))).toBe(plain + 8 * 243)
  })

  it('counts positions, minutes of history, moves and departures', async () => {
    const site = await Site.open(context.app, 'Dock')
    await site.createAsset('Pallet')
    await estimate()
    const { orgId } = site.org
    const sql = database(context.app)
    const [asset] = await sql`select id from assets where org_id = ${orgId} limit 1`
    const insert = async (): Promise<void> => {
      await sql`insert into asset_positions (org_id, asset_id, last_seen_at, minutes) values (${orgId}, ${asset!['id']}, now(), 10)`
      await sql`insert into location_move_counts (org_id, location_id, hour, arrivals, departures)
        values (${orgId}, 1, now(), 3, 0), (${orgId}, 2, now(), 0, 3)`
      await sql`insert into departures_without_move values (${orgId}, 1, now(), 1), (${orgId}, 1, now(), 2)`
    }
    expect(await grownBy(insert, orgId)).toBe(189 + 127 + 10 * 152 + 3 * 433 + 2 * 120)
  })

  it('counts the rows and the errors of imports', async () => {
    const token = (await org.signIn('manager')).accessToken
    await estimate()
    const run = await new ImportRun(context.app, token).open('assets')
    // An import without errors has three bytes for the empty list.
    const rows = [{ external_key: 'A', name: 'a' }]
    const staged = (): Promise<unknown> => run.rows(rows)
    expect(await grownBy(staged)).toBe(417 + 3 + JSON.stringify(rows[0]).length)
    await run.check()
    await run.run()
    await estimate()
    const done = await stored(org.orgId)

    const failing = await new ImportRun(context.app, token).open('assets')
    await failing.rows(Array.from({ length: 500 }, () => ({ [randomText(200)]: 1 })))
    await failing.check()
    await failing.run(true)
    await estimate()
    expect((await failing.get()).errors_total).toBe(500)
    expect((await stored(org.orgId)) - done).toBeGreaterThan(500 * 200)
  })

  it('counts notes with their text, webhook attempts and refresh tokens', async () => {
    const sql = database(context.app)
    const { orgId } = org
    const note = () => sql`insert into sighting_notes values (${orgId}, 1, now(), 1, 1, 1, now(), ${'é'.repeat(50)})`
    expect(await grownBy(note)).toBe(152 + 100)
    const attempts = () => sql`
      insert into webhook_attempts (org_id, attempted_at, delivery_id, attempt, webhook_id, event, error, duration_ms)
      select ${orgId}, now(), gen_random_uuid(), 1, 1, 'asset.moved', 'timeout', 1 from generate_series(1, 3)`
    expect(await grownBy(attempts)).toBe(3 * 218)
    expect(await grownBy(() => org.signIn('viewer'))).toBe(224)
  })

  it('admits creates up to it; at the bound, creates of records, readers and tags are 409', async () => {
    await context.app.context.quotas.set(org.orgId, { stored_bytes: 5000 })
    await setStored(4999)
    const api = org.full
    const asset = await create(api, 'assets', { name: 'a' })
    await setStored(5000)
    await context.app.context.quotas.set(org.orgId, { stored_bytes: 5000 })
    expectReached(await api.post('/api/v1/assets', { name: 'b' }))
    expectReached(await api.post('/api/v1/locations', { name: 'b' }))
    expectReached(await api.post('/natural/api/v1/assets', { identifier: 'N', name: 'b' }))
    expectReached(await api.post(`/api/v1/assets/${asset.id}/tags`, { tag_type: 'rfid', value: 'E2' }))
    const reader = { name: 'Gate', format: 'auto', clock: 'reader', scanPoints: [] }
    await expect(createReader(context.app.context, org.orgId, reader)).rejects.toThrow('Quota stored_bytes reached')
    const patched = await api.patch(`/api/v1/assets/${asset.id}`, { name: 'c' })
    expect(patched.status).toBe(200)
    expect((await api.delete(`/api/v1/assets/${asset.id}`)).status).toBe(204)
  })

  it('at the bound rejects new imports, and an import that was opened before changes nothing', async () => {
    const token = (await org.signIn('manager')).accessToken
    const run = await new ImportRun(context.app, token).open('assets')
    await run.rows([{ external_key: 'A', name: 'a' }])
    await run.check()
    await context.app.context.quotas.set(org.orgId, { stored_bytes: 5000 })
    await setStored(5000)
    expect(await run.run(true)).toMatchObject({
      state: 'failed',
      errors: [{ message: expect.stringContaining('Quota stored_bytes reached') as string }],
    })
    expect((await org.full.get('/api/v1/assets')).json.total_count).toBe(0)
    const open = await context.app.anonymous('POST', '/api/v1/imports', { token, json: { kind: 'assets' } })
    expectReached(open)
  })

  it('up to 120 % accepts reads of readers: positions stay current', async () => {
    const site = await Site.open(context.app, 'Dock')
    const pallet = await site.createAsset('Pallet')
    await context.app.context.quotas.set(site.org.orgId, { stored_bytes: 0 })
    const reply = await site.post([{ tag: pallet.tag, antenna: 1 }])
    expect(reply.json).toEqual({ data: { accepted: 1, ignored: 0 } })
    expect((await site.assetLocations())['PALLET']![0]).toBe('DOCK')
  })

  it('above 120 % rejects reads of readers and records nothing of them; operators can still save', async () => {
    const site = await Site.open(context.app, 'Dock', 'Hall')
    const pallet = await site.createAsset('Pallet')
    const { orgId } = site.org
    const setUse = async (bytes: number): Promise<void> => {
      await database(context.app)`update organizations set stored_bytes = ${bytes} where org_id = ${orgId}`
      await context.app.context.quotas.set(orgId, { stored_bytes: 5000 })
    }
    const read = () => site.post([{ tag: pallet.tag, antenna: 1 }])
    const save = { location_identifier: 'HALL', asset_identifiers: ['PALLET'] }
    const location = async () => (await site.assetLocations())['PALLET']?.[0]

    await setUse(6001)
    expectReached(await read())
    expect(await location()).toBeUndefined()
    expect((await site.api.post('/api/v1/inventory/save', save)).status).toBe(201)
    expect(await location()).toBe('HALL')

    await setUse(6000)
    expect((await read()).status).toBe(202)
  })

  it('is set and shown like every quota, in bytes', async () => {
    const listed = await quotasOf(context.app.context, { org: org.name, set: { stored_bytes: 2_000_000_000_000 } })
    expect(listed.rows.find(({ quota }) => quota === 'stored_bytes')).toEqual({
      ...{ org_id: org.orgId, quota: 'stored_bytes', used: 0, limit: 2_000_000_000_000, source: 'organization' },
    })
  })
})

const randomText = (length: number): string => {
  let text = ''
  while (text.length < length) text += Math.random().toString(36).slice(2)
  return text.slice(0, length)
}
