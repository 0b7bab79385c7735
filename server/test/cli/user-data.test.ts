import { mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { deleteUserAccount, exportAccount } from '../../src/cli/user-data.ts'
import { removeUserFrom } from '../../src/cli/user.ts'
import { type TestUser, createSignedInUser, login, password, requestAs, sessionStatus } from '../support/accounts.ts'
import { useApp } from '../support/app.ts'
import { useSql } from '../support/auth.ts'
import { Site } from '../support/tracking.ts'

const context = useApp()
const database = useSql(context)

interface Line {
  table: string
  row: Record<string, unknown>
}

function parse(text: string) {
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  return { head: lines[0], rows: lines.slice(1, -1) as Line[], end: lines.at(-1) }
}

const newFile = (): string => join(mkdtempSync(join(tmpdir(), 'user-export-')), 'user.ndjson.gz')
const readArchive = (path: string) => parse(gunzipSync(readFileSync(path)).toString())

/** A user with at least one row in every table that refers to a user, and a second user with the same rows. */
async function userWithEverything(): Promise<{ user: TestUser; orgId: number; site: Site; other: TestUser }> {
  const { app } = context
  const site = await Site.open(app, 'Dock')
  const { orgId } = site.org
  await site.createAsset('Case')
  const users = [await createSignedInUser(site.org, 'admin'), await createSignedInUser(site.org, 'admin')] as const
  const inviter = await createSignedInUser(await app.newOrg('Elsewhere'), 'admin')
  for (const user of users) {
    await requestAs(app, user, 'POST', '/views', { json: { name: 'Mine', search: 'q=case' } })
    const sighting = { location_identifier: 'DOCK', asset_identifiers: ['CASE'], note: `by ${user.email}` }
    expect((await requestAs(app, user, 'POST', '/sightings', { json: sighting })).status).toBe(201)
    const key = { name: `Key of ${user.email}`, scopes: ['assets:read'] }
    expect((await requestAs(app, user, 'POST', `/orgs/${orgId}/api-keys`, { json: key })).status).toBe(201)
    await app.anonymous('POST', '/api/v1/auth/password-reset', { json: { email: user.email } })
    const invitation = { email: user.email, role: 'viewer' }
    expect((await requestAs(app, inviter, 'POST', '/invitations', { json: invitation })).status).toBe(201)
    await vi.waitFor(
      async () =>
        expect(await database.sql`select from password_resets where user_id = ${user.userId}`).toHaveLength(1),
      10_000,
    )
  }
  return { user: users[0], other: users[1], orgId, site }
}

/** Tables that refer to a user, from the catalog and not from the code under test. */
async function tablesAboutUsers(): Promise<string[]> {
  const rows = await database.sql`
    select distinct table_name from information_schema.columns
    where table_schema = 'public' and column_name in ('user_id', 'created_by', 'email') order by table_name`
  return rows.map((row) => row['table_name'] as string)
}

describe('The data of a user', () => {
  let everything: Awaited<ReturnType<typeof userWithEverything>>
  beforeAll(async () => {
    everything = await userWithEverything()
  }, 120_000)

  it('is exported by lastseen user export: every row of every table that refers to the user, and no hash or secret', async () => {
    const { user, orgId, other } = everything
    const out = newFile()
    const facts = await exportAccount(context.app.context, { email: user.email.toUpperCase(), out })
    const { head, rows, end } = readArchive(out)
    expect(head).toMatchObject({ lastseen_user: 1, user_id: user.userId, email: user.email })
    const counts = Object.fromEntries((await tablesAboutUsers()).map((table) => [table, 1]))
    expect(end).toEqual({ end: true, rows: counts })
    expect(facts).toMatchObject({ user_id: user.userId, email: user.email, tables: counts })
    expect(statSync(out).mode & 0o777).toBe(0o600)

    const rowOf = (table: string) => rows.find((line) => line.table === table)?.row
    expect(rowOf('users')).toMatchObject({ user_id: user.userId, email: user.email })
    expect(rowOf('memberships')).toMatchObject({ org_id: orgId, role: 'admin' })
    expect(rowOf('saved_views')).toMatchObject({ org_id: orgId, name: 'Mine', search: 'q=case' })
    expect(rowOf('sighting_notes')).toMatchObject({ org_id: orgId, note: `by ${user.email}` })
    expect(rowOf('credentials')).toMatchObject({ org_id: orgId, name: `Key of ${user.email}` })
    const text = JSON.stringify(rows)
    expect(text).not.toMatch(/hash|secret|argon2/)
    expect(text).not.toContain(other.email)
  })

  it('is never exported over an existing file', async () => {
    const out = newFile()
    writeFileSync(out, 'mine')
    const options = { email: everything.user.email, out }
    await expect(exportAccount(context.app.context, options)).rejects.toThrow('already exists')
    expect(readFileSync(out, 'utf8')).toBe('mine')
  })

  it('can be downloaded by the user, for the organizations that the user belongs to', async () => {
    const { user, orgId } = everything
    const reply = await requestAs(context.app, user, 'GET', '/auth/export')
    expect([reply.status, reply.headers['content-type']]).toEqual([200, 'application/x-ndjson'])
    expect(reply.headers['content-disposition']).toBe('attachment; filename="account.ndjson"')
    const { head, rows, end } = parse(reply.text)
    expect(head.email).toBe(user.email)
    expect(end.rows).toMatchObject({ users: 1, memberships: 1, saved_views: 1, sighting_notes: 1, credentials: 1 })
    // The invitation belongs to an organization that the user is not a member of.
    expect(end.rows.invitations).toBe(0)
    for (const { row } of rows) if ('org_id' in row) expect(row['org_id']).toBe(orgId)
  })

  it('is exported completely when it has more rows than one batch', async () => {
    const { user, orgId } = everything
    await database.sql`
      insert into sighting_notes (org_id, asset_id, minute, save_id, location_id, user_id, noted_at, note)
      select ${orgId}, 7, now() - n * interval '1 minute', n % 3, 1, ${user.userId}, now(), 'many ' || n
      from generate_series(1, 1300) n`
    const { rows, end } = parse((await requestAs(context.app, user, 'GET', '/auth/export')).text)
    const notes = new Set(rows.filter(({ table }) => table === 'sighting_notes').map(({ row }) => row['note']))
    expect([end.rows.sighting_notes, notes.size]).toEqual([1301, 1301])
    await database.sql`delete from sighting_notes where org_id = ${orgId} and note like 'many %'`
  })

  it('is deleted by lastseen user delete in every organization, and that of others is kept', async () => {
    const { user, other, orgId } = everything
    // The user leaves the organization first, so that rows remain where there is no membership.
    await removeUserFrom(context.app.context, { org: String(orgId), email: user.email })
    const confirmed = { email: user.email, confirm: user.email }
    expect(await deleteUserAccount(context.app.context, confirmed)).toEqual({
      ...{ user_id: user.userId, email: user.email, deleted: true, memberships: 0, rows_left: 0 },
      kept: { keys: 1, notes: 1 },
    })
    for (const table of ['users', 'memberships', 'password_resets', 'saved_views', 'refresh_token_families'])
      expect(await database.sql.unsafe(`select from ${table} where user_id = ${user.userId}`), table).toHaveLength(0)
    expect(await database.sql`select from invitations where email = ${user.email}`).toHaveLength(0)
    expect(await sessionStatus(context.app, user)).toBe(401)
    expect((await login(context.app, user.email, password)).status).toBe(401)

    expect(await sessionStatus(context.app, other)).toBe(200)
    const { end } = parse((await requestAs(context.app, other, 'GET', '/auth/export')).text)
    expect(end.rows).toMatchObject({ users: 1, memberships: 1, saved_views: 1, sighting_notes: 1, credentials: 1 })
  })
})
