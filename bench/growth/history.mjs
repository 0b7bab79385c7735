import { openPool } from '../../server/dist/db/connect.js'

/** An ordinary asset is read on twenty visits of five minutes, spread over 360 days. */
const visits = 20
const minutesPerVisit = 5
const minutesPerAsset = visits * minutesPerVisit
const windowMinutes = (360 * 24 * 60) / visits
/** One is under a reader all the time. */
const watchedMinutes = 100_000
/** History ends a while ago, so that what is read during the measurement is news. */
const endMs = 3 * 3_600_000
const minuteMs = 60_000
const atOnce = 2

const settings = {
  session_replication_role: 'replica',
  synchronous_commit: 'off',
  work_mem: '128MB',
  maintenance_work_mem: '1GB',
}

const divisor = (a, b) => (b === 0 ? a : divisor(b, a % b))

const seenFor = (minutes) => Math.round((minutes - watchedMinutes) / minutesPerAsset)

/** How many assets it takes for so many minutes, since a few are deleted. */
export const assetsFor = (minutes) => Math.ceil(seenFor(minutes) * 1.02)

/** What fills so many minutes: the assets that are seen, and a number to shuffle them with in every window of time. */
function planOf(minutes) {
  const seen = seenFor(minutes)
  let stride = 611_953
  while (divisor(stride, seen) !== 1) stride++
  const end = Math.floor((Date.now() - endMs) / minuteMs) * minuteMs
  const from = end - visits * windowMinutes * minuteMs
  return { seen, stride, end: new Date(end).toISOString(), from: new Date(from).toISOString() }
}

/** Rows are put in without indexes, which are then made as they were: the same table, several times sooner. */
async function withoutIndexes(pool, table, work) {
  const keys = await pool`
    select conname as name, pg_get_constraintdef(oid) as definition from pg_constraint
    where conrelid = ${table}::regclass and contype = 'p'`
  const indexes = await pool`
    select indexname as name, indexdef as definition from pg_indexes i where i.tablename = ${table}
      and not exists (select from pg_constraint c where c.conname = i.indexname)`
  for (const { name } of keys) await pool.unsafe(`alter table ${table} drop constraint ${name}`)
  for (const { name } of indexes) await pool.unsafe(`drop index ${name}`)
  await work()
  for (const { name, definition } of keys)
    await pool.unsafe(`alter table ${table} add constraint ${name} ${definition}`)
  for (const { definition } of indexes) await pool.unsafe(definition)
}

/** The assets by number; the watched one is none of them. */
async function numberAssets(pool, { orgId, watched }) {
  await pool`create unlogged table bench_assets (n bigint, id bigint, external_key text, name text)`
  await pool`
    insert into bench_assets
    select row_number() over (order by id) - 1, id, external_key, name from assets
    where org_id = ${orgId} and deleted_at is null and id <> ${watched}`
  await pool`vacuum analyze bench_assets`
}

/** The seen assets in the order in which they come by in a window of 18 days, each with its first minute there. */
const inWindow = (pool, { seen, stride, from }, visit) => pool`
  select s.*, ${from}::timestamptz + (${visit * windowMinutes}::bigint
      + s.turn * ${windowMinutes - minutesPerVisit}::bigint / ${seen}::bigint) * interval '1 minute' as minute
  from (select *, (n * ${stride}::bigint + ${visit * 7919}::bigint) % ${seen}::bigint as turn
    from bench_assets where n < ${seen}::bigint) s
  order by s.turn`

const placeOf = (pool, { places }, visit) =>
  pool`(${places}::bigint[])[1 + (s.n + ${visit}::bigint) % ${places.length}::bigint]`

