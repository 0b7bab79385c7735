/** Fills a database: organizations with locations, assets, tags, positions, history, credentials and a reader. */
import { runCommand, withClient } from './environment.mjs'

const nouns = ['Pallet jack', 'Roll cage', 'Forklift', 'Tool chest', 'Wheelchair', 'Ladder', 'Generator', 'Cable drum']
const antennaCount = 8
const sampleSize = 10_000
const historyDays = 360
/** Assets move between locations this often in their history. */
const staysPerAsset = 10
const fanOut = 10

/** A larger organization has more locations, about one for 20 assets. */
const locationCountOf = (assets) => Math.max(50, Math.round(assets / 20))
/** During this stay, counted from the latest, every asset is at the gate: the location with the highest number. */
const gateStay = 3
const scopes = 'assets:read,assets:write,locations:read,tracking:read'
/** Rows are consistent by construction, so foreign keys are not checked. Sessions that seed do not wait for the disk. */
const options =
  '-c session_replication_role=replica -c synchronous_commit=off -c timezone=UTC -c maintenance_work_mem=256MB'

/** These live assets were never seen, or not since some days. */
const isNeverSeen = 'n % 1000 = 27'
const isUnseen = 'n % 100 = 17'
/** A deleted asset has no tag. */
const isDeleted = (n) => n % 100 === 7
export const tagOf = (n) => `E2801170${n.toString(16).toUpperCase().padStart(16, '0')}`
export const keyOf = (n) => `EQ-${String(n).padStart(7, '0')}`
/** A substring of one or two asset names: the last word of the noun and the number without its last digit. */
export const searchTermOf = (n) => `${nouns[n % nouns.length].split(' ').at(-1)} ${String(1_000_000 + n).slice(0, -1)}`

/** The tags of the assets that are not deleted, among the first `assets` assets. */
export const tagsOf = (assets) =>
  Array.from({ length: assets }, (_, index) => index + 1).flatMap((n) => (isDeleted(n) ? [] : [tagOf(n)]))

/**
 * Asset number n: 10 % are inactive, 1 % deleted, 1 % expire later, 0.05 % have expired, 0.05 % are not valid yet. The
 * numbers in names have equal length, so a search term is as rare in a small organization as in a large one.
 */
export const assetRows = (count) => `
  select n, 'EQ-' || lpad(n::text, 7, '0') as external_key,
    ('{${nouns.join(',')}}'::text[])[1 + n % ${nouns.length}] || ' ' || (1000000 + n) as name,
    case when n % 2 = 0 then 'Inspected every spring' end as description,
    json_build_object('owner', 'dock ' || (1 + n % 3), 'weight_kg', n % 900) as metadata,
    n % 10 <> 3 as is_active,
    case when n % 2000 = 12 then now() + interval '90 days' else created_at end as valid_from,
    case when n % 2000 = 11 then now() - interval '1 day'
      when n % 100 = 13 then now() + interval '180 days' end as valid_to,
    created_at, created_at + interval '7 days' as updated_at,
    case when n % 100 = 7 then created_at + interval '8 days' end as deleted_at,
    'E2801170' || upper(lpad(to_hex(n), 16, '0')) as tag
  from generate_series(1, ${count}::bigint) n
  cross join lateral (select date_trunc('second', now()) - (30 + n * 7919 % 700) * interval '1 day' as created_at) c`

/** Pseudo-random ids below 2^52, like those of the server. */
const idOf = (seed, number = 'n') => `hashint8extended(${number}, ${seed}) & 4503599627370495`

const countRows = (orgId, kind, table) => `
  insert into record_counts (org_id, kind, shard, active, inactive, deleted_active, deleted_inactive)
  select ${orgId}, '${kind}', 0, count(*) filter (where deleted_at is null and is_active),
    count(*) filter (where deleted_at is null and not is_active),
    count(*) filter (where deleted_at is not null and is_active),
    count(*) filter (where deleted_at is not null and not is_active) from ${table} where org_id = ${orgId}`

/** LOC-1 to LOC-10 are at the top level; each location has up to ten children. */
const seedLocations = (orgId, count) => [
  `insert into locations (org_id, id, external_key, name, parent_id, is_active, valid_from, created_at, updated_at,
    search_text)
  select ${orgId}, ${idOf(orgId)}, 'LOC-' || n, 'Location ' || n,
    case when n > ${fanOut} then ${idOf(orgId, `(n - 1) / ${fanOut}`)} end, true, now(), now(), now(),
    'location ' || n || chr(1) || 'loc-' || n || chr(1)
  from generate_series(1, ${count}) n`,
  countRows(orgId, 'location', 'locations'),
]

