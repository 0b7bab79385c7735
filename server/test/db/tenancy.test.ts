import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { type Connection, createDatabase } from '../../src/db/create-database.ts'
import { sql } from '../../src/db/sql.ts'
import { type TestDatabase, cloneDatabase } from '../support/database.ts'

let database: TestDatabase
let admin: postgres.Sql
let db: Connection
let writer: postgres.Sql
let reader: postgres.Sql
const [mine, theirs] = [101, 202]

const tenantTables = [
  'organizations',
  'credentials',
  'refresh_token_families',
  'record_counts',
  'key_counters',
  'assets',
  'locations',
  'asset_positions',
  'tags',
  'readers',
  'scan_points',
  'unknown_tags',
  'asset_minutes',
  'moves',
  'webhooks',
  'webhook_attempts',
]

const as = (role: string): postgres.Sql =>
  postgres(database.url, {
    max: 1,
    onnotice: () => undefined,
    connection: { role, 'citus.propagate_set_commands': 'local' },
  })

/** Citus does not allow a change of a row's organization, whatever the policies allow. */
const refusedMove = { code: inject('isCitus') ? '0A000' : '42501' }

/** One row of each tenant table for one organization. */
async function seed(orgId: number): Promise<void> {
  const uuid = `00000000-0000-0000-0000-${String(orgId).padStart(12, '0')}`
  const at = '2026-01-01T00:00:00Z'
  await admin`insert into organizations (org_id, created_at) values (${orgId}, ${at})`
  await admin`insert into credentials (org_id, id, client_id, name, secret_hash, scopes, environment, created_at)
    values (${orgId}, 1, ${uuid}, 'k', ${Buffer.from('x')}, '{}', 'production', ${at})`
  await admin`insert into refresh_token_families (org_id, family_id, environment, client_id, token_hash, created_at, expires_at)
    values (${orgId}, ${uuid}, 'production', ${uuid}, ${Buffer.from('x')}, ${at}, ${at})`
  await admin`insert into record_counts (org_id, kind, shard, active, inactive, deleted_active, deleted_inactive)
    values (${orgId}, 'asset', 0, 1, 0, 0, 0)`
  await admin`insert into key_counters (org_id, kind, last) values (${orgId}, 'asset', 1)`
  await admin`insert into locations (org_id, id, external_key, name, is_active, valid_from, created_at, updated_at, search_text)
    values (${orgId}, ${orgId + 1}, 'L', 'l', true, ${at}, ${at}, ${at}, 'l')`
  await admin`insert into assets (org_id, id, external_key, name, metadata, is_active, valid_from, created_at, updated_at, search_text)
    values (${orgId}, ${orgId + 2}, 'A', 'a', '{}', true, ${at}, ${at}, ${at}, 'a')`
  await admin`insert into asset_positions (org_id, asset_id, location_id, last_seen_at)
    values (${orgId}, ${orgId + 2}, ${orgId + 1}, ${at})`
  await admin`insert into tags (org_id, id, asset_id, tag_type, value, normalized_value, created_at)
    values (${orgId}, ${orgId + 3}, ${orgId + 2}, 'rfid', 'x', 'x', ${at})`
  await admin`insert into readers (org_id, id, name, format, clock, token_hash, topic_key, created_at, messages, reads, ignored)
    values (${orgId}, ${orgId + 4}, 'r', 'auto', 'reader', ${Buffer.from('x')}, 'k', ${at}, 0, 0, 0)`
  await admin`insert into scan_points (org_id, reader_id, antenna) values (${orgId}, ${orgId + 4}, 1)`
  await admin`insert into unknown_tags (org_id, tag_type, normalized_value, value, reads, first_seen_at, last_seen_at)
    values (${orgId}, 'rfid', 'y', 'y', 1, ${at}, ${at})`
  await admin`insert into unknown_antennas (org_id, reader_id, antenna, reads, last_seen_at)
    values (${orgId}, ${orgId + 4}, 2, 1, ${at})`
  await admin`insert into asset_minutes (org_id, asset_id, minute, observed_at, source)
    values (${orgId}, ${orgId + 2}, ${at}, ${at}, 'reader')`
  await admin`insert into moves (org_id, delivery_id, asset_id, asset_external_key, asset_name, to_location_id,
      to_location_name, occurred_at, recorded_at)
    values (${orgId}, ${uuid}, ${orgId + 2}, 'A', 'a', ${orgId + 1}, 'l', ${at}, ${at})`
  await admin`insert into webhooks (org_id, id, url, encrypted_secret, is_enabled, created_at, updated_at)
    values (${orgId}, ${orgId + 5}, 'https://x.test', ${Buffer.from('x')}, true, ${at}, ${at})`
  await admin`insert into webhook_attempts (org_id, attempted_at, delivery_id, attempt, webhook_id, event, duration_ms)
    values (${orgId}, ${at}, ${uuid}, 1, ${orgId + 5}, 'asset.moved', 1)`
}