/** In the order of time, as reads come in: an asset's minutes lie far apart. */
async function fillMinutes(pool, plan) {
  const { orgId, watched, places, end } = plan
  const insertWindow = (visit) => pool`
    insert into asset_minutes (org_id, asset_id, minute, location_id, observed_at, source)
    select ${orgId}, s.id, s.minute + k * interval '1 minute', ${placeOf(pool, plan, visit)},
      s.minute + k * interval '1 minute' + interval '7 seconds', 'reader'
    from (${inWindow(pool, plan, visit)}) s cross join generate_series(0, ${minutesPerVisit - 1}::int) k`
  let rows = 0
  await withoutIndexes(pool, 'asset_minutes', async () => {
    const left = Array.from({ length: visits }, (_, visit) => visit).values()
    const work = async () => {
      for (const visit of left) {
        const { count } = await insertWindow(visit)
        rows += count
      }
    }
    await Promise.all(Array.from({ length: atOnce }, work))
    const { count } = await pool`
      insert into asset_minutes (org_id, asset_id, minute, location_id, observed_at, source)
      select ${orgId}, ${watched}, m, (${places}::bigint[])[1 + n % ${places.length}::int],
        m + interval '7 seconds', 'reader'
      from (select n, ${end}::timestamptz - n * interval '1 minute' as m
        from generate_series(1, ${watchedMinutes}::int) n) s`
    rows += count
  })
  return rows
}

/** Everything has a place. What is not among the seen was read once, longer ago than history is kept. */
async function fillPositions(pool, plan) {
  const { orgId, seen, places, from, end, watched } = plan
  const last = visits - 1
  await pool`
    insert into asset_positions (org_id, asset_id, location_id, last_seen_at, last_minute, minutes)
    select ${orgId}, p.id, p.place, p.minute + interval '7 seconds', p.minute, p.minutes from (
      select s.id, ${placeOf(pool, plan, last)} as place, ${minutesPerAsset}::int as minutes,
        s.minute + ${minutesPerVisit - 1}::int * interval '1 minute' as minute
      from (${inWindow(pool, plan, last)}) s
      union all
      select s.id, ${placeOf(pool, plan, last)}, 0, ${from}::timestamptz - (60000 + s.n) * interval '1 minute'
      from bench_assets s where s.n >= ${seen}::bigint
      union all
      select ${watched}::bigint, ${places[0]}::bigint, ${watchedMinutes}::int, ${end}::timestamptz - interval '1 minute'
    ) p`
  await pool`
    insert into record_counts (org_id, kind, slot, active, inactive, deleted_active, deleted_inactive)
    select ${orgId}, 'position', 0, count(*), 0, 0, 0 from asset_positions where org_id = ${orgId}`
}

/** A move per hundred minutes: halfway through the year every asset came from one place to another. */
async function fillMoves(pool, plan) {
  const visit = visits / 2
  const [from, to] = [placeOf(pool, plan, visit - 1), placeOf(pool, plan, visit)]
  await pool`
    insert into moves (org_id, delivery_id, asset_id, asset_external_key, asset_name, from_location_id,
      from_location_name, to_location_id, to_location_name, occurred_at, recorded_at)
    select ${plan.orgId}, gen_random_uuid(), s.id, s.external_key, s.name, ${from}, 'Place ' || ${from}, ${to},
      'Place ' || ${to}, s.minute, s.minute
    from (${inWindow(pool, plan, visit)}) s`
}

/** Fills a database whose organization has assets but no whereabouts yet. Says what it took. */
export async function fillHistory({ url, orgId, places, watched, minutes }) {
  const began = performance.now()
  const pool = openPool(url, atOnce, settings)
  const plan = { ...planOf(minutes), orgId, places, watched }
  try {
    await numberAssets(pool, plan)
    const rows = await fillMinutes(pool, plan)
    await fillPositions(pool, plan)
    await fillMoves(pool, plan)
    const seen = await pool`select id from bench_assets where n < ${plan.seen}::bigint order by hashint8(n) limit 20000`
    await pool`drop table bench_assets`
    await pool`vacuum (analyze, parallel 2)`
    await pool`checkpoint`
    const [{ bytes }] = await pool`select pg_database_size(current_database()) as bytes`
    const seconds = (performance.now() - began) / 1000
    return { ids: seen.map(({ id }) => Number(id)), rows, bytes: Number(bytes), seconds, ...plan }
  } finally {
    await pool.end({ timeout: 5 })
  }
}