const seedAssets = (orgId, count) => [
  `create temporary table seeded as select *, ${idOf(orgId)} as id from (${assetRows(count)}) a`,
  `insert into assets (org_id, id, external_key, name, description, metadata, is_active, valid_from, valid_to,
    created_at, updated_at, deleted_at, search_text)
  select ${orgId}, id, external_key, name, description, metadata, is_active, valid_from, valid_to, created_at,
    updated_at, deleted_at, lower(concat_ws(chr(1), name, external_key, coalesce(description, ''), tag)) from seeded`,
  `insert into tags (org_id, id, asset_id, tag_type, value, normalized_value, created_at)
  select ${orgId}, ${idOf(-orgId)}, id, 'rfid', tag, lower(tag), created_at from seeded where deleted_at is null`,
  countRows(orgId, 'asset', 'assets'),
]

/**
 * Rows would be inserted at random positions of these indexes, and words into the index for searches; building them afterwards
 * is faster.
 */
async function withoutIndexes(client, tables, work, condition = 'true') {
  const { rows: indexes } = await client.query(
    `select i.indexrelid::regclass::text as name, pg_get_indexdef(i.indexrelid) as definition, c.conname,
      i.indrelid::regclass::text as table_name, pg_get_constraintdef(c.oid) as constraint_definition
    from pg_index i left join pg_constraint c on c.conindid = i.indexrelid
    where i.indrelid = any ($1::regclass[]) and ${condition}`,
    [tables],
  )
  for (const { name, conname, table_name: table } of indexes)
    await client.query(conname === null ? `drop index ${name}` : `alter table ${table} drop constraint ${conname}`)
  await work()
  // The definition of an index of a partitioned table excludes its partitions.
  for (const { definition, conname, table_name: table, constraint_definition: constraint } of indexes)
    await client.query(
      conname === null
        ? definition.replace(' ON ONLY ', ' ON ')
        : `alter table ${table} add constraint ${conname} ${constraint}`,
    )
}

/**
 * Inserts `minutes` minutes per asset, about evenly over 360 days until three hours ago and ordered by time, as reads arrive.
 * Each asset stays at up to ten locations, one after the other. Assets are seen and move at different times. Minute and stay
 * number 0 are the latest.
 */
