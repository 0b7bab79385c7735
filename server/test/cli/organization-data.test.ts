import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it, vi } from 'vitest'
import { deleteOrg, exportOrg } from '../../src/cli/organization-data.ts'
import { webhookDeps } from '../../src/app/webhooks.ts'
import { createUserIn } from '../../src/cli/user.ts'
import { deleteUserAccount } from '../../src/cli/user-data.ts'
import { tables } from '../../src/db/schema/tables.ts'
import { findUserByEmail } from '../../src/users/users.sql.ts'
import { createWebhook } from '../../src/webhooks/commands.ts'
import { requestAs, createSignedInUser, sessionStatus } from '../support/accounts.ts'
import { useApp } from '../support/app.ts'
import { ImportRun } from '../support/imports.ts'
import { useSnapshotDatabase } from '../support/tenant-snapshot.ts'
import { Site } from '../support/tracking.ts'

// Without the delivery role, so that a waiting event is not delivered.
const context = useApp({
  settings: { LASTSEEN_ROLES: 'api,ingest' },
  singleServerReason: 'an event must stay undelivered',
})
const database = useSnapshotDatabase(context)

/** Every table with an org_id, from the catalog and not from the code under test. */
const organizationTables = async (): Promise<string[]> => {
  const rows = await database.sql`
    select table_name from information_schema.columns join pg_class c on c.relname = table_name
    where table_schema = 'public' and column_name = 'org_id' and not c.relispartition order by table_name`
  return rows.map((row) => row['table_name'] as string)
}

async function rowsOf(orgId: number): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const table of await organizationTables()) {
    const [row] = await database.sql.unsafe(`select count(*)::int as rows from ${table} where org_id = ${orgId}`)
    counts[table] = (row as unknown as { rows: number }).rows
  }
  return counts
}

/** An organization with at least one row in every table. */
async function fullOrganization() {
  const { app } = context
  const site = await Site.open(app, 'Dock', 'Hall')
  const { orgId } = site.org
  const admin = await createSignedInUser(site.org, 'admin')
  const url = 'https://hooks.example.com/'
  await createWebhook(webhookDeps(app.context), orgId, { url, isEnabled: true })
  const thing = await site.createAsset('Case', { metadata: { note: 'ü "quoted"' } })
  await site.api.post('/api/v1/assets', { name: 'with a generated key' })
  await site.sendReads({ tag: thing.tag, antenna: 1 } as never)
  // The counters of a reader are written a moment after its reads.
  await vi.waitFor(async () => {
    const [reader] = await database.sql`select messages::int from readers where org_id = ${orgId}`
    expect(reader).toMatchObject({ messages: 1 })
  }, 10_000)
  await requestAs(app, admin, 'POST', '/sightings', {
    json: { location_identifier: 'DOCK', asset_identifiers: ['CASE'], note: 'broken' },
  })
  await requestAs(app, admin, 'POST', '/invitations', { json: { email: 'new@example.com', role: 'viewer' } })
  await (await new ImportRun(app, admin.token).open('assets')).rows([{ external_key: 'R', name: 'r' }])
  await requestAs(app, admin, 'POST', '/views', { json: { name: 'Mine', search: '' } })
  const id = '00000000-0000-4000-8000-000000000001'
  await database.sql`insert into recent_sightings values (${orgId}, ${thing.id}, '[]')`
  await database.sql`insert into departures_without_move values (${orgId}, 0, now(), ${thing.id})`
  await database.sql`
    insert into unknown_tags (org_id, tag_type, normalized_value, value, reads, first_seen_at, last_seen_at)
    values (${orgId}, 'rfid', 'u', 'u', 1, now(), now())`
  await database.sql`
    insert into unknown_antennas (org_id, reader_id, antenna, reads, last_seen_at)
    values (${orgId}, ${site.readerId}, 9, 1, now())`
  await database.sql`
    insert into webhook_attempts (org_id, attempted_at, delivery_id, attempt, webhook_id, event, duration_ms)
    values (${orgId}, now(), ${id}, 1, 1, 'asset.moved', 1)`
  const counts = await rowsOf(orgId)
  expect(Object.entries(counts).filter(([, rows]) => rows === 0)).toEqual([])
  return { orgId, org: String(orgId), site, admin, thing, counts }
}

const newFile = (): string => join(mkdtempSync(join(tmpdir(), 'export-')), 'organization.ndjson.gz')

describe('The tables of an organization', () => {
  it('are all listed in db/schema/tables.ts', async () => {
    const listed = tables.map(({ name }) => name)
    expect((await organizationTables()).filter((name) => !listed.includes(name))).toEqual([])
  })
})

