/**
 * The baseline of ingest: a script that writes the rows the server writes (minutes, positions, moves) with one unnest
 * statement per 1,000 reads. It neither receives nor decodes messages. The next statement is sent while the previous one runs.
 */
import pg from 'pg'
import { expose } from './expose.mjs'
import { createReadSource } from './reads.mjs'

const batchSize = 1_000

const text = `
  with seen as (
    select distinct on (t.asset_id, date_trunc('minute', u.observed_at, 'UTC')) t.asset_id,
      date_trunc('minute', u.observed_at, 'UTC') as minute, u.location_id, u.observed_at
    from unnest($2::text[], $3::bigint[], $4::timestamptz[]) with ordinality u (tag, location_id, observed_at, n)
    join tags t on t.org_id = $1 and t.tag_type = 'rfid' and t.normalized_value = u.tag
    order by t.asset_id, 2, u.observed_at, u.n
  ),
  minutes as (
    insert into asset_minutes (org_id, asset_id, minute, location_id, observed_at, source)
    select $1, asset_id, minute, location_id, observed_at, 'reader' from seen
    on conflict (org_id, asset_id, minute) do nothing returning asset_id, minute, location_id, observed_at
  ),
  latest as (
    select distinct on (asset_id) *, count(*) over (partition by asset_id) as added from minutes
    order by asset_id, minute desc
  ),
  steps as (
    select m.*, lag(m.location_id, 1, p.location_id) over (partition by m.asset_id order by m.minute) as origin_id
    from minutes m left join asset_positions p on p.org_id = $1 and p.asset_id = m.asset_id
    where p.last_minute is null or m.minute >= p.last_minute
  ),
  moved as (
    insert into moves (org_id, delivery_id, asset_id, asset_external_key, asset_name, from_location_id,
      from_location_name, to_location_id, to_location_name, occurred_at, recorded_at)
    select $1, gen_random_uuid(), a.id, a.external_key, a.name, f.id, f.name, l.id, l.name, s.observed_at, now()
    from steps s join assets a on a.org_id = $1 and a.id = s.asset_id
    join locations l on l.org_id = $1 and l.id = s.location_id
    left join locations f on f.org_id = $1 and f.id = s.origin_id
    where s.location_id is distinct from s.origin_id
  )
  insert into asset_positions as p (org_id, asset_id, location_id, last_seen_at, last_minute, minutes)
  select $1, asset_id, location_id, observed_at, minute, added from latest
  on conflict (org_id, asset_id) do update set location_id = excluded.location_id,
    last_seen_at = excluded.last_seen_at, last_minute = excluded.last_minute, previous_location_id = p.location_id,
    previous_minute = p.last_minute, minutes = p.minutes + excluded.minutes
  where excluded.last_minute > p.last_minute`

let client
let site
const sources = new Map()

async function start({ url, ...options }) {
  site = options
  client = new pg.Client({ connectionString: url, pipeline: true, options: '-c random_page_cost=1.1' })
  await client.connect()
}

function writeBatch(shape) {
  if (!sources.has(shape)) sources.set(shape, createReadSource({ ...site, shape }))
  const reads = sources.get(shape)(batchSize)
  const tags = reads.map(({ tag }) => tag.toLowerCase())
  const locationIds = reads.map(({ antenna }) => site.locationIds[antenna - 1])
  const values = [site.orgId, tags, locationIds, reads.map(({ observedAt }) => observedAt)]
  return client.query({ name: 'ingest', text, values })
}

async function run({ shape, warmUpMs, measureMs }) {
  const startsAt = performance.now() + warmUpMs
  const endsAt = startsAt + measureMs
  let reads = 0
  let current = writeBatch(shape)
  while (performance.now() < endsAt) {
    const next = writeBatch(shape)
    await current
    const now = performance.now()
    if (now >= startsAt && now <= endsAt) reads += batchSize
    current = next
  }
  await current
  return { perSecond: (reads * 1000) / measureMs }
}

expose({ start, run })