beforeAll(async () => {
  database = await cloneDatabase()
  admin = postgres(database.url, { max: 1, onnotice: () => undefined })
  for (const orgId of [mine, theirs]) await seed(orgId)
  db = createDatabase({ url: database.url, poolSize: 2 })
  writer = as('lastseen_writer')
  reader = as('lastseen_reader')
})

afterAll(async () => {
  await Promise.all([db.close(), ...[admin, writer, reader].map((one) => one.end({ timeout: 5 }))])
  await database.drop()
})

/** Runs as the writing role inside a transaction of an organization, and rolls back. */
async function within<T>(orgId: number | null, work: (tx: postgres.TransactionSql) => Promise<T>): Promise<T> {
  let result: T | undefined
  const undone = new Error('taken back')
  await writer
    .begin(async (tx) => {
      if (orgId !== null) await tx.unsafe(`set local app.org_id = '${orgId}'`)
      result = await work(tx)
      throw undone
    })
    .catch((error: unknown) => {
      if (error !== undone) throw error
    })
  return result as T
}

const orgsIn = async (handle: Pick<postgres.Sql, 'unsafe'>, table: string): Promise<number[]> =>
  (await handle.unsafe(`select org_id from ${table} order by org_id`)).map((row) => Number(row['org_id']))

describe('The tables that belong to organizations', () => {
  it('are the ones with a policy, with row level security enabled and forced', async () => {
    const rows = await admin`
      select c.relname as name, c.relrowsecurity and c.relforcerowsecurity as "isForced" from pg_class c
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
        and exists (select from pg_policies p where p.tablename = c.relname)`
    for (const row of rows) expect([row['name'], row['isForced']]).toEqual([row['name'], true])
    expect(rows.map((row) => row['name'] as string)).toEqual(expect.arrayContaining(tenantTables))
  })

  it('are all tables with an org_id but the directory, which resolves what is unique across organizations', async () => {
    const rows = await admin`
      select table_name as name from information_schema.columns where table_schema = 'public' and column_name = 'org_id'
        and not exists (select from pg_policies p where p.tablename = table_name)
        and not (select relispartition from pg_class where oid = table_name::regclass) order by 1`
    const directory = [
      'client_ids',
      'id_blocks',
      'memberships',
      'organization_names',
      'reader_directory',
      'webhook_directory',
    ]
    expect(rows.map((row) => row['name'])).toEqual(directory)
  })
})

