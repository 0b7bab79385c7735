/** What a row of each kind takes on disk, its indexes included: `node bench/sizes.mjs`. docs/capacity.md reckons with it. */
import { readConfig } from '../server/dist/config/config.js'
import { mintCredentials } from '../server/dist/credentials/commands.js'
import { openCore } from '../server/dist/app/core.js'
import { openPool } from '../server/dist/db/connect.js'
import { createOrganization } from '../server/dist/organizations/commands.js'
import { makeDataset, startPostgres, versionOf } from './database.mjs'

const rows = 100_000
const organizations = 1000

/** As ingest writes them: minute after minute, every asset of a shift in each, and a move now and then. */
async function fillHistory(pool, orgId) {
  await pool`
    insert into asset_minutes (org_id, asset_id, minute, location_id, observed_at, source)
    select ${orgId}, a.id, t, a.place, t + interval '7 seconds', 'reader'
    from generate_series(0, ${rows / 500 - 1}::int) n
    cross join lateral (select date_trunc('minute', now()) - (${rows / 500}::int - n) * interval '1 minute' as t) s
    cross join (select asset_id as id, location_id as place from asset_positions where org_id = ${orgId} limit 500) a
    order by t on conflict do nothing`
  await pool`
    insert into moves (org_id, delivery_id, asset_id, asset_external_key, asset_name, from_location_id,
      from_location_name, to_location_id, to_location_name, occurred_at, recorded_at)
    select ${orgId}, gen_random_uuid(), a.id, a.external_key, a.name, l.id, l.name, l.id, l.name, t, t
    from (select *, row_number() over () as n from assets where org_id = ${orgId} limit ${rows}) a
    cross join (select id, name from locations where org_id = ${orgId} limit 1) l
    cross join lateral (select now() - (${rows}::int - a.n) * interval '1 second' as t) s order by t`
  await pool`vacuum analyze`
}

const sizeOf = async (pool, tables) => {
  const [{ bytes }] = await pool`
    select sum(pg_total_relation_size(c.oid))::bigint as bytes from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'
      and exists (select from unnest(${tables}::text[]) t where c.relname = t or c.relname like t || '\\_20%')`
  return Number(bytes)
}

const countOf = async (pool, table) => Number((await pool.unsafe(`select count(*) as n from ${table}`))[0].n)

const server = await startPostgres()
try {
  const { url, orgId } = await makeDataset(server.url, rows, 1)
  const pool = openPool(url, 1, { session_replication_role: 'replica' })
  await fillHistory(pool, orgId)
  const kinds = [
    ['asset with one tag', ['assets', 'tags'], 'assets'],
    ['position', ['asset_positions'], 'asset_positions'],
    ['minute of history', ['asset_minutes'], 'asset_minutes'],
    ['move', ['moves'], 'moves'],
  ]
  const lines = []
  for (const [name, tables, counted] of kinds) {
    const count = await countOf(pool, counted)
    lines.push([name, count, Math.round((await sizeOf(pool, tables)) / count)])
  }
  const whole = async () => Number((await pool`select pg_database_size(current_database()) as bytes`)[0].bytes)
  const before = await whole()
  const core = await openCore({ config: readConfig({ DATABASE_URL: url }), url })
  for (let index = 0; index < organizations; index++) {
    const made = await createOrganization(core, `Organization ${index}`)
    const draft = { name: 'key', scopes: ['assets:read'], expiresAt: null, createdBy: null }
    await mintCredentials(core, made.orgId, draft, 1)
  }
  await core.close()
  lines.push([
    'organization with one credential',
    organizations,
    Math.round(((await whole()) - before) / organizations),
  ])
  process.stdout.write('| kind | rows measured | bytes each |\n|---|--:|--:|\n')
  for (const [name, count, bytes] of lines)
    process.stdout.write(`| ${name} | ${count.toLocaleString('en')} | ${bytes.toLocaleString('en')} |\n`)
  process.stdout.write(`\nPostgreSQL ${await versionOf(url)}\n`)
  await pool.end({ timeout: 5 })
} finally {
  await server.stop()
}