describe('lastseen org export', () => {
  it('writes every row of every table of one organization, and no hash or secret', async () => {
    const { org, orgId, counts, thing } = await fullOrganization()
    await fullOrganization()
    const out = newFile()
    const facts = await exportOrg(context.app.context, { org, out })
    const text = gunzipSync(readFileSync(out)).toString()
    const lines = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines[0]).toMatchObject({ lastseen_organization: 1, org_id: orgId, name: 'Test organization' })
    expect(lines.at(-1)).toEqual({ end: true, rows: { ...counts, users: 1 } })
    expect(facts).toMatchObject({ org_id: orgId, rows: lines.length - 2, tables: { ...counts, users: 1 } })
    const rows = lines.slice(1, -1)
    for (const { table, row } of rows) if (table !== 'users') expect(row.org_id).toBe(orgId)
    const asset = rows.find(({ table, row }) => table === 'assets' && row.id === thing.id)
    expect(asset.row).toMatchObject({ external_key: 'CASE', metadata: { note: 'ü "quoted"' } })
    expect(text).not.toMatch(/hash|sealed|secret_/)
  })

  it('never overwrites a file', async () => {
    const { org } = await fullOrganization()
    const out = newFile()
    writeFileSync(out, 'mine')
    await expect(exportOrg(context.app.context, { org, out })).rejects.toThrow('already exists')
    expect(readFileSync(out, 'utf8')).toBe('mine')
  })
})

describe('lastseen org delete', () => {
  it('deletes every row of the organization in every table, prints the counts, and does not affect other organizations', async () => {
    const { app } = context
    const { org, orgId, counts, site, admin } = await fullOrganization()
    const other = await fullOrganization()
    const before = await database.snapshot(other.orgId)
    const facts = await deleteOrg(app.context, { org, confirm: 'Test organization' })
    expect(Object.values(await rowsOf(orgId)).every((rows) => rows === 0)).toBe(true)
    expect(facts).toMatchObject({ org_id: orgId, deleted: true, rows_left: 0, tables: { ...counts, users: 1 } })
    expect(await database.snapshot(other.orgId)).toBe(before)
    expect(await rowsOf(other.orgId)).toEqual(other.counts)

    expect(await sessionStatus(app, admin)).toBe(401)
    expect((await site.api.get('/api/v1/assets')).status).toBe(401)
    expect((await site.post({ reads: [] })).status).toBe(401)
    expect(await sessionStatus(app, other.admin)).toBe(200)
    await expect(deleteOrg(app.context, { org, confirm: 'Test organization' })).rejects.toThrow(
      'There is no organization',
    )
  })

  it('keeps the account of a member who belongs to another organization', async () => {
    const { app } = context
    const [gone, stays] = [await app.newOrg('Gone'), await app.newOrg('Stays')]
    const both = await createSignedInUser(gone, 'admin')
    await database.sql`insert into memberships values (${both.userId}, ${stays.orgId}, 'admin', now())`
    await deleteOrg(app.context, { org: 'Gone', confirm: 'Gone' })
    expect((await findUserByEmail(app.context.db.read, both.email))?.userId).toBe(both.userId)
  })

  it('deletes nothing without the exact name', async () => {
    const { org, orgId, counts } = await fullOrganization()
    await expect(deleteOrg(context.app.context, { org, confirm: org })).rejects.toThrow(
      '--confirm must repeat the name',
    )
    expect(await rowsOf(orgId)).toEqual(counts)
  })
})

describe('lastseen user delete', () => {
  it('deletes an account with its memberships and sessions, but never the last admin of an organization', async () => {
    const { app } = context
    const org = await app.newOrg('Staff')
    const [admin, viewer] = [await createSignedInUser(org, 'admin'), await createSignedInUser(org, 'viewer')]
    await createUserIn(app.context, { org: 'Staff', email: 'x@example.com', role: 'viewer' })
    const confirmed = (email: string) => deleteUserAccount(app.context, { email, confirm: email })
    expect(await confirmed(viewer.email)).toEqual({
      ...{ user_id: viewer.userId, email: viewer.email, deleted: true, memberships: 1, rows_left: 0 },
      kept: { keys: 0, notes: 0 },
    })
    expect(await sessionStatus(app, viewer)).toBe(401)
    expect(await findUserByEmail(app.context.db.read, viewer.email)).toBeNull()
    await expect(confirmed(admin.email)).rejects.toThrow('An organization needs at least one admin')
    await expect(deleteUserAccount(app.context, { email: admin.email, confirm: 'x' })).rejects.toThrow('--confirm')
    expect(await sessionStatus(app, admin)).toBe(200)
  })
})