describe('The writing role', () => {
  it.each(tenantTables)('sees nothing of %s without an organization', async (table) => {
    expect(await orgsIn(writer, table)).toEqual([])
    expect(await within(null, (tx) => orgsIn(tx, table))).toEqual([])
  })

  it.each(tenantTables)('sees only the rows of its organization in %s', async (table) => {
    expect(await within(mine, (tx) => orgsIn(tx, table))).toEqual([mine])
    expect(await within(theirs, (tx) => orgsIn(tx, table))).toEqual([theirs])
  })

  it.each(tenantTables)('changes and deletes nothing of another organization in %s', async (table) => {
    const touched = await within(mine, async (tx) => {
      const updated = await tx.unsafe(`update ${table} set org_id = org_id where org_id = ${theirs}`)
      await tx.unsafe('set constraints all deferred')
      const deleted = await tx.unsafe(`delete from ${table} where org_id = ${theirs}`)
      return [updated.count, deleted.count]
    })
    expect(touched).toEqual([0, 0])
  })

  it.each(tenantTables)('cannot move a row of %s to another organization', async (table) => {
    const moving = within(mine, (tx) => tx.unsafe(`update ${table} set org_id = ${theirs} where org_id = ${mine}`))
    await expect(moving).rejects.toMatchObject(refusedMove)
  })

  it.each(tenantTables)('cannot insert a row of another organization into %s', async (table) => {
    const copying = within(mine, (tx) =>
      tx.unsafe(`insert into ${table} select (json_populate_record(t, '{"org_id": ${theirs}}')).* from ${table} t
        on conflict do nothing`),
    )
    await expect(copying).rejects.toMatchObject({ code: '42501' })
    const nobody = within(null, (tx) =>
      tx.unsafe('insert into key_counters (org_id, kind, last) values (101, $1, 1)', ['x']),
    )
    await expect(nobody).rejects.toMatchObject({ code: '42501' })
  })

  it.each(['0', '', '999999'])('sees nothing when the organization is "%s"', async (setting) => {
    const seen = await writer.begin(async (tx) => {
      await tx.unsafe(`set local app.org_id = '${setting}'`)
      return orgsIn(tx, 'assets')
    })
    expect(seen).toEqual([])
  })

  it('loses the organization at the end of the transaction', async () => {
    await within(mine, (tx) => orgsIn(tx, 'assets'))
    expect(await orgsIn(writer, 'assets')).toEqual([])
  })

  it.each([
    'truncate assets',
    'alter table assets disable row level security',
    'drop table tags',
    'create table x (a int)',
  ])('may not %s', async (statement) => {
    await expect(writer.unsafe(statement)).rejects.toMatchObject({ code: '42501' })
  })
})

describe('The reading role', () => {
  it.each(tenantTables)('cannot write to %s', async (table) => {
    await expect(reader.unsafe(`delete from ${table}`)).rejects.toMatchObject({ code: '42501' })
    await expect(reader.unsafe(`update ${table} set org_id = 1`)).rejects.toMatchObject(refusedMove)
    await expect(reader.unsafe(`insert into ${table} (org_id) values (1)`)).rejects.toMatchObject({ code: '42501' })
  })

  it('cannot read the keys of the installation', async () => {
    await expect(reader.unsafe('select * from installation')).rejects.toMatchObject({ code: '42501' })
  })

  it('cannot switch to the writing role', async () => {
    for (const statement of ['truncate assets', 'create table x (a int)', 'drop table assets'])
      await expect(reader.unsafe(statement)).rejects.toMatchObject({ code: '42501' })
  })
})

describe('The database handles of the service', () => {
  const count = sql`select org_id from assets order by org_id`

  it('withTenant gives access to that organization only', async () => {
    expect(await db.withTenant(mine, (tx) => tx.query(count))).toEqual([{ org_id: mine }])
    expect(await db.withTenant(theirs, (tx) => tx.query(count))).toEqual([{ org_id: theirs }])
  })

  it('global and globalTransaction give access to no organization', async () => {
    expect(await db.global.query(count)).toEqual([])
    expect(await db.globalTransaction((tx) => tx.query(count))).toEqual([])
  })

  it('a global transaction right after a tenant transaction sees no rows of the tenant', async () => {
    const narrow = createDatabase({ url: database.url, poolSize: 1 })
    for (let times = 0; times < 5; times++) {
      await narrow.withTenant(mine, (tx) => tx.query(count))
      expect(await narrow.globalTransaction((tx) => tx.query(count))).toEqual([])
      await narrow.withTenant(theirs, (tx) => tx.query(sql`select 1 / 0`)).catch(() => undefined)
      expect(await narrow.global.query(count)).toEqual([])
    }
    await narrow.close()
  })

  it('read cannot write', async () => {
    const writing = db.read.query(sql`delete from assets where org_id = ${mine}`)
    await expect(writing).rejects.toMatchObject({ code: '42501' })
  })
})