function seedHistory(orgId, minutes, locationCount) {
  const stays = Math.min(staysPerAsset, minutes)
  const numberOf = (stay) => `case when (${stay}) = ${gateStay} then ${locationCount}
    else 1 + (s.n + 37 * (${stay})) % ${locationCount - 1} end`
  const locationOf = (stay) => idOf(orgId, `(${numberOf(stay)})`)
  const intervalMinutes = Math.floor((historyDays * 1440) / minutes)
  const minuteOf = (k) => `s.last_minute - case when ${k} > 0
    then (${k} - 1) * interval '${intervalMinutes} minutes' + (1 + s.n * 7919 % ${intervalMinutes}) * interval '1 minute'
    else interval '0' end`
  // The first and the last stay of an asset may be shorter than the others.
  const minutesPerStay = Math.ceil(minutes / stays)
  const stayOf = (k) => `least((${k} + s.n / 8 % ${minutesPerStay}) / ${minutesPerStay}, ${stays - 1})`
  const firstMinuteOf = (stay) => `case when ${stay} = ${stays - 1} then ${minutes - 1}
    else least((${stay} + 1) * ${minutesPerStay} - 1 - s.n / 8 % ${minutesPerStay}, ${minutes - 1}) end`
  return {
    prepare: [
      `alter table seeded add column last_minute timestamptz`,
      `update seeded set last_minute = date_trunc('minute', now()) - interval '3 hours' - (n % 300) * interval '1 minute'
        - case when ${isUnseen} then interval '3 days' else interval '0' end
      where deleted_at is null and not (${isNeverSeen})`,
      'analyze seeded',
    ],
    insert: [
      `insert into asset_minutes (org_id, asset_id, minute, location_id, observed_at, source)
      select ${orgId}, s.id, m.minute, ${locationOf(stayOf('k'))}, m.minute + interval '7 seconds', 'reader'
      from generate_series(${minutes} - 1, 0, -1) k cross join seeded s
      cross join lateral (select ${minuteOf('k')} as minute) m
      where s.last_minute is not null`,
      `insert into moves (org_id, delivery_id, asset_id, asset_external_key, asset_name, from_location_id,
        from_location_name, to_location_id, to_location_name, occurred_at, recorded_at)
      select ${orgId}, gen_random_uuid(), s.id, s.external_key, s.name, f.id, f.name, t.id, t.name, m.at, m.at
      from generate_series(${stays} - 1, 0, -1) stay cross join seeded s
      cross join lateral (
        select ${minuteOf('f.k')} + interval '7 seconds' as at from (select ${firstMinuteOf('stay')} as k) f
      ) m
      join locations t on t.org_id = ${orgId} and t.id = ${locationOf('stay')}
      left join locations f on stay < ${stays - 1} and f.org_id = ${orgId} and f.id = ${locationOf('stay + 1')}
      where s.last_minute is not null`,
    ],
    derive: [
      `insert into asset_positions (org_id, asset_id, location_id, last_seen_at, last_minute, minutes)
      select ${orgId}, s.id, ${locationOf('0')}, last_minute + interval '7 seconds', last_minute, ${minutes}
      from seeded s where last_minute is not null`,
      `insert into record_counts (org_id, kind, shard, active, inactive, deleted_active, deleted_inactive)
      select ${orgId}, 'position', 0, count(*), 0, 0, 0 from asset_positions where org_id = ${orgId}`,
      `insert into first_sightings (org_id, asset_id, seen_at)
      select ${orgId}, s.id, ${minuteOf(`${minutes - 1}`)} + interval '7 seconds'
      from seeded s where last_minute is not null`,
      `insert into first_sighting_counts (org_id, day, live, deleted)
      select ${orgId}, date_trunc('day', seen_at), count(*), 0 from first_sightings where org_id = ${orgId} group by 2`,
      `insert into location_move_counts (org_id, location_id, hour, arrivals, departures)
      select ${orgId}, e.location_id, date_trunc('hour', m.occurred_at), count(*) filter (where e.is_arrival),
        count(*) filter (where not e.is_arrival)
      from moves m
      cross join lateral (values (m.to_location_id, true), (m.from_location_id, false)) e (location_id, is_arrival)
      where m.org_id = ${orgId} and e.location_id is not null group by 2, 3`,
    ],
  }
}

export const createCredentials = (url, organization, count) =>
  runCommand(url, 'key', 'create', '--org', organization, '--name', 'bench', '--scopes', scopes, '--count', `${count}`)

/**
 * Creates an organization with assets, credentials and a reader with eight antennas. Without `minutesPerAsset` no asset
 * has been seen yet. The sample holds what a client knows: ids and numbers of assets that lists show.
 */
export async function createOrganization({ url, name = 'Benchmark', assets, credentials, minutesPerAsset = 0 }) {
  const { org_id: orgId } = runCommand(url, 'org', 'create', '--name', name)
  const locationCount = locationCountOf(assets)
  const seeded = await withClient(
    url,
    async (client) => {
      const run = async (statements) => {
        for (const statement of statements) await client.query(statement)
      }
      await run(seedLocations(orgId, locationCount))
      const isSearchIndex = `i.indexrelid = 'assets_by_text'::regclass`
      await withoutIndexes(client, ['assets'], () => run(seedAssets(orgId, assets)), isSearchIndex)
      if (minutesPerAsset > 0) {
        const { prepare, insert, derive } = seedHistory(orgId, minutesPerAsset, locationCount)
        await run(prepare)
        await withoutIndexes(client, ['asset_minutes', 'moves'], () => run(insert))
        await run(derive)
      }
      const sampled = await client.query(`select id, n from seeded where deleted_at is null and valid_from <= now()
        and (valid_to is null or valid_to > now()) order by hashint8(n) limit ${sampleSize}`)
      const locations = await client.query(`select id from locations where org_id = ${orgId}
        order by length(external_key), external_key`)
      await run(['drop table seeded', 'vacuum analyze', 'checkpoint'])
      const [ids, numbers] = ['id', 'n'].map((column) => sampled.rows.map((row) => row[column]))
      return { sample: { ids, numbers, locationIds: locations.rows.map(({ id }) => id) } }
    },
    { options },
  )
  const antennas = Array.from({ length: antennaCount }, (_, index) => ['--antenna', `${index + 1}=LOC-${index + 1}`])
  const reader = runCommand(url, 'reader', 'create', '--org', name, '--name', 'Gate', ...antennas.flat())
  return { orgId, ...seeded, assets, antennaCount, reader, credentials: createCredentials(url, name, credentials) }
}
